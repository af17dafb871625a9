package io.numaoperator.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.Names;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What a kubelet's configuration files say beside the operator's own drop-in (cmd/kubelet/app/
 * server.go, loadConfigFile and mergeKubeletConfigurations).
 *
 * @param main the main file as its owner wrote it, with the thresholds that the kubelet adds to it
 * @param before the drop-ins before the operator's, in their order
 * @param after the drop-ins after the operator's, in their order: they win over it
 * @param overriding which of the latter set a managed field
 */
public record ConfigFiles(
    JsonNode main, List<JsonNode> before, List<JsonNode> after, List<String> overriding) {
  private static final String EXTENSION = ".conf";

  /** pkg/kubelet/eviction/defaults_linux.go. */
  private static final Map<String, String> DEFAULT_EVICTION =
      Map.of(
          EvictionThreshold.MEMORY_AVAILABLE,
          "100Mi",
          "nodefs.available",
          "10%",
          "nodefs.inodesFree",
          "5%",
          "imagefs.available",
          "15%",
          "imagefs.inodesFree",
          "5%");

  public ConfigFiles {
    before = List.copyOf(before);
    after = List.copyOf(after);
    overriding = List.copyOf(overriding);
  }

  /**
   * The kubelet walks the drop-in directory in lexical order, one directory after the other, and
   * takes only names that end in .conf.
   *
   * @param main content of the --config file; empty where there is none (k3s)
   * @param dropIns content by path below the drop-in directory, subdirectories included
   * @throws IOException if one of the files is no configuration; the message says which
   */
  public static ConfigFiles read(Optional<byte[]> main, Map<String, byte[]> dropIns)
      throws IOException {
    var base =
        main.isEmpty()
            ? JsonNodeFactory.instance.objectNode()
            : withDefaultEviction(parse("the main file", main.get()));
    var before = new ArrayList<JsonNode>();
    var after = new ArrayList<JsonNode>();
    var overriding = new ArrayList<String>();
    var sorted = new TreeMap<String, byte[]>(Comparator.comparing(ConfigFiles::walkOrder));
    sorted.putAll(dropIns);
    for (var file : sorted.entrySet()) {
      if (!file.getKey().endsWith(EXTENSION) || file.getKey().equals(Names.DROP_IN_FILE)) {
        continue;
      }
      var content = parse(file.getKey(), file.getValue());
      if (walkOrder(file.getKey()).compareTo(walkOrder(Names.DROP_IN_FILE)) < 0) {
        before.add(content);
      } else {
        after.add(content);
        if (content.properties().stream()
            .anyMatch(field -> ManagedField.named(field.getKey()).isPresent())) {
          overriding.add(file.getKey());
        }
      }
    }
    return new ConfigFiles(base, before, after, overriding);
  }

  /**
   * What all files say together, the operator's included.
   *
   * @throws IOException if one of the files is no configuration; the message says which
   */
  public static JsonNode merged(Optional<byte[]> main, Map<String, byte[]> dropIns)
      throws IOException {
    var others = read(main, dropIns);
    var ours = parse(Names.DROP_IN_FILE, dropIns.getOrDefault(Names.DROP_IN_FILE, new byte[0]));
    return merge(Merge.patch(others.below(), ours), others.after());
  }

  /**
   * One file as it is; an empty one says nothing.
   *
   * @param name for the message
   * @throws IOException when it is no YAML object
   */
  public static ObjectNode parse(String name, byte[] content) throws IOException {
    JsonNode tree;
    try {
      tree = new YAMLMapper().readTree(content);
    } catch (IOException e) {
      throw new IOException(name + " is not YAML: " + e.getMessage(), e);
    }
    if (tree instanceof ObjectNode object) {
      return object;
    }
    if (tree == null || tree.isMissingNode() || tree.isNull()) {
      return JsonNodeFactory.instance.objectNode();
    }
    throw new IOException(name + " is not a " + DropIn.KIND);
  }

  /**
   * What a --config file without evictionHard gets before any drop-in is merged (cmd/kubelet/app/
   * server.go, loadConfigFile); a kubelet without such a file gets nothing.
   */
  private static JsonNode withDefaultEviction(JsonNode main) {
    var defaults = JsonNodeFactory.instance.objectNode();
    DEFAULT_EVICTION.forEach(defaults::put);
    boolean merges = main.path("mergeDefaultEvictionSettings").asBoolean(false);
    if (!main.hasNonNull("evictionHard") || merges) {
      var evictionHard = Merge.patch(defaults, main.path("evictionHard"));
      ObjectNode with = main.deepCopy();
      with.set("evictionHard", evictionHard.isObject() ? evictionHard : defaults);
      return with;
    }
    return main;
  }

  /** A directory is entered where its name is, so a slash sorts before every other character. */
  private static String walkOrder(String path) {
    return path.replace('/', '\0');
  }

  private static JsonNode merge(JsonNode target, List<JsonNode> patches) {
    var merged = target;
    for (var patch : patches) {
      merged = Merge.patch(merged, patch);
    }
    return merged;
  }

  /** The main file, then the drop-ins before the operator's, merged. */
  JsonNode below() {
    return merge(main, before);
  }

  /** The managed fields of the files before the operator's; an explicit empty value is kept. */
  public KubeletFragment settingsBelow() {
    return KubeletSettings.of(below());
  }

  /** The managed fields of the files after the operator's. */
  public KubeletFragment settingsAbove() {
    return KubeletSettings.of(merge(JsonNodeFactory.instance.objectNode(), after));
  }

  /** The managed fields of all of these files, as they are written there: without defaults. */
  public KubeletFragment written() {
    return KubeletSettings.of(merge(below(), after));
  }

  /**
   * The managed fields as a kubelet's /configz would show them if it ran with these files alone.
   *
   * @param mergesDropIns it has a drop-in directory, be that empty: then its main file goes through
   *     JSON before the merge, and an explicit empty value of it is lost
   */
  public KubeletFragment shown(boolean mergesDropIns) {
    var base = mergesDropIns ? Merge.withoutEmpties(main.deepCopy()) : main;
    var dropIns = Stream.concat(before.stream(), after.stream()).toList();
    var settings = KubeletSettings.of(merge(base, dropIns));
    setDefaults(settings);
    OwnSettings.countReservedCpus(settings);
    return settings;
  }

  private static void setDefaults(KubeletFragment settings) {
    settings.cpuManagerPolicy =
        KubeletSettings.orDefault(ManagedField.CPU_MANAGER_POLICY, settings.cpuManagerPolicy);
    settings.memoryManagerPolicy =
        KubeletSettings.orDefault(ManagedField.MEMORY_MANAGER_POLICY, settings.memoryManagerPolicy);
    settings.topologyManagerPolicy =
        KubeletSettings.orDefault(
            ManagedField.TOPOLOGY_MANAGER_POLICY, settings.topologyManagerPolicy);
    settings.topologyManagerScope =
        KubeletSettings.orDefault(
            ManagedField.TOPOLOGY_MANAGER_SCOPE, settings.topologyManagerScope);
    if (settings.enforceNodeAllocatable == null) {
      settings.enforceNodeAllocatable = List.of("pods");
    } else if (settings.enforceNodeAllocatable.isEmpty()) {
      settings.enforceNodeAllocatable = null; // as /configz shows it
    }
    settings.kubeReserved = orNull(settings.kubeReserved);
    settings.systemReserved = orNull(settings.systemReserved);
    settings.evictionHard = orNull(settings.evictionHard);
  }

  private static Map<String, String> orNull(Map<String, String> map) {
    return map == null || map.isEmpty() ? null : new TreeMap<>(map);
  }
}
