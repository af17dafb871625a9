package io.numaoperator.plan.agent;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.Access;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.SharedSettings;
import io.numaoperator.plan.updater.TopologyUpdaterProviders;
import java.util.ArrayList;
import java.util.List;

/** The agent's ServiceAccount, permissions and DaemonSet. */
public final class AgentPlan {
  /** Name of all of its objects. */
  public static final String NAME = "numa-agent";

  private static final String PROVIDER = "builtin";

  private AgentPlan() {}

  /** Nothing without a policy; otherwise everything the agent needs, in the order to apply it. */
  public static Provision.Objects objects(ClusterFacts facts, List<NumaPolicy> policies) {
    return new Provision.Objects(
        PROVIDER,
        SharedSettings.of(policies)
            .map(settings -> objects(facts, policies, publishesTopology(settings)))
            .orElse(List.of()),
        List.of());
  }

  private static boolean publishesTopology(SharedSettings settings) {
    return TopologyUpdaterProviders.of(settings.topologyUpdater().provider).publishedByAgent();
  }

  private static List<HasMetadata> objects(
      ClusterFacts facts, List<NumaPolicy> policies, boolean publishesTopology) {
    var ownership = Ownership.of(Part.AGENT, PROVIDER, policies);
    var access = new Access(ownership, facts.namespace(), NAME);
    return List.of(
        access.serviceAccount(),
        access.clusterRole(NAME, rules(publishesTopology)),
        access.clusterRoleBinding(NAME, NAME),
        AgentDaemonSet.of(ownership, facts, policies));
  }

  private static List<PolicyRule> rules(boolean publishesTopology) {
    var rules = new ArrayList<PolicyRule>();
    rules.add(Access.rule(Names.GROUP, List.of("numanodestates"), "get", "list", "watch"));
    rules.add(Access.rule(Names.GROUP, List.of("numanodestates/status"), "get", "patch"));
    // is the node cordoned for this very attempt?
    rules.add(Access.rule("", List.of("nodes"), "get"));
    // its own kubelet's configz; before Kubernetes 1.33 it reads the kubelet's files instead
    rules.add(Access.rule("", List.of("nodes/configz"), "get"));
    // to compare it with the kubelet, whoever publishes it
    rules.add(
        Access.rule(
            "topology.node.k8s.io", List.of("noderesourcetopologies"), "get", "list", "watch"));
    if (publishesTopology) {
      rules.add(
          Access.rule(
              "topology.node.k8s.io", List.of("noderesourcetopologies"), "create", "patch"));
    }
    return rules;
  }
}
