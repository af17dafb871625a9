package io.numaoperator.plan.device;

import io.numaoperator.api.DevicePluginPolicy.DeviceAccess;
import io.numaoperator.plan.Provision.Remark;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The named configurations of one ConfigMap of ours: others' as they are, with all keys, and beside
 * them what our nodes need. One that a node's label names is kept: the plugin's config-manager ends
 * when it does not find it.
 */
final class NvidiaConfigs {
  private final ConfigMapRef ref;
  private final Map<String, String> before;
  private final SortedMap<String, String> data = new TreeMap<>();

  /**
   * @param before the ConfigMap's data of now, or what is imported the first time
   * @param inUse names that labels of nodes have
   */
  NvidiaConfigs(ConfigMapRef ref, Map<String, String> before, List<String> inUse) {
    this.ref = ref;
    this.before = before;
    before.forEach(
        (name, content) -> {
          if (!NvidiaConfig.isOurs(name) || inUse.contains(name)) {
            data.put(name, content);
          }
        });
    data.computeIfAbsent(NvidiaConfig.DEFAULT, name -> forNodesWithoutLabel());
  }

  /**
   * With a second configuration config-manager no longer takes the only one (its fallback "single")
   * but the one of this name.
   */
  private String forNodesWithoutLabel() {
    var theirs =
        before.entrySet().stream().filter(config -> !NvidiaConfig.isOurs(config.getKey())).toList();
    return theirs.size() == 1 ? theirs.getFirst().getValue() : NvidiaConfig.EMPTY;
  }

  SortedMap<String, String> data() {
    return data;
  }

  Wish wish(NodeDevices node, RunningPlugin plugin, DeviceAccess access, List<Remark> remarks) {
    if (access == DeviceAccess.Unchanged || isGivenByEnvironment(plugin)) {
      return new Wish.Nothing();
    }
    var overridden = override(plugin, access);
    if (overridden.isPresent()) {
      remarks.add(overridden.get());
      return new Wish.Nothing();
    }
    var base = base(node, plugin);
    var content = Optional.ofNullable(data.get(base));
    if (content.isEmpty()) {
      remarks.add(
          new Remark(
              "DeviceConfigUnknown",
              "the configuration '%s' of pod %s/%s is not in ConfigMap %s: add it there, or change the node's label %s"
                  .formatted(
                      base, plugin.namespace(), plugin.pod(), ref, NvidiaConfig.NODE_LABEL)));
      return new Wish.Unknown();
    }
    return switch (NvidiaConfig.derive(content.get(), access)) {
      case NvidiaConfig.Sufficient sufficient -> new Wish.Nothing();
      case NvidiaConfig.Invalid(var why) -> {
        remarks.add(
            new Remark(
                "InvalidDeviceConfig",
                "configuration '%s' of ConfigMap %s cannot be read: %s".formatted(base, ref, why)));
        yield new Wish.Unknown();
      }
      case NvidiaConfig.Derived(var derived) -> {
        var name = NvidiaConfig.name(derived);
        data.put(name, derived);
        yield new Wish.Load(
            name.substring(name.lastIndexOf('-') + 1), Optional.of(name), ref, plugin.mounts(ref));
      }
    };
  }

  /** Flags and environment come before the configuration. */
  private static boolean isGivenByEnvironment(RunningPlugin plugin) {
    return plugin.env("PASS_DEVICE_SPECS").filter("true"::equalsIgnoreCase).isPresent()
        || plugin.env("DEVICE_LIST_STRATEGY").filter(NvidiaConfig::usesCdi).isPresent();
  }

  private static Optional<Remark> override(RunningPlugin plugin, DeviceAccess access) {
    var variable =
        access == DeviceAccess.DeviceSpecs ? "PASS_DEVICE_SPECS" : "DEVICE_LIST_STRATEGY";
    return plugin
        .env(variable)
        .map(
            value ->
                new Remark(
                    "DeviceAccessOverridden",
                    "pod %s/%s has %s=%s in its environment, which comes before any configuration:"
                            .formatted(plugin.namespace(), plugin.pod(), variable, value)
                        + " its owner takes it out (compatWithCPUManager and deviceListStrategy of"
                        + " the Helm chart, devicePlugin.env of the ClusterPolicy)"));
  }

  /** What the node's plugin would load without us. */
  private static String base(NodeDevices node, RunningPlugin plugin) {
    return node.label()
        .filter(label -> !NvidiaConfig.isOurs(label))
        .or(() -> node.mark().map(DeviceMark::was).filter(was -> !was.isEmpty()))
        .or(() -> plugin.env("DEFAULT_CONFIG"))
        .orElse(NvidiaConfig.DEFAULT);
  }
}
