package io.numaoperator.readiness;

import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.Wait;
import java.util.List;
import java.util.Optional;

/**
 * All that is known about a node when it is judged.
 *
 * @param policy the spec of the policy that has the node
 * @param paused the policy's rollout is paused
 * @param node the Node object's part
 * @param agent how its agent is
 * @param plan what the policy means for this node
 * @param progress where its change stands
 * @param waitsFor what its change waits for, as far as the rollout has said
 * @param observed what its agent saw; empty fields when nothing yet
 * @param topology what is published about it
 * @param scheduler whether a NUMA-aware scheduler knows it
 * @param devices what its device plugins are to load, and what is seen of them
 */
public record NodeEvidence(
    NumaPolicySpec policy,
    boolean paused,
    NodeFacts node,
    Agent agent,
    Plan plan,
    NodeProgress progress,
    Optional<Wait> waitsFor,
    NumaNodeStateStatus observed,
    Topology topology,
    Scheduler scheduler,
    DeviceEvidence devices) {

  /**
   * What the Node object says.
   *
   * @param ready its Ready condition is True
   * @param bootId the boot that the kubelet reported
   */
  public record NodeFacts(String name, boolean ready, String bootId) {}

  /** How a node's agent is. */
  public sealed interface Agent {
    /** Its pod runs and its observations are of the current boot. */
    record Alive() implements Agent {}

    /** As alive, but of another version than the operator: it is given nothing to do. */
    record Outdated(String why) implements Agent {}

    /** It cannot be relied on now, for this reason (CamelCase) and in these words. */
    record Silent(String reason, String why) implements Agent {}
  }

  /** What the policy means for a node. */
  public sealed interface Plan {
    /** Its inventory, or what its running kubelet is set to, is not known (yet). */
    record Awaited() implements Plan {}

    /** The policy cannot be carried out on this node. */
    record Refused(String reason, String message) implements Plan {}

    /**
     * Somebody else than the agent brings the settings to the node.
     *
     * @param differences fields of the running kubelet that are not as wanted
     * @param reason what the node waits for while it differs (CamelCase)
     * @param message the same for a person
     */
    record Elsewhere(List<String> differences, String reason, String message) implements Plan {
      public Elsewhere {
        differences = List.copyOf(differences);
      }
    }

    /**
     * @param hash of the drop-in
     * @param differences where the node is not as wanted, for a person to read
     * @param drifted the plan was carried out, and somebody undid it
     * @param nextVersion what would stop it after an upgrade to the next Kubernetes version
     */
    record Ready(
        String hash, List<String> differences, boolean drifted, Optional<String> nextVersion)
        implements Plan {
      public Ready(String hash, List<String> differences) {
        this(hash, differences, false, Optional.empty());
      }

      public Ready {
        differences = List.copyOf(differences);
      }
    }
  }

  /** Whether a NUMA-aware scheduler knows a node. */
  public sealed interface Scheduler {
    /** The policy has none, and its owner accepts what that means. */
    record NotWanted() implements Scheduler {}

    /** One that this operator cannot judge. */
    record NotJudged(String why) implements Scheduler {}

    /** It looks at its pods, and its owner says that it sees zones: nobody can check that. */
    record Assumed(String scheduler) implements Scheduler {}

    /** It does not place pods now. */
    record Down(String why) implements Scheduler {}

    /** It works, but does not see this node's zones. */
    record Unaware(String why) implements Scheduler {}

    /**
     * It works and has read this node's topology.
     *
     * @param foreignPods how many pods with devices on the node were bound by another scheduler
     */
    record Aware(int foreignPods) implements Scheduler {}
  }

  /** What is published about a node. */
  public sealed interface Topology {
    /** Nothing that this operator could judge yet. */
    record NotJudged(String why) implements Topology {}

    /** No NodeResourceTopology. */
    record Missing() implements Topology {}

    /**
     * @param differences from what the kubelet says; empty when it agrees
     */
    record Published(List<String> differences) implements Topology {
      public Published {
        differences = List.copyOf(differences);
      }
    }
  }
}
