package io.numaoperator.plan.agent;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.NamedRuleWithOperations;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.NamedRuleWithOperationsBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBindingBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicySpec;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicySpecBuilder;
import io.numaoperator.api.Names;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Provision;
import java.util.List;

/**
 * Keeps each agent to its own node. All agents share one ServiceAccount and RBAC cannot tell them
 * apart, but the API server writes the node of a pod into the pod's token (claim node-name, on by
 * default since Kubernetes 1.30, as is ValidatingAdmissionPolicy v1; KEP-4193). So a token that is
 * stolen from one node is worth nothing for another, and one without the claim, which no pod has,
 * is worth nothing at all.
 */
final class AgentConfinement {
  static final String NAME = AgentPlan.NAME;

  /** Told as an Event. */
  private static final String NOT_CONFINED = "AgentsNotConfined";

  /** Said where the API server cannot do it. */
  static final Provision.Remark NOT_SERVED =
      new Provision.Remark(
          NOT_CONFINED,
          "this API server does not serve ValidatingAdmissionPolicy of admissionregistration.k8s.io/v1"
              + " (Kubernetes 1.30 or newer): an agent's token that is stolen from one node can"
              + " write the NUMA objects of all nodes; upgrade, and restart the operator then");

  private static final String NODE_CLAIM = "authentication.kubernetes.io/node-name";

  /** Of a deletion there is only the old object. */
  private static final String OBJECT = "(object == null ? oldObject : object)";

  private static final String CONDITIONS =
      "has(%1$s.status) && has(%1$s.status.conditions) ? %1$s.status.conditions : []";

  private AgentConfinement() {}

  /** The policy, and what puts it in force. */
  static List<HasMetadata> objects(Ownership ownership, ClusterFacts facts) {
    return List.of(
        new ValidatingAdmissionPolicyBuilder()
            .withMetadata(ownership.metadata(NAME))
            .withSpec(spec(facts.namespace()))
            .build(),
        new ValidatingAdmissionPolicyBindingBuilder()
            .withMetadata(ownership.metadata(NAME))
            .withNewSpec()
            .withPolicyName(NAME)
            .withValidationActions("Deny")
            .endSpec()
            .build());
  }

  private static ValidatingAdmissionPolicySpec spec(String namespace) {
    return new ValidatingAdmissionPolicySpecBuilder()
        .withFailurePolicy("Fail")
        .withNewMatchConstraints()
        .withMatchPolicy("Equivalent")
        .withResourceRules(
            writes(Names.GROUP, Names.VERSION, "numanodestates", "numanodestates/status"),
            writes(
                NodeResourceTopology.GROUP, NodeResourceTopology.VERSION, "noderesourcetopologies"))
        .endMatchConstraints()
        .addNewMatchCondition(
            "request.userInfo.username == 'system:serviceaccount:%s:%s'"
                .formatted(namespace, AgentPlan.NAME),
            "is-an-agent")
        .addNewVariable(
            "has(request.userInfo.extra) && '%1$s' in request.userInfo.extra ? request.userInfo.extra['%1$s'] : []"
                .formatted(NODE_CLAIM),
            "nodes")
        .addNewVariable(OBJECT + ".metadata.name", "name")
        .addNewVariable("oldObject == null ? [] : (" + conditions("oldObject") + ")", "before")
        .addNewVariable("object == null ? [] : (" + conditions("object") + ")", "after")
        .addNewValidation()
        .withExpression("variables.nodes.size() == 1 && variables.nodes[0] == variables.name")
        .withReason("Forbidden")
        .withMessageExpression(
            "'an agent writes the objects of its own node only: this one is of ' + variables.name"
                + " + ', the token is ' + (variables.nodes.size() == 1 ? 'of ' +"
                + " variables.nodes[0] : 'not bound to a node')")
        .endValidation()
        .addNewValidation()
        .withExpression("request.subResource != 'status' || variables.before == variables.after")
        .withReason("Forbidden")
        .withMessage("conditions are the operator's: an agent writes what it observes")
        .endValidation()
        .build();
  }

  private static String conditions(String object) {
    return CONDITIONS.formatted(object);
  }

  private static NamedRuleWithOperations writes(String group, String version, String... resources) {
    return new NamedRuleWithOperationsBuilder()
        .withApiGroups(group)
        .withApiVersions(version)
        .withResources(resources)
        .withOperations("CREATE", "UPDATE", "DELETE")
        .build();
  }
}
