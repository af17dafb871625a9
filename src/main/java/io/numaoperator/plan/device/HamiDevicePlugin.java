package io.numaoperator.plan.device;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.SharedSettings;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * HAMi: a ConfigMap of the operator's own beside HAMi's, with what HAMi's says plus an entry for
 * each of our nodes. HAMi's own ConfigMap belongs to its Helm release and is only read; the
 * release's owner points HAMi to ours once.
 */
final class HamiDevicePlugin implements DevicePluginProvider {
  static final String CONFIG_KEY = "config.json";

  /** HAMi's own ConfigMap, for a Helm release whose name contains "hami". */
  static final String HAMI_CONFIG_MAP = "hami-device-plugin";

  /** Its scheduler's and plugins' global settings; only read. */
  private static final String DEVICE_CONFIG_MAP = "hami-scheduler-device";

  private static final String PROVIDER =
      DevicePluginProviders.name(DevicePluginPolicy.Provider.HAMi);
  private static final int CONFIG_MAP_LIMIT = 1 << 20;

  @Override
  public SortedSet<ConfigMapRef> reads(Input input) {
    var refs = new TreeSet<ConfigMapRef>();
    for (var pool : input.pools()) {
      var target = target(pool.policy());
      refs.add(target);
      refs.add(new ConfigMapRef(target.namespace(), HAMI_CONFIG_MAP));
      refs.add(new ConfigMapRef(target.namespace(), DEVICE_CONFIG_MAP));
    }
    return refs;
  }

  @Override
  public DevicePlan plan(Input input) {
    var objects = new ArrayList<HasMetadata>();
    var remarks = new ArrayList<Provision.Remark>();
    var wishes = new HashMap<String, Wish>();
    for (var target : entries(input).entrySet()) {
      switch (merged(target.getKey(), target.getValue(), input)) {
        case Made(HamiConfig.Merged merged) -> {
          objects.add(configMap(target.getKey(), merged.json()));
          remarks.addAll(remarks(target.getKey(), target.getValue(), merged, input));
          wishes.putAll(wishes(target.getKey(), target.getValue(), merged, input));
        }
        case NotMade(Provision.Refused refused) -> {
          return DevicePlan.of(refused);
        }
      }
    }
    input.pools().stream()
        .flatMap(pool -> pool.nodes().stream())
        .filter(node -> usesMig(node, input))
        .forEach(node -> wishes.put(node, new Wish.Nothing()));
    remarks.addAll(scope(input));
    mig(input).ifPresent(remarks::add);
    return new DevicePlan(
        new Provision.Objects(PROVIDER, objects, remarks), wishes, unused(input), Optional.empty());
  }

  private static Set<ConfigMapRef> unused(Input input) {
    var unused = new TreeSet<>(input.owned().keySet());
    input.pools().forEach(pool -> unused.remove(target(pool.policy())));
    unused.removeIf(
        ref ->
            !letGo(input).isEmpty()
                || input.nodes().values().stream()
                    .flatMap(node -> node.plugins().stream())
                    .anyMatch(plugin -> plugin.mounts(ref)));
    return unused;
  }

  private sealed interface Result {}

  private record Made(HamiConfig.Merged merged) implements Result {}

  private record NotMade(Provision.Refused refused) implements Result {}

  private static Result merged(
      ConfigMapRef ref, SortedMap<String, OptionalInt> entries, Input input) {
    var hamis = new ConfigMapRef(ref.namespace(), HAMI_CONFIG_MAP);
    if (ref.equals(hamis)) {
      return refused(
          "ConfigMapNotOurs",
          "devicePlugin.hami.configMapName is "
              + HAMI_CONFIG_MAP
              + ", which belongs to HAMi's Helm release: choose another name");
    }
    var ours = Optional.ofNullable(input.owned().get(ref)).map(HamiDevicePlugin::config);
    if (ours.isEmpty() && input.foreign().containsKey(ref)) {
      return refused(
          "ConfigMapNotOurs",
          "ConfigMap "
              + ref
              + " exists and is not the operator's: remove it, or choose another"
              + " devicePlugin.hami.configMapName");
    }
    if (isStillRead(hamis, input)) {
      ours = Optional.empty(); // HAMi may be installed, or changed, after ours was made
    }
    var source = ours.isPresent() ? ref : hamis;
    var existing =
        ours.or(
            () -> Optional.ofNullable(input.foreign().get(hamis)).map(HamiDevicePlugin::config));
    return switch (HamiConfig.merge(existing, entries, letGo(input))) {
      case HamiConfig.Invalid(String why) ->
          refused(
              "InvalidNodeConfig",
              CONFIG_KEY
                  + " of ConfigMap "
                  + source
                  + " cannot be read, HAMi would silently use its defaults: "
                  + why);
      case HamiConfig.Merged merged when bytes(merged.json()) > CONFIG_MAP_LIMIT ->
          refused(
              "NodeConfigTooLarge",
              "the configuration with entries of %d nodes does not fit into ConfigMap %s (1 MiB):"
                      .formatted(entries.size(), ref)
                  + " give the policies different devicePlugin.hami.configMapName");
      case HamiConfig.Merged merged -> new Made(merged);
    };
  }

  /** A plugin mounts HAMi's own, whose nodeconfig therefore counts. */
  private static boolean isStillRead(ConfigMapRef hamis, Input input) {
    return input.foreign().containsKey(hamis)
        && input.nodes().values().stream()
            .flatMap(node -> node.plugin(RunningPlugin.Kind.HAMi).stream())
            .anyMatch(plugin -> plugin.mounts(hamis));
  }

  private static String config(Map<String, String> data) {
    return data.getOrDefault(CONFIG_KEY, "");
  }

  /** A node that no policy has any more keeps what it was given, as its kubelet does. */
  private static Set<String> letGo(Input input) {
    var letGo = new TreeSet<String>();
    input
        .nodes()
        .forEach(
            (name, node) -> {
              if (!node.hasPolicy()
                  && node.mark().filter(m -> m.provider() == Provider.HAMi).isPresent()) {
                letGo.add(name);
              }
            });
    return letGo;
  }

  private static boolean usesMig(String node, Input input) {
    return input
        .node(node)
        .register()
        .flatMap(HamiRegister::parse)
        .filter(HamiRegister::usesMig)
        .isPresent();
  }

  private static Map<String, Wish> wishes(
      ConfigMapRef ref,
      SortedMap<String, OptionalInt> entries,
      HamiConfig.Merged merged,
      Input input) {
    var wishes = new HashMap<String, Wish>();
    entries
        .keySet()
        .forEach(
            node -> {
              var plugin = input.node(node).plugin(RunningPlugin.Kind.HAMi);
              var hash = Optional.ofNullable(merged.entries().get(node));
              wishes.put(
                  node,
                  hash.isEmpty()
                      ? new Wish.Nothing()
                      : plugin.isEmpty()
                          ? new Wish.Unknown()
                          : new Wish.Load(
                              hash.get(), Optional.empty(), ref, plugin.get().mounts(ref)));
            });
    return wishes;
  }

  private static int bytes(String json) {
    return json.getBytes(StandardCharsets.UTF_8).length;
  }

  /**
   * No owners, and retained: HAMi's DaemonSet mounts it, and without it none of its pods would
   * start again. Without policies it holds what HAMi's own held.
   */
  private static ConfigMap configMap(ConfigMapRef ref, String json) {
    var ownership = new Ownership(Part.DEVICE_PLUGIN, PROVIDER, List.of());
    return new ConfigMapBuilder()
        .withMetadata(ownership.metadata(ref.namespace(), ref.name()))
        .editMetadata()
        .addToLabels(Ownership.RETAIN_LABEL, "true")
        .endMetadata()
        .addToData(CONFIG_KEY, json)
        .build();
  }

  private static List<Provision.Remark> remarks(
      ConfigMapRef ref,
      SortedMap<String, OptionalInt> entries,
      HamiConfig.Merged merged,
      Input input) {
    var remarks = new ArrayList<Provision.Remark>();
    if (!entries.isEmpty()) {
      var plugins =
          entries.keySet().stream()
              .flatMap(node -> input.node(node).plugin(RunningPlugin.Kind.HAMi).stream())
              .toList();
      var deviceConfig =
          input
              .foreign()
              .getOrDefault(new ConfigMapRef(ref.namespace(), DEVICE_CONFIG_MAP), Map.of())
              .getOrDefault("device-config.yaml", "");
      remarks.addAll(new HamiValues(ref, plugins, deviceConfig, wantsStaticCpus(input)).remarks());
    }
    if (!merged.otherMode().isEmpty()) {
      remarks.add(
          new Provision.Remark(
              "NotInHamiCoreMode",
              "these nodes have another operatingmode than hami-core in HAMi's configuration and"
                  + " take no part in its NUMA alignment: "
                  + String.join(", ", merged.otherMode())));
    }
    return remarks;
  }

  private static boolean wantsStaticCpus(Input input) {
    return input.pools().stream()
        .anyMatch(
            pool ->
                pool.policy().getSpec().kubelet.cpuManager.policy
                    == KubeletPolicy.StaticOrNone.Static);
  }

  /** HAMi's refit moves one container at a time. */
  private static List<Provision.Remark> scope(Input input) {
    return input.pools().stream()
        .map(NodePool::policy)
        .filter(
            policy ->
                policy.getSpec().kubelet.topologyManager.scope == KubeletPolicy.TopologyScope.Pod)
        .map(policy -> policy.getMetadata().getName())
        .sorted()
        .findFirst()
        .map(
            policy ->
                new Provision.Remark(
                    "HAMiWantsContainerScope",
                    "HAMi's NUMA alignment is made for kubelet.topologyManager.scope Container;"
                        + " policy %s has Pod: change it".formatted(policy)))
        .stream()
        .toList();
  }

  private static Optional<Provision.Remark> mig(Input input) {
    var nodes =
        input.pools().stream()
            .flatMap(pool -> pool.nodes().stream())
            .filter(node -> usesMig(node, input))
            .sorted()
            .toList();
    return nodes.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Provision.Remark(
                "NotInHamiCoreMode",
                "the GPUs of these nodes are split by MIG and take no part in HAMi's NUMA"
                    + " alignment: "
                    + String.join(", ", nodes)));
  }

  /**
   * ConfigMap → node → devicesplitcount. Those that we made and no policy names any more are in it
   * without nodes: their entries of ours go. A node that is in two pools is the older policy's.
   */
  private static SortedMap<ConfigMapRef, SortedMap<String, OptionalInt>> entries(Input input) {
    var entries = new TreeMap<ConfigMapRef, SortedMap<String, OptionalInt>>();
    input.owned().keySet().forEach(ref -> entries.put(ref, new TreeMap<>()));
    var taken = new TreeSet<String>();
    input.pools().stream()
        .sorted(Comparator.comparing(NodePool::policy, SharedSettings.seniority()))
        .forEach(
            pool -> {
              var nodes = entries.computeIfAbsent(target(pool.policy()), ref -> new TreeMap<>());
              var split = splitCount(pool.policy());
              pool.nodes().stream()
                  .filter(node -> !usesMig(node, input))
                  .filter(taken::add)
                  .forEach(node -> nodes.put(node, split));
            });
    return entries;
  }

  static ConfigMapRef target(NumaPolicy policy) {
    var hami = settings(policy);
    return new ConfigMapRef(hami.namespace, hami.configMapName);
  }

  private static OptionalInt splitCount(NumaPolicy policy) {
    var count = settings(policy).deviceSplitCount;
    return count == null ? OptionalInt.empty() : OptionalInt.of(count);
  }

  private static DevicePluginPolicy.Hami settings(NumaPolicy policy) {
    var hami = policy.getSpec().devicePlugin.hami;
    return hami == null ? new DevicePluginPolicy.Hami() : hami;
  }

  private static Result refused(String reason, String message) {
    return new NotMade(new Provision.Refused(reason, message));
  }
}
