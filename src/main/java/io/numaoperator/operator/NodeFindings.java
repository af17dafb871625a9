package io.numaoperator.operator;

import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import io.numaoperator.plan.delivery.DeliveryChoice;
import io.numaoperator.plan.kubelet.KubeletPlan;
import io.numaoperator.plan.kubelet.KubeletPlan.Planned;
import io.numaoperator.preflight.Divergence;
import io.numaoperator.preflight.NodePlan;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What a policy's kubelet settings come to on a node as it was last seen. That takes a millisecond,
 * and every pass over the policy asks it of every node: so each answer is worked out at the first
 * question, and kept as long as settings and observation are the same ({@link Plans}).
 */
final class NodeFindings {
  private final KubeletPolicy settings;
  private final boolean restores;
  private volatile NumaNodeStateStatus seen;
  private final String bootId;
  private final Once<Optional<KubeletPlan>> plan = new Once<>(this::findPlan);
  private final Once<Divergence> divergence = new Once<>(this::findDivergence);
  private final Once<Optional<String>> hash = new Once<>(this::findHash);
  private final Once<Optional<String>> afterUpgrade = new Once<>(this::findAfterUpgrade);
  private final Once<Optional<NumaNodeStateStatus.Plan>> report = new Once<>(this::findReport);

  /**
   * @param restores the node is to get back the settings of its owner
   * @param bootId of the Node now
   */
  NodeFindings(KubeletPolicy settings, boolean restores, NumaNodeStateStatus seen, String bootId) {
    this.settings = settings;
    this.restores = restores;
    this.seen = seen;
    this.bootId = bootId;
  }

  /** An answer that is worked out once; twice when two ask at the same time, to the same result. */
  private static final class Once<T> {
    private final Supplier<T> question;
    private volatile Optional<T> answer = Optional.empty();

    Once(Supplier<T> question) {
      this.question = question;
    }

    T get() {
      var known = answer;
      if (known.isEmpty()) {
        known = Optional.of(question.get());
        answer = known;
      }
      return known.get();
    }
  }

  NumaNodeStateStatus seen() {
    return seen;
  }

  /** Another object that says the same: the former one, of many kB, need not be kept for it. */
  void seenAgain(NumaNodeStateStatus same) {
    seen = same;
  }

  /** Empty while the node's inventory or its running kubelet's settings are not known. */
  Optional<KubeletPlan> plan() {
    return plan.get();
  }

  Optional<Planned> planned() {
    return plan().filter(Planned.class::isInstance).map(Planned.class::cast);
  }

  /** How the node stands to its plan, which there must be. */
  Divergence divergence() {
    return divergence.get();
  }

  /** The hash by which its plan is approved. While nothing is known of it, its last one counts. */
  Optional<String> hash() {
    return hash.get();
  }

  /** What of the plan the kubelet's next version would stop at. */
  Optional<String> afterUpgrade() {
    return afterUpgrade.get();
  }

  /** What the node's object says of its plan; while nothing is known of it, what it said last. */
  Optional<NumaNodeStateStatus.Plan> report() {
    return report.get();
  }

  /** Never Auto. */
  Delivery delivery() {
    return DeliveryChoice.of(settings.delivery, platform());
  }

  Optional<Platform> platform() {
    return Optional.ofNullable(seen.inventory)
        .flatMap(inventory -> Optional.ofNullable(inventory.kubelet))
        .flatMap(kubelet -> Optional.ofNullable(kubelet.platform));
  }

  private boolean agentDelivers() {
    return delivery() == Delivery.Agent;
  }

  private Optional<KubeletPlan> findPlan() {
    if (!isKnown()) {
      return Optional.empty();
    }
    return Optional.of(restores ? Divergence.withoutDropIn() : NodePlan.of(settings, seen, bootId));
  }

  /** Nothing is concluded from what another boot or another process of the kubelet said. */
  private boolean isKnown() {
    return seen.inventory != null
        && seen.inventory.kubelet != null
        && seen.inventory.kubelet.pid != null
        && seen.effective != null
        && Objects.equals(seen.effective.pid, seen.inventory.kubelet.pid)
        && Objects.equals(seen.bootId, bootId);
  }

  /** Of what others delivered the agent takes nothing back. */
  private Divergence findDivergence() {
    if (restores) {
      return agentDelivers() ? Divergence.fromOwn(seen) : Divergence.none();
    }
    var planned = planned().orElseThrow();
    return agentDelivers() ? Divergence.of(planned, seen) : Divergence.ofRunning(planned, seen);
  }

  private Optional<String> findHash() {
    return plan().isPresent()
        ? planned().map(this::hash)
        : Optional.ofNullable(seen.plan).map(p -> p.hash);
  }

  /**
   * Where others deliver, the node's own settings of before are not known once they have: so its
   * plan goes by what is to be set, to the byte, which is the same before and after.
   */
  private String hash(Planned planned) {
    return agentDelivers() ? PlanReport.hash(settings, planned, seen) : planned.hash();
  }

  private Optional<NumaNodeStateStatus.Plan> findReport() {
    return plan().isPresent()
        ? planned().map(p -> PlanReport.of(hash(p), p, seen, afterUpgrade()))
        : Optional.ofNullable(seen.plan);
  }

  private Optional<String> findAfterUpgrade() {
    return restores ? Optional.empty() : NodePlan.afterUpgrade(settings, seen, bootId);
  }
}
