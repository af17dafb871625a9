package io.numaoperator.view;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateSpec.DesiredKubelet;
import io.numaoperator.api.NumaNodeStateSpec.File;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.plan.delivery.DeliveryChoice;
import io.numaoperator.plan.kubelet.KubeletPlan;
import io.numaoperator.plan.kubelet.PlanHash;
import io.numaoperator.preflight.Divergence;
import io.numaoperator.preflight.NodePlan;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Renders one node.
 *
 * @param policy that has it
 * @param publishes whether the agent is to publish its NodeResourceTopology
 */
record NodeRenderer(NumaPolicy policy, boolean publishes, Inventory inventory) {

  RenderedNode of(String name) {
    var status =
        inventory.state(name).flatMap(s -> Optional.ofNullable(s.getStatus())).orElse(null);
    if (status == null || status.inventory == null || status.inventory.kubelet == null) {
      return new RenderedNode.Unknown(
          name, "there is no NumaNodeState with an inventory: no agent has looked at it yet");
    }
    if (status.effective == null || status.effective.settings == null) {
      return new RenderedNode.Unknown(
          name, "its NumaNodeState does not say what its kubelet runs with");
    }
    var bootId =
        inventory
            .node(name)
            .flatMap(Inventory::bootId)
            .orElseGet(() -> Objects.requireNonNullElse(status.bootId, ""));
    return switch (NodePlan.of(policy.getSpec().kubelet, status, bootId)) {
      case KubeletPlan.Refused(var reason, var message) ->
          new RenderedNode.Refused(name, reason, message);
      case KubeletPlan.Planned planned -> planned(name, status, planned);
    };
  }

  private RenderedNode planned(
      String name, NumaNodeStateStatus status, KubeletPlan.Planned planned) {
    return new RenderedNode.Planned(
        name,
        state(name, status, planned),
        file(status),
        new String(DropIn.render(planned.fragment()), StandardCharsets.UTF_8),
        agentDelivers(status)
            ? PlanHash.of(
                policy.getSpec().kubelet.memoryManager,
                NodePlan.ownSettings(status),
                planned.fragment())
            : planned.hash(),
        Divergence.changes(planned, status),
        planned.notes());
  }

  private boolean agentDelivers(NumaNodeStateStatus status) {
    return delivery(status) == Delivery.Agent;
  }

  private Delivery delivery(NumaNodeStateStatus status) {
    return DeliveryChoice.of(
        policy.getSpec().kubelet.delivery, Optional.ofNullable(status.inventory.kubelet.platform));
  }

  private NumaNodeState state(
      String name, NumaNodeStateStatus status, KubeletPlan.Planned planned) {
    var state = new NumaNodeState();
    state.setMetadata(
        new ObjectMetaBuilder()
            .withName(name)
            .withLabels(Map.of(Names.POLICY_LABEL, policy.getMetadata().getName()))
            .withOwnerReferences(owner(name))
            .build());
    var spec = new NumaNodeStateSpec();
    spec.policy = policy.getMetadata().getName();
    spec.topology = new NumaNodeStateSpec.DesiredTopology();
    spec.topology.publish = publishes;
    spec.kubelet = new DesiredKubelet();
    spec.kubelet.hash = planned.hash();
    spec.kubelet.verificationWindow = policy.getSpec().rollout.verification.window;
    spec.kubelet.fragment = planned.fragment();
    spec.kubelet.file = NodePlan.file(status) == File.DropIn ? null : File.MainFile;
    state.setSpec(spec);
    state.setStatus(null);
    return state;
  }

  private List<OwnerReference> owner(String name) {
    return inventory.node(name).stream()
        .map(
            node ->
                new OwnerReferenceBuilder()
                    .withApiVersion("v1")
                    .withKind("Node")
                    .withName(name)
                    .withUid(Objects.requireNonNullElse(node.getMetadata().getUid(), ""))
                    .build())
        .toList();
  }

  private String file(NumaNodeStateStatus status) {
    if (!agentDelivers(status)) {
      return "delivered by " + delivery(status);
    }
    var kubelet = status.inventory.kubelet;
    if (NodePlan.file(status) == File.MainFile) {
      return "into its main file " + kubelet.configFile;
    }
    return Optional.ofNullable(kubelet.dropInDirectory)
        .or(() -> Optional.ofNullable(kubelet.newDropInDirectory))
        .map(directory -> directory + "/" + Names.DROP_IN_FILE)
        .orElse(Names.DROP_IN_FILE);
  }
}
