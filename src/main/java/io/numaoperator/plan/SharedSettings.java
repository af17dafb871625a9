package io.numaoperator.plan;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The settings that are the cluster's though each policy states them: topology updater and
 * scheduler. Equal settings are shared; where policies disagree, those of the oldest that enforces
 * hold, else of the oldest, and each other one that differs has a conflict.
 *
 * @param senior name of the policy whose settings hold
 * @param enforced whether a policy enforces them; else all are in mode Observe, and nothing is made
 * @param conflicts by policy name, then field
 */
public record SharedSettings(
    String senior,
    boolean enforced,
    TopologyUpdaterPolicy topologyUpdater,
    SchedulerPolicy scheduler,
    List<Conflict> conflicts) {

  /**
   * A policy's setting that does not hold.
   *
   * @param field the field below spec
   */
  public record Conflict(String policy, String field, String senior) {}

  public SharedSettings {
    conflicts = List.copyOf(conflicts);
  }

  /** Empty when there is no policy. */
  public static Optional<SharedSettings> of(List<NumaPolicy> policies) {
    var bySeniority = policies.stream().sorted(seniority()).toList();
    return bySeniority.stream()
        .filter(SharedSettings::enforces)
        .findFirst()
        .or(() -> bySeniority.stream().findFirst())
        .map(senior -> settings(senior, bySeniority));
  }

  /**
   * Oldest first; name decides between policies of the same second. One without creation time was
   * never created, so it is the youngest.
   */
  public static Comparator<NumaPolicy> seniority() {
    // RFC 3339 in UTC, as the API server writes it, sorts as text
    return Comparator.comparing(
            (NumaPolicy policy) -> policy.getMetadata().getCreationTimestamp(),
            Comparator.nullsLast(Comparator.naturalOrder()))
        .thenComparing(policy -> policy.getMetadata().getName());
  }

  private static SharedSettings settings(NumaPolicy senior, List<NumaPolicy> policies) {
    var name = senior.getMetadata().getName();
    var conflicts = new ArrayList<Conflict>();
    for (var policy : policies) {
      var other = policy.getMetadata().getName();
      if (differ(policy.getSpec().scheduler, senior.getSpec().scheduler)) {
        conflicts.add(new Conflict(other, "scheduler", name));
      }
      if (differ(policy.getSpec().topologyUpdater, senior.getSpec().topologyUpdater)) {
        conflicts.add(new Conflict(other, "topologyUpdater", name));
      }
    }
    conflicts.sort(Comparator.comparing(Conflict::policy).thenComparing(Conflict::field));
    return new SharedSettings(
        name,
        enforces(senior),
        senior.getSpec().topologyUpdater,
        senior.getSpec().scheduler,
        conflicts);
  }

  /** Whether it may change anything. */
  public static boolean enforces(NumaPolicy policy) {
    return policy.getSpec().mode == Mode.Enforce;
  }

  private static boolean differ(Object one, Object other) {
    return !tree(one).equals(tree(other));
  }

  private static JsonNode tree(Object wire) {
    return new JsonMapper().valueToTree(wire);
  }
}
