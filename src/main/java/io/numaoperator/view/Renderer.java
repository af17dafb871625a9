package io.numaoperator.view;

import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.ClusterVersion;
import io.numaoperator.plan.KubernetesRelease;
import io.numaoperator.plan.NodeSelection;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.SharedSettings;
import io.numaoperator.plan.agent.AgentPlan;
import io.numaoperator.plan.delivery.DeliveryChoice;
import io.numaoperator.plan.delivery.KubeletDelivery;
import io.numaoperator.plan.delivery.OpenShiftFacts;
import io.numaoperator.plan.delivery.PlannedNode;
import io.numaoperator.plan.device.DevicePluginProvider;
import io.numaoperator.plan.device.DevicePluginProvider.NodePool;
import io.numaoperator.plan.device.DevicePluginProviders;
import io.numaoperator.plan.device.VgpuResources;
import io.numaoperator.plan.scheduler.KaiFacts;
import io.numaoperator.plan.scheduler.KaiFacts.Installation;
import io.numaoperator.plan.scheduler.SchedulerFacts;
import io.numaoperator.plan.scheduler.SchedulerProvider;
import io.numaoperator.plan.scheduler.SchedulerProviders;
import io.numaoperator.plan.scheduler.TopologyRevision;
import io.numaoperator.plan.updater.TopologyUpdaterProvider;
import io.numaoperator.plan.updater.TopologyUpdaterProviders;
import io.numaoperator.view.Rendering.RenderedPart;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Renders by the operator's own plans. What the operator would see only in a live cluster is taken
 * to be absent: ConfigMaps of others (HAMi), MachineConfigPools (OpenShift).
 */
public final class Renderer {
  /** The minor version since which the API server has MutatingAdmissionPolicy v1. */
  private static final int MUTATING_ADMISSION_POLICIES = 36;

  private final Settings settings;
  private final List<NumaPolicy> policies;
  private final Inventory inventory;
  private final ClusterFacts facts;
  private final Map<String, NumaPolicy> owners = new TreeMap<>();

  /**
   * Where the operator runs.
   *
   * @param namespace its own
   * @param image its and its agents'
   * @param server the API server's version (gitVersion)
   */
  public record Settings(String namespace, String image, String server) {}

  private Renderer(Settings settings, List<NumaPolicy> policies, Inventory inventory) {
    this.settings = settings;
    this.policies = policies.stream().sorted(SharedSettings.seniority()).toList();
    this.inventory = inventory;
    for (var name : inventory.names()) {
      owner(name).ifPresent(policy -> owners.put(name, policy));
    }
    this.facts = facts();
  }

  /**
   * @throws IllegalArgumentException if the server's version is none
   */
  public static Rendering of(Settings settings, List<NumaPolicy> policies, Inventory inventory) {
    return new Renderer(settings, policies, inventory).render();
  }

  /** A state whose Node is not given was made for a node that is selected. */
  private Optional<NumaPolicy> owner(String name) {
    var node = inventory.node(name);
    return policies.stream()
        .filter(
            p ->
                node.map(n -> NodeSelection.isSelected(p, Inventory.labels(n)))
                    .orElseGet(() -> inventory.state(name).isPresent()))
        .findFirst();
  }

  private ClusterFacts facts() {
    var server =
        ClusterVersion.parse(settings.server())
            .orElseThrow(
                () ->
                    new IllegalArgumentException("not a Kubernetes version: " + settings.server()));
    var versions = inventory.kubeletVersions(new TreeSet<>(owners.keySet()));
    return new ClusterFacts(
        settings.namespace(),
        settings.image(),
        server,
        versions.stream()
            .flatMap(v -> ClusterVersion.parse(v).stream())
            .min(Comparator.naturalOrder())
            .orElse(server),
        VgpuResources.areAllocatable(
            owners.keySet().stream().flatMap(name -> inventory.node(name).stream()).toList()),
        KubernetesRelease.parse(settings.server())
            .orElseThrow(
                () ->
                    new IllegalArgumentException("not a Kubernetes release: " + settings.server())),
        rancher(versions));
  }

  private static SortedSet<String> rancher(List<String> versions) {
    return Stream.of("k3s", "rke2")
        .filter(name -> versions.stream().anyMatch(v -> v.contains("+" + name)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private Rendering render() {
    var shared = SharedSettings.of(policies);
    boolean publishes = shared.map(Renderer::publishes).orElse(false);
    var nodes =
        owners.entrySet().stream()
            .map(e -> new NodeRenderer(e.getValue(), publishes, inventory).of(e.getKey()))
            .toList();
    var parts = new ArrayList<RenderedPart>();
    parts.add(new RenderedPart(Part.AGENT, "builtin", AgentPlan.objects(facts, policies)));
    parts.addAll(devicePlugins());
    shared.ifPresent(s -> parts.addAll(shared(s)));
    parts.addAll(deliveries(nodes));
    return new Rendering(parts, nodes, shared.map(Renderer::conflicts).orElse(List.of()));
  }

  private static boolean publishes(SharedSettings shared) {
    return TopologyUpdaterProviders.of(shared.topologyUpdater().provider).publishedByAgent();
  }

  private List<RenderedPart> shared(SharedSettings shared) {
    return List.of(
        new RenderedPart(
            Part.TOPOLOGY_UPDATER,
            shared.topologyUpdater().provider.name(),
            TopologyUpdaterProviders.of(shared.topologyUpdater().provider)
                .plan(
                    new TopologyUpdaterProvider.Input(facts, policies, shared.topologyUpdater()))),
        new RenderedPart(
            Part.SCHEDULER,
            shared.scheduler().provider.name(),
            SchedulerProviders.of(shared.scheduler().provider)
                .plan(
                    new SchedulerProvider.Input(
                        facts, policies, shared.scheduler(), schedulerFacts()))));
  }

  /**
   * As once the nodes have published, beside a KAI that nobody configured: offline nobody waits.
   */
  private SchedulerFacts schedulerFacts() {
    return new SchedulerFacts(
        Optional.of(TopologyRevision.of(inventory.topologies())),
        facts.server().atLeast(MUTATING_ADMISSION_POLICIES),
        new KaiFacts(Installation.WithNuma, Optional.empty(), List.of(), List.of()));
  }

  private List<RenderedPart> devicePlugins() {
    return policies.stream()
        .collect(
            Collectors.groupingBy(
                p -> p.getSpec().devicePlugin.provider, TreeMap::new, Collectors.toList()))
        .entrySet()
        .stream()
        .map(
            e ->
                new RenderedPart(
                    Part.DEVICE_PLUGIN,
                    e.getKey().name(),
                    DevicePluginProviders.of(e.getKey())
                        .plan(
                            new DevicePluginProvider.Input(
                                facts,
                                e.getValue().stream()
                                    .map(p -> new NodePool(p, nodesOf(p)))
                                    .toList(),
                                Map.of(),
                                Map.of(),
                                Map.of(),
                                List.of()))
                        .provision()))
        .toList();
  }

  private Set<String> nodesOf(NumaPolicy policy) {
    return owners.entrySet().stream()
        .filter(e -> e.getValue() == policy)
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  /** What others than the agent deliver. */
  private List<RenderedPart> deliveries(List<RenderedNode> nodes) {
    var parts = new ArrayList<RenderedPart>();
    for (var policy : policies) {
      var byDelivery = new TreeMap<Delivery, List<PlannedNode>>();
      for (var node : nodes) {
        if (node instanceof RenderedNode.Planned planned && owners.get(node.node()) == policy) {
          var platform =
              Optional.ofNullable(
                  inventory
                      .state(node.node())
                      .orElseThrow()
                      .getStatus()
                      .inventory
                      .kubelet
                      .platform);
          var kubelet = planned.state().getSpec().kubelet;
          byDelivery
              .computeIfAbsent(
                  DeliveryChoice.of(policy.getSpec().kubelet.delivery, platform),
                  d -> new ArrayList<>())
              .add(
                  new PlannedNode(
                      node.node(), platform, kubelet.fragment, kubelet.hash, Optional.empty()));
        }
      }
      byDelivery.remove(Delivery.Agent);
      byDelivery.forEach(
          (delivery, planned) ->
              parts.add(
                  new RenderedPart(
                      Part.KUBELET,
                      delivery.name(),
                      DeliveryChoice.delivery(delivery).plan(input(policy, planned)))));
    }
    return parts;
  }

  private KubeletDelivery.Input input(NumaPolicy policy, List<PlannedNode> nodes) {
    return new KubeletDelivery.Input(
        settings.namespace(),
        policy,
        nodes,
        policy.getSpec().mode == Mode.Enforce,
        OpenShiftFacts.none());
  }

  private static List<String> conflicts(SharedSettings shared) {
    return shared.conflicts().stream()
        .map(
            c ->
                "policy %s: spec.%s is the cluster's, and policy %s, which is older, wants it otherwise"
                    .formatted(c.policy(), c.field(), c.senior()))
        .toList();
  }
}
