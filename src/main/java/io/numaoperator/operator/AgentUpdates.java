package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.plan.agent.AgentReplacement;
import io.numaoperator.plan.agent.AgentReplacement.Agent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;

/** Replaces agents that another version of the operator made. */
@ApplicationScoped
class AgentUpdates {
  private static final Logger LOG = Logger.getLogger(AgentUpdates.class);

  private final KubernetesClient client;
  private final ClusterCache cache;
  private final Set<String> deleted = ConcurrentHashMap.newKeySet();
  private volatile String wanted = "";

  @Inject
  AgentUpdates(KubernetesClient client, ClusterCache cache) {
    this.client = client;
    this.cache = cache;
  }

  /** What agents are made from now; empty before the first look. */
  String wanted() {
    return wanted;
  }

  /** To be told before the DaemonSet is applied: from then on no other agent gets a grant. */
  void wants(String template) {
    wanted = template;
  }

  /**
   * To be called when the DaemonSet is applied: whoever is deleted comes back as it says.
   *
   * @param selected whether a node is to have an agent
   */
  void proceed(Predicate<Node> selected) {
    var outdated =
        cache
            .agentPods()
            .list()
            .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
            .filter(pod -> !isOf(wanted, pod))
            .collect(Collectors.toMap(pod -> pod.getMetadata().getName(), pod -> pod));
    deleted.retainAll(outdated.keySet());
    if (outdated.isEmpty()) {
      return; // as nearly always: the nodes need not be looked at
    }
    var agents =
        cache
            .states()
            .list()
            .flatMap(
                state ->
                    cache.nodes().get(state.getMetadata().getName()).stream()
                        .filter(node -> Nodes.isReady(node) && selected.test(node))
                        .map(node -> agent(state, node)))
            .toList();
    for (var name : AgentReplacement.next(agents)) {
      LOG.infof("agent %s is of another version: replaced", name);
      deleted.add(name);
      client.resource(outdated.get(name)).delete();
    }
  }

  private Agent agent(NumaNodeState state, Node node) {
    var progress = NodeAssessment.withoutPolicy(state, node);
    return cache
        .agentPod(node.getMetadata().getName())
        .filter(pod -> !deleted.contains(pod.getMetadata().getName()))
        .map(
            pod ->
                new Agent(
                    pod.getMetadata().getName(),
                    isOf(wanted, pod),
                    Sightings.isReady(pod),
                    progress.underChange() || progress.granted()))
        .orElseGet(() -> new Agent("", false, false, false));
  }

  static boolean isOf(String template, Pod pod) {
    return Optional.ofNullable(pod.getMetadata().getAnnotations())
        .map(annotations -> template.equals(annotations.get(Names.AGENT_ANNOTATION)))
        .orElse(false);
  }
}
