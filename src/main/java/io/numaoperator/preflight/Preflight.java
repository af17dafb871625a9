package io.numaoperator.preflight;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.kubelet.ConfigComparison;
import io.numaoperator.kubelet.FragmentRules;
import io.numaoperator.kubelet.KubeletVersion;
import io.numaoperator.plan.delivery.DeliveryChoice;
import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What must hold on a node beside the plan itself. Whether the agent is alive is not asked here.
 */
public final class Preflight {
  private Preflight() {}

  /**
   * What is judged.
   *
   * @param policy what the node's policy asks for
   * @param status what the node's agent saw
   * @param nodeBootId the boot id in the Node's status
   * @param ahead how many minor versions newer than it is the kubelet is taken to be
   */
  public record Input(
      KubeletPolicy policy, NumaNodeStateStatus status, String nodeBootId, int ahead) {
    public Input(KubeletPolicy policy, NumaNodeStateStatus status, String nodeBootId) {
      this(policy, status, nodeBootId, 0);
    }

    KubeletFacts kubelet() {
      return status.inventory.kubelet;
    }

    Optional<KubeletVersion> version() {
      return KubeletVersion.parse(Objects.requireNonNullElse(kubelet().version, ""))
          .map(v -> ahead == 0 ? v : new KubeletVersion(v.major(), v.minor() + ahead, 0));
    }

    Map<String, Boolean> featureGates() {
      return Objects.requireNonNullElse(status.effective.featureGates, Map.of());
    }

    List<String> managedByFlag() {
      return Objects.requireNonNullElse(kubelet().managedByFlag, List.of());
    }

    /** Who brings the settings to this node; never Auto. */
    Delivery delivery() {
      return DeliveryChoice.of(policy.delivery, Optional.ofNullable(kubelet().platform));
    }

    /** Whether our agent is to write a file on the node. */
    boolean agentDelivers() {
      return delivery() == Delivery.Agent;
    }
  }

  /** What keeps a plan from being made; the first violation. */
  public static Optional<Refused> check(Input node) {
    return Checks.first(node, NodeChecks.ALL);
  }

  /**
   * What keeps a fragment from taking effect on this node, or its kubelet from starting with it.
   * The planner plans nothing of the kind; this looks at the fragment again without knowing how it
   * was made, and at what the node's other files and flags make of it.
   */
  public static Optional<Refused> check(Input node, KubeletFragment planned) {
    return fragmentIsAllowed(planned)
        .or(() -> node.agentDelivers() ? noFlagIsInTheWay(node, planned) : Optional.empty())
        .or(
            () -> {
              var start = Start.of(node, planned);
              return (node.agentDelivers() ? nothingOverridesIt(start) : Optional.<Refused>empty())
                  .or(() -> Checks.first(start, CpuChecks.ALL))
                  .or(() -> Checks.first(start, MemoryChecks.ALL));
            });
  }

  /** The agent would refuse it. */
  private static Optional<Refused> fragmentIsAllowed(KubeletFragment planned) {
    return FragmentRules.violations(planned).stream()
        .findFirst()
        .map(
            fault ->
                new Refused(
                    "FragmentNotAllowed",
                    "The drop-in would say what no agent accepts: %s.".formatted(fault)));
  }

  private static Optional<Refused> noFlagIsInTheWay(Input node, KubeletFragment planned) {
    return ConfigComparison.differences(planned, node.status().effective.settings).stream()
        .filter(difference -> node.managedByFlag().contains(difference.field().fieldName()))
        .findFirst()
        .map(
            difference ->
                new Refused(
                    "SetByFlag",
                    "%s, but %s is set on the kubelet's command line, which wins over every file."
                            .formatted(difference.message(), difference.field().fieldName())
                        + " Move it from there into the kubelet's configuration file."));
  }

  private static Optional<Refused> nothingOverridesIt(Start start) {
    var differences = ConfigComparison.mismatches(start.fragment(), start.settings());
    return Checks.refuseIf(
        !start.overriding().isEmpty() && !differences.isEmpty(),
        "OverriddenByDropIn",
        "Drop-in %s in the kubelet's directory is read after the operator's and wins over it: %s."
            + " Remove the field from that file, or the file.",
        String.join(", ", start.overriding()),
        String.join("; ", differences));
  }
}
