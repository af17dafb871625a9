package io.numaoperator.plan.device;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.SharedSettings;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
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

  private static final String PROVIDER =
      DevicePluginProviders.name(DevicePluginPolicy.Provider.HAMi);
  private static final int CONFIG_MAP_LIMIT = 1 << 20;

  @Override
  public SortedSet<ConfigMapRef> reads(List<NumaPolicy> policies) {
    var refs = new TreeSet<ConfigMapRef>();
    for (var policy : policies) {
      refs.add(target(policy));
      refs.add(new ConfigMapRef(target(policy).namespace(), HAMI_CONFIG_MAP));
    }
    return refs;
  }

  @Override
  public Provision plan(Input input) {
    var objects = new ArrayList<HasMetadata>();
    var remarks = new ArrayList<Provision.Remark>();
    for (var target : entries(input).entrySet()) {
      switch (configMap(target.getKey(), target.getValue(), input, remarks)) {
        case Made(ConfigMap configMap) -> objects.add(configMap);
        case NotMade(Provision.Refused refused) -> {
          return refused;
        }
      }
    }
    return new Provision.Objects(PROVIDER, objects, remarks);
  }

  private sealed interface Result {}

  private record Made(ConfigMap configMap) implements Result {}

  private record NotMade(Provision.Refused refused) implements Result {}

  private static Result configMap(
      ConfigMapRef ref,
      SortedMap<String, OptionalInt> entries,
      Input input,
      List<Provision.Remark> remarks) {
    var hamis = new ConfigMapRef(ref.namespace(), HAMI_CONFIG_MAP);
    if (ref.equals(hamis)) {
      return refused(
          "ConfigMapNotOurs",
          "devicePlugin.hami.configMapName is "
              + HAMI_CONFIG_MAP
              + ", which belongs to HAMi's Helm release: choose another name");
    }
    var ours = Optional.ofNullable(input.owned().get(ref));
    if (ours.isEmpty() && input.foreign().containsKey(ref)) {
      return refused(
          "ConfigMapNotOurs",
          "ConfigMap "
              + ref
              + " exists and is not the operator's: remove it, or choose another"
              + " devicePlugin.hami.configMapName");
    }
    var source = ours.isPresent() ? ref : hamis;
    var existing = ours.or(() -> Optional.ofNullable(input.foreign().get(hamis)));
    return switch (HamiConfig.merge(existing, entries)) {
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
      case HamiConfig.Merged merged -> {
        remarks.addAll(remarks(ref, entries, merged));
        yield new Made(configMap(ref, merged.json()));
      }
    };
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
      ConfigMapRef ref, SortedMap<String, OptionalInt> entries, HamiConfig.Merged merged) {
    var remarks = new ArrayList<Provision.Remark>();
    if (!entries.isEmpty()) {
      remarks.add(
          new Provision.Remark(
              "HelmOwnerMustReferToConfig",
              "the owner of HAMi's Helm release runs, once: helm upgrade RELEASE hami-charts/hami"
                  + " --namespace %s --reuse-values --set".formatted(ref.namespace())
                  + " devicePlugin.nodeConfiguration.externalConfigName=%s".formatted(ref.name())));
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
              pool.nodes().stream().filter(taken::add).forEach(node -> nodes.put(node, split));
            });
    return entries;
  }

  private static ConfigMapRef target(NumaPolicy policy) {
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
