package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.SharedSettings;
import io.numaoperator.plan.device.ConfigMapRef;
import io.numaoperator.plan.device.DevicePluginProvider;
import io.numaoperator.plan.device.DevicePluginProvider.DevicePlan;
import io.numaoperator.plan.device.DevicePluginProvider.NodePool;
import io.numaoperator.plan.device.DevicePluginProviders;
import io.numaoperator.plan.device.NodeDevices;
import io.numaoperator.plan.device.RunningPlugin;
import io.numaoperator.plan.device.RunningPlugin.Kind;
import io.numaoperator.plan.device.Wish;
import io.numaoperator.readiness.Verdict;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * The device plugins that policies want configured. All providers are planned each time, also those
 * that no policy wants any more, so that what they made goes.
 */
@ApplicationScoped
class DevicePlugins {
  private final ClusterCache cache;
  private final ManagedObjects objects;
  private final Cluster cluster;
  private final PluginPods pods;
  private final GpuOperator gpuOperator;
  private final HamiAccounts accounts;
  private final OperatorSettings settings;
  private final Set<String> denied = ConcurrentHashMap.newKeySet();
  private volatile DeviceView planned = DeviceView.NONE;

  @Inject
  DevicePlugins(
      ClusterCache cache,
      ManagedObjects objects,
      Cluster cluster,
      PluginPods pods,
      GpuOperator gpuOperator,
      HamiAccounts accounts,
      OperatorSettings settings) {
    this.accounts = accounts;
    this.cache = cache;
    this.objects = objects;
    this.cluster = cluster;
    this.pods = pods;
    this.gpuOperator = gpuOperator;
    this.settings = settings;
  }

  void onChange(Runnable action) {
    pods.onChange(action);
    gpuOperator.onChange(action);
  }

  /** Looks at the pods that hold GPUs of the node. */
  void look(NumaNodeState state) {
    var hami = pods.on(state.getMetadata().getName(), Kind.HAMi).stream().findFirst();
    accounts.look(state, hami.map(pod -> RunningPlugin.of(Kind.HAMi, pod)));
  }

  /** HAMi may still move what it accounts for. */
  boolean isToBeLookedAtAgain(NumaNodeState state) {
    return !accounts.differences(state.getMetadata().getName()).isEmpty();
  }

  /** The last plan, with the plugins as they run now. */
  DeviceView view() {
    var last = planned;
    return new DeviceView(
        last.planned(),
        last.wishes(),
        last.refused(),
        last.found(),
        pods::on,
        accounts::differences);
  }

  /**
   * @return by provider, what keeps it from being as its policies want
   */
  Map<Provider, Verdict> apply(List<NumaPolicy> policies, ClusterFacts facts) {
    var problems = new EnumMap<Provider, Verdict>(Provider.class);
    var plans = new EnumMap<Provider, DevicePlan>(Provider.class);
    var nodes = nodes();
    for (var provider : Provider.values()) {
      plans.put(provider, plan(provider, policies, facts, nodes));
    }
    var wanted = new ArrayList<HasMetadata>();
    var refused = EnumSet.noneOf(Provider.class);
    var wishes = new HashMap<String, Wish>();
    plans.forEach(
        (provider, plan) -> {
          verdict(plan.provision()).ifPresent(verdict -> problems.put(provider, verdict));
          if (plan.provision() instanceof Provision.Objects made) {
            wanted.addAll(made.objects());
            wishes.putAll(plan.wishes());
          } else {
            refused.add(provider);
          }
        });
    if (policies.isEmpty() || policies.stream().anyMatch(SharedSettings::enforces)) {
      make(plans, wanted, refused);
    }
    planned =
        new DeviceView(true, wishes, refused, found(wanted), node -> List.of(), node -> List.of());
    return problems;
  }

  private void make(
      Map<Provider, DevicePlan> plans, List<HasMetadata> wanted, Set<Provider> refused) {
    plans.values().stream()
        .flatMap(plan -> plan.unused().stream())
        .filter(this::isMountedByNobody)
        .forEach(
            ref -> {
              wanted.removeIf(object -> ref.equals(ConfigMapRef.of(object)));
              objects.delete(ConfigMap.class, ref.namespace(), ref.name());
            });
    objects.apply(
        Part.DEVICE_PLUGIN,
        wanted,
        refused.stream().map(DevicePluginProviders::name).collect(Collectors.toSet()));
    plans.values().stream()
        .flatMap(plan -> plan.clusterPolicy().stream())
        .forEach(gpuOperator::apply);
  }

  /**
   * A DaemonSet whose ConfigMap is gone starts no pod again. One that may not be looked at is taken
   * as one that needs it.
   */
  private boolean isMountedByNobody(ConfigMapRef ref) {
    try {
      return cluster.daemonSets(ref.namespace()).stream()
          .flatMap(set -> set.getSpec().getTemplate().getSpec().getVolumes().stream())
          .flatMap(volume -> Optional.ofNullable(volume.getConfigMap()).stream())
          .noneMatch(source -> ref.name().equals(source.getName()));
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
        return false;
      }
      throw e;
    }
  }

  /** All that the owner has to know, with the first one's reason. */
  private static Optional<Verdict> verdict(Provision provision) {
    if (!(provision instanceof Provision.Objects made)) {
      return Problems.of(provision);
    }
    return made.remarks().stream()
        .findFirst()
        .map(
            first ->
                Verdict.unknown(
                    first.reason(),
                    made.remarks().stream()
                        .map(Provision.Remark::message)
                        .collect(Collectors.joining("; "))));
  }

  private DevicePlan plan(
      Provider name,
      List<NumaPolicy> policies,
      ClusterFacts facts,
      Map<String, NodeDevices> nodes) {
    var its = policies.stream().filter(p -> p.getSpec().devicePlugin.provider == name).toList();
    var provider = DevicePluginProviders.of(name);
    var clusterPolicies =
        name == Provider.GPUOperator
            ? gpuOperator.clusterPolicies(!its.isEmpty() || isLeftOver(name, nodes))
            : List.<io.numaoperator.api.nvidia.ClusterPolicy>of();
    var owned = owned(name, its, nodes);
    var pools = pools(its);
    var blind =
        new DevicePluginProvider.Input(facts, pools, owned, Map.of(), nodes, clusterPolicies);
    var foreign = new HashMap<ConfigMapRef, Map<String, String>>();
    for (var ref : provider.reads(blind)) {
      if (!owned.containsKey(ref)) {
        cluster.configMap(ref.namespace(), ref.name()).ifPresent(c -> foreign.put(ref, data(c)));
      }
    }
    var all =
        provider.plan(
            new DevicePluginProvider.Input(facts, pools, owned, foreign, nodes, clusterPolicies));
    return policies.stream().allMatch(SharedSettings::enforces)
        ? all
        : all.making(
            provider.plan(
                new DevicePluginProvider.Input(
                    facts,
                    pools.stream().filter(pool -> SharedSettings.enforces(pool.policy())).toList(),
                    owned,
                    foreign,
                    withoutObserved(policies, nodes),
                    clusterPolicies)));
  }

  /** What nodes of a policy in mode Observe were given before stays theirs. */
  private Map<String, NodeDevices> withoutObserved(
      List<NumaPolicy> policies, Map<String, NodeDevices> nodes) {
    var left = new HashMap<>(nodes);
    pools(policies.stream().filter(policy -> !SharedSettings.enforces(policy)).toList()).stream()
        .flatMap(pool -> pool.nodes().stream())
        .forEach(node -> left.computeIfPresent(node, (name, known) -> known.leftAlone()));
    return left;
  }

  private static boolean isLeftOver(Provider name, Map<String, NodeDevices> nodes) {
    return nodes.values().stream()
        .anyMatch(node -> node.plugin(DeviceStanding.kind(name)).isPresent());
  }

  /**
   * Those of its label: where its policies say, where its plugin runs or is by default, and where
   * we have looked before.
   */
  private Map<ConfigMapRef, Map<String, String>> owned(
      Provider name, List<NumaPolicy> policies, Map<String, NodeDevices> nodes) {
    var owned = new HashMap<ConfigMapRef, Map<String, String>>();
    if (name == Provider.None) {
      return owned;
    }
    var wanted =
        policies.stream()
            .map(policy -> DevicePluginProviders.namespace(policy))
            .collect(Collectors.toSet());
    var namespaces = new TreeSet<>(wanted);
    namespaces.addAll(DevicePluginProviders.DEFAULT_NAMESPACES);
    namespaces.addAll(objects.namespaces(ConfigMap.class));
    nodes.values().stream()
        .flatMap(node -> node.plugins().stream())
        .filter(plugin -> plugin.kind() == DeviceStanding.kind(name))
        .map(RunningPlugin::namespace)
        .forEach(namespaces::add);
    for (var namespace : namespaces) {
      for (var ours : configMaps(namespace, wanted)) {
        if (DevicePluginProviders.isMadeBy(name, ours)) {
          owned.put(new ConfigMapRef(namespace, ours.getMetadata().getName()), data(ours));
        }
      }
    }
    return owned;
  }

  /** Where no policy wants it, a namespace that we may not see has nothing of ours. */
  private List<ConfigMap> configMaps(String namespace, Set<String> wanted) {
    if (denied.contains(namespace) && !wanted.contains(namespace)) {
      return List.of();
    }
    try {
      return objects.list(ConfigMap.class, namespace);
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN && !wanted.contains(namespace)) {
        denied.add(namespace);
        return List.of();
      }
      throw e;
    }
  }

  private static Map<String, String> data(ConfigMap configMap) {
    return Optional.ofNullable(configMap.getData()).orElse(Map.of());
  }

  private Map<String, NodeDevices> nodes() {
    var plugins = pods.byNode();
    return cache
        .nodes()
        .list()
        .collect(
            Collectors.toMap(
                node -> node.getMetadata().getName(),
                node -> {
                  var name = node.getMetadata().getName();
                  return Nodes.devices(
                      node,
                      cache.states().get(name).isPresent(),
                      plugins.getOrDefault(name, List.of()));
                }));
  }

  /** Nodes that are brought back to their own settings want nothing. */
  private List<NodePool> pools(List<NumaPolicy> policies) {
    return policies.stream()
        .filter(policy -> !Restoration.isUnderWay(policy))
        .map(
            policy ->
                new NodePool(
                    policy,
                    cache.statesOf(policy.getMetadata().getName()).stream()
                        .map(s -> s.getMetadata().getName())
                        .collect(Collectors.toSet())))
        .toList();
  }

  /** A kubelet brings a ConfigMap's new content to its mounts after up to its sync period. */
  private Map<ConfigMapRef, Instant> found(List<HasMetadata> wanted) {
    var found = new HashMap<ConfigMapRef, Instant>();
    for (var object : wanted) {
      var meta = object.getMetadata();
      objects
          .find(ConfigMap.class, meta.getNamespace(), meta.getName())
          .flatMap(DevicePlugins::writtenAt)
          .ifPresent(
              at ->
                  found.put(
                      new ConfigMapRef(meta.getNamespace(), meta.getName()),
                      at.plus(settings.configPropagation())));
    }
    return found;
  }

  private static Optional<Instant> writtenAt(ConfigMap configMap) {
    return configMap.getMetadata().getManagedFields().stream()
        .filter(entry -> Names.OPERATOR_FIELD_MANAGER.equals(entry.getManager()))
        .map(ManagedFieldsEntry::getTime)
        .map(Instant::parse)
        .max(Instant::compareTo);
  }
}
