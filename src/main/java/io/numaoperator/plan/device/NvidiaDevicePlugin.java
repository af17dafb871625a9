package io.numaoperator.plan.device;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.numaoperator.api.DevicePluginPolicy.DeviceAccess;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.Provision.Remark;
import io.numaoperator.plan.SharedSettings;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The NVIDIA device plugin, by its own chart or by the GPU Operator: a ConfigMap of the operator's
 * own beside the plugin's, with what that has plus what our nodes need. The plugin's owner points
 * it there once; a node's label has it loaded.
 */
final class NvidiaDevicePlugin implements DevicePluginProvider {
  private final Provider provider;
  private final RunningPlugin.Kind kind;

  NvidiaDevicePlugin(Provider provider) {
    this.provider = provider;
    this.kind =
        provider == Provider.GPUOperator
            ? RunningPlugin.Kind.GPUOperator
            : RunningPlugin.Kind.NVIDIA;
  }

  @Override
  public SortedSet<ConfigMapRef> reads(Input input) {
    var refs = new TreeSet<ConfigMapRef>();
    for (var pool : input.pools()) {
      var site = NvidiaSite.of(pool.policy());
      refs.add(site.config());
      refs.addAll(sources(site, input));
    }
    return refs;
  }

  /** Where the plugin's configurations are now, other than in ours. */
  private SortedSet<ConfigMapRef> sources(NvidiaSite site, Input input) {
    var refs = new TreeSet<ConfigMapRef>();
    var namespace = site.config().namespace();
    if (site.clusterPolicy().isPresent()) {
      GpuOperatorConfig.find(input, site)
          .flatMap(GpuOperatorConfig::configName)
          .ifPresent(name -> refs.add(new ConfigMapRef(namespace, name)));
    } else {
      input.nodes().values().stream()
          .flatMap(node -> node.plugin(kind).stream())
          .filter(plugin -> plugin.namespace().equals(namespace))
          .flatMap(plugin -> plugin.configMaps().stream())
          .forEach(name -> refs.add(new ConfigMapRef(namespace, name)));
    }
    refs.remove(site.config());
    return refs;
  }

  @Override
  public DevicePlan plan(Input input) {
    var objects = new ArrayList<HasMetadata>();
    var remarks = new ArrayList<Remark>();
    var wishes = new HashMap<String, Wish>();
    var unused = new HashSet<ConfigMapRef>();
    var taken = new HashSet<String>();
    for (var target : targets(input).entrySet()) {
      var ref = target.getKey();
      if (!input.owned().containsKey(ref) && input.foreign().containsKey(ref)) {
        return DevicePlan.of(
            new Provision.Refused(
                "ConfigMapNotOurs",
                "ConfigMap " + ref + " exists and is not the operator's: remove it"));
      }
      var configs = new NvidiaConfigs(ref, before(ref, target.getValue(), input), inUse(input));
      for (var pool : target.getValue()) {
        var access = NvidiaSite.of(pool.policy()).access();
        pool.nodes().stream()
            .sorted()
            .filter(taken::add)
            .forEach(name -> wishes.put(name, wish(input.node(name), configs, access, remarks)));
      }
      objects.add(configMap(ref, configs.data()));
      if (target.getValue().isEmpty() && !isReferredTo(ref, input)) {
        unused.add(ref);
      }
    }
    var decision = GpuOperatorConfig.decide(provider, input, wishes);
    remarks.addAll(0, ownersPart(input, wishes, decision));
    return new DevicePlan(
        new Provision.Objects(
            DevicePluginProviders.name(provider), objects, remarks.stream().distinct().toList()),
        wishes,
        unused,
        decision.apply());
  }

  private Wish wish(
      NodeDevices node, NvidiaConfigs configs, DeviceAccess access, List<Remark> remarks) {
    return node.plugin(kind)
        .map(plugin -> configs.wish(node, plugin, access, remarks))
        .orElseGet(Wish.Unknown::new);
  }

  /**
   * ConfigMap → its policies, the oldest first; those that we made and nobody names any more too.
   */
  private static SortedMap<ConfigMapRef, List<NodePool>> targets(Input input) {
    var targets = new TreeMap<ConfigMapRef, List<NodePool>>();
    input.owned().keySet().forEach(ref -> targets.put(ref, new ArrayList<>()));
    input.pools().stream()
        .sorted(Comparator.comparing(NodePool::policy, SharedSettings.seniority()))
        .forEach(
            pool ->
                targets
                    .computeIfAbsent(
                        NvidiaSite.of(pool.policy()).config(), ref -> new ArrayList<>())
                    .add(pool));
    return targets;
  }

  /**
   * While a plugin still mounts another ConfigMap, that one's configurations count: it may be
   * installed, or changed, after ours was made. What labels of nodes name is kept from ours.
   */
  private Map<String, String> before(ConfigMapRef ref, List<NodePool> pools, Input input) {
    var owned = input.owned().getOrDefault(ref, Map.of());
    var imported = new TreeMap<String, String>();
    pools.stream()
        .flatMap(pool -> sources(NvidiaSite.of(pool.policy()), input).stream())
        .forEach(
            source ->
                input.foreign().getOrDefault(source, Map.of()).forEach(imported::putIfAbsent));
    if (imported.isEmpty()) {
      return owned;
    }
    owned.forEach(
        (name, content) -> {
          if (NvidiaConfig.isOurs(name)) {
            imported.putIfAbsent(name, content);
          }
        });
    return imported;
  }

  private static List<String> inUse(Input input) {
    return input.nodes().values().stream()
        .flatMap(node -> node.label().stream())
        .filter(NvidiaConfig::isOurs)
        .toList();
  }

  /** A plugin's pod could not start, or would end, without it. */
  private boolean isReferredTo(ConfigMapRef ref, Input input) {
    return input.nodes().values().stream()
            .flatMap(node -> node.plugins().stream())
            .anyMatch(plugin -> plugin.mounts(ref))
        || (provider == Provider.GPUOperator
            && input.clusterPolicies().stream()
                .anyMatch(
                    policy ->
                        GpuOperatorConfig.configName(policy)
                            .filter(ref.name()::equals)
                            .isPresent()));
  }

  /** No owners, and retained: it outlives its policies as long as a plugin refers to it. */
  private ConfigMap configMap(ConfigMapRef ref, SortedMap<String, String> data) {
    var ownership =
        new Ownership(Part.DEVICE_PLUGIN, DevicePluginProviders.name(provider), List.of());
    return new ConfigMapBuilder()
        .withMetadata(ownership.metadata(ref.namespace(), ref.name()))
        .editMetadata()
        .addToLabels(Ownership.RETAIN_LABEL, "true")
        .endMetadata()
        .withData(data)
        .build();
  }

  /** What the owner of the plugin's Helm release has to do once. */
  private List<Remark> ownersPart(
      Input input, Map<String, Wish> wishes, GpuOperatorConfig.Decision decision) {
    if (provider == Provider.GPUOperator) {
      return decision.remarks();
    }
    var unreachable = new TreeSet<ConfigMapRef>();
    var unprivileged = new TreeSet<ConfigMapRef>();
    wishes.forEach(
        (name, wish) -> {
          if (wish instanceof Wish.Load load) {
            if (!load.reachable()) {
              unreachable.add(load.from());
            } else if (input.node(name).plugin(kind).filter(p -> !p.privileged()).isPresent()) {
              unprivileged.add(load.from());
            }
          }
        });
    var remarks = new ArrayList<Remark>();
    unreachable.forEach(
        ref ->
            remarks.add(
                new Remark(
                    "HelmOwnerMustReferToConfig",
                    "the owner of the plugin's Helm release runs, once: "
                        + command(ref, isPrivileged(input, ref)))));
    if (wantsDeviceSpecs(input)) {
      unprivileged.forEach(
          ref ->
              remarks.add(
                  new Remark(
                      "DeviceSpecsNeedPrivileges",
                      "passDeviceSpecs needs a privileged plugin; the owner of its Helm release"
                          + " runs, once: "
                          + command(ref, false))));
    }
    return remarks;
  }

  private static boolean wantsDeviceSpecs(Input input) {
    return input.pools().stream()
        .anyMatch(pool -> NvidiaSite.of(pool.policy()).access() == DeviceAccess.DeviceSpecs);
  }

  private boolean isPrivileged(Input input, ConfigMapRef ref) {
    return !wantsDeviceSpecs(input)
        || input.nodes().values().stream()
            .flatMap(node -> node.plugin(kind).stream())
            .filter(plugin -> plugin.namespace().equals(ref.namespace()))
            .allMatch(RunningPlugin::privileged);
  }

  /** config.map makes a ConfigMap of the chart's own, which config.name excludes. */
  private static String command(ConfigMapRef ref, boolean privileged) {
    return "helm upgrade RELEASE nvdp/nvidia-device-plugin --namespace %s --reuse-values --set config.name=%s --set config.map=null%s"
        .formatted(
            ref.namespace(),
            ref.name(),
            privileged ? "" : " --set securityContext.privileged=true");
  }
}
