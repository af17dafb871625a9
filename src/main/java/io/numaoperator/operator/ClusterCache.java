package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.plan.SharedSettings;
import io.numaoperator.plan.agent.AgentPlan;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** What both reconcilers read. One watch a kind, shared. */
@ApplicationScoped
public class ClusterCache {
  private static final Comparator<NumaPolicy> OLDEST_FIRST =
      Comparator.comparing((NumaPolicy p) -> p.getMetadata().getCreationTimestamp())
          .thenComparing(p -> p.getMetadata().getName());

  private static final Comparator<Pod> NEWEST =
      Comparator.comparing(p -> p.getMetadata().getCreationTimestamp());

  /** One version of a policy's spec. */
  private record Spec(String uid, Long generation) {
    static Spec of(NumaPolicy policy) {
      return new Spec(policy.getMetadata().getUid(), policy.getMetadata().getGeneration());
    }
  }

  /** Asked for at each look at each node, and costly to compare. */
  private record Shared(List<Spec> specs, Optional<SharedSettings> settings) {}

  private final AtomicReference<Shared> shared =
      new AtomicReference<>(new Shared(List.of(), Optional.empty()));

  private final Store<NumaPolicy> policies;
  private final Store<NumaNodeState> states;
  private final Store<Node> nodes;
  private final Store<Pod> agentPods;
  private final Store<Pod> proofPods;
  private final Store<NodeResourceTopology> topologies;

  @Inject
  ClusterCache(
      KubernetesClient client,
      OperatorSettings settings,
      TopologyCrd topologyCrd,
      OwnCrds ownCrds) {
    ownCrds.check();
    topologyCrd.ensure();
    topologies = Store.trimmed(client.resources(NodeResourceTopology.class), topology -> {});
    policies = Store.trimmed(client.resources(NumaPolicy.class), policy -> {});
    states = Store.trimmed(client.resources(NumaNodeState.class), state -> {});
    nodes = Store.trimmed(client.nodes(), Nodes::trim);
    agentPods =
        Store.ofPods(
            client
                .pods()
                .inNamespace(settings.namespace())
                .withLabels(java.util.Map.of("app.kubernetes.io/name", AgentPlan.NAME)),
            ClusterCache::trimAgent);
    proofPods =
        Store.ofPods(client.pods().inNamespace(settings.namespace()).withLabel(Names.PROOF_LABEL));
  }

  /** Agents are alike: where one runs is all that is read of its spec. */
  private static void trimAgent(Pod pod) {
    pod.setSpec(new PodSpecBuilder().withNodeName(pod.getSpec().getNodeName()).build());
  }

  @PreDestroy
  void close() {
    List.of(policies, states, nodes, agentPods, proofPods, topologies).forEach(Store::close);
  }

  Store<NumaPolicy> policies() {
    return policies;
  }

  Store<NumaNodeState> states() {
    return states;
  }

  Store<Node> nodes() {
    return nodes;
  }

  Store<Pod> agentPods() {
    return agentPods;
  }

  Store<Pod> proofPods() {
    return proofPods;
  }

  Store<NodeResourceTopology> topologies() {
    return topologies;
  }

  /** The settings that are the cluster's; empty when there is no policy. */
  Optional<SharedSettings> shared() {
    var live = livePolicies();
    var specs = live.stream().map(Spec::of).toList();
    var known = shared.get();
    if (!known.specs().equals(specs)) {
      known = new Shared(specs, SharedSettings.of(live));
      shared.set(known);
    }
    return known.settings();
  }

  /**
   * Policies that are in force, the oldest first: those that are not being deleted, and those that
   * are and still restore their nodes, with agents and all that these nodes need meanwhile.
   */
  List<NumaPolicy> livePolicies() {
    return policies
        .list()
        .filter(p -> p.getMetadata().getDeletionTimestamp() == null || Restoration.isUnderWay(p))
        .sorted(OLDEST_FIRST)
        .toList();
  }

  List<NumaNodeState> statesOf(String policy) {
    return states
        .list()
        .filter(s -> policy.equals(s.getSpec().policy))
        .sorted(Comparator.comparing(s -> s.getMetadata().getName()))
        .toList();
  }

  /** The newest one of the node. */
  Optional<Pod> agentPod(String node) {
    return agentPods
        .onNode(node)
        .filter(p -> p.getMetadata().getDeletionTimestamp() == null)
        .max(NEWEST);
  }
}
