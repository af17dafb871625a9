package io.numaoperator.plan.agent;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.Access;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.NodePlacement;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.SharedSettings;
import io.numaoperator.plan.updater.TopologyUpdaterProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The agent's ServiceAccount, permissions and their limits, and DaemonSet. */
public final class AgentPlan {
  /** Name of all of its objects. */
  public static final String NAME = "numa-agent";

  private static final String PROVIDER = "builtin";

  private AgentPlan() {}

  /**
   * A node whose kubelet is being changed: whoever goes, its agent must bring that to its end.
   *
   * @param selected whether a policy selects the node
   */
  public record UnderChange(NumaNodeState state, boolean selected) {
    String node() {
      return state.getMetadata().getName();
    }
  }

  /** What an agent is made from, in {@link Names#AGENT_ANNOTATION} of its pod. */
  public static String template(ClusterFacts facts) {
    return AgentDaemonSet.hash(facts);
  }

  /** The same while no node is being changed. */
  public static Provision.Objects objects(ClusterFacts facts, List<NumaPolicy> policies) {
    return objects(facts, policies, List.of());
  }

  /**
   * Everything the agent needs, in the order to apply it; nothing without a policy or a node that
   * is being changed. The garbage collector takes objects whose policies are gone: so the states of
   * such nodes own them too, before the agent is let begin.
   */
  public static Provision.Objects objects(
      ClusterFacts facts, List<NumaPolicy> policies, List<UnderChange> underChange) {
    if (policies.isEmpty() && underChange.isEmpty()) {
      return Provision.Objects.none(PROVIDER);
    }
    return new Provision.Objects(
        PROVIDER,
        needed(facts, policies, underChange),
        facts.validatingAdmissionPolicies() ? List.of() : List.of(AgentConfinement.NOT_SERVED));
  }

  private static boolean publishesTopology(SharedSettings settings) {
    return TopologyUpdaterProviders.of(settings.topologyUpdater().provider).publishedByAgent();
  }

  private static List<HasMetadata> needed(
      ClusterFacts facts, List<NumaPolicy> policies, List<UnderChange> underChange) {
    var owners =
        Stream.concat(policies.stream(), underChange.stream().map(UnderChange::state)).toList();
    var alone = underChange.stream().filter(n -> !n.selected()).map(UnderChange::node).toList();
    var publishes = SharedSettings.of(policies).filter(AgentPlan::publishesTopology).isPresent();
    var ownership = Ownership.of(Part.AGENT, PROVIDER, owners);
    var access = new Access(ownership, facts.namespace(), NAME);
    var objects = new ArrayList<HasMetadata>();
    if (facts.validatingAdmissionPolicies()) {
      // before there is anybody to confine
      objects.addAll(AgentConfinement.objects(ownership, facts));
    }
    objects.add(access.serviceAccount());
    objects.add(access.clusterRole(NAME, rules(publishes)));
    objects.add(access.clusterRoleBinding(NAME, NAME));
    objects.add(AgentDaemonSet.of(ownership, facts, NodePlacement.affinity(policies, alone)));
    return objects;
  }

  private static List<PolicyRule> rules(boolean publishesTopology) {
    var rules = new ArrayList<PolicyRule>();
    rules.add(Access.rule(Names.GROUP, List.of("numanodestates"), "get", "watch"));
    rules.add(Access.rule(Names.GROUP, List.of("numanodestates/status"), "patch"));
    // is the node cordoned for this very attempt?
    rules.add(Access.rule("", List.of("nodes"), "get"));
    // its own kubelet's configz; before Kubernetes 1.33 it reads the kubelet's files instead
    rules.add(Access.rule("", List.of("nodes/configz"), "get"));
    // to compare it with the kubelet, whoever publishes it
    rules.add(
        Access.rule("topology.node.k8s.io", List.of("noderesourcetopologies"), "get", "watch"));
    if (publishesTopology) {
      rules.add(
          Access.rule(
              "topology.node.k8s.io", List.of("noderesourcetopologies"), "create", "patch"));
    }
    return rules;
  }
}
