package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.explain.ExplainedLoop;
import io.numaoperator.explain.Loop;
import io.numaoperator.explain.NodeAnswer;
import io.numaoperator.explain.NodeFacts;
import io.numaoperator.explain.Owner;
import io.numaoperator.explain.Rejection;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Tells why pods are rejected: an Event on the pod, or on its owner once it goes round in a loop,
 * and counts. What was rejected before this replica led is not counted.
 */
@ApplicationScoped
class RejectionStory {
  /** An agent publishes what is free every 5 s: who took it last may not be in the numbers yet. */
  private static final Duration NEXT_REPORT = Duration.ofSeconds(6);

  /** Older ones are not told: kube-apiserver keeps Events for an hour. */
  private static final Duration TOLD = Duration.ofMinutes(5);

  private final ClusterCache cache;
  private final Events events;
  private final Meters meters;
  private volatile Instant begun = Instant.MIN;

  @Inject
  RejectionStory(ClusterCache cache, Events events, Meters meters) {
    this.cache = cache;
    this.events = events;
    this.meters = meters;
  }

  /** From now on it counts. */
  void begin(Instant now) {
    begun = now.minusSeconds(1); // times of rejections are in whole seconds
  }

  /**
   * @param looping whether it is part of a loop, which is told as such
   * @param later where to try again
   */
  void rejected(Rejection rejection, boolean looping, ScheduledExecutorService later) {
    if (rejection.at().isBefore(begun)) {
      return;
    }
    meters.rejected(rejection.node(), rejection.reason());
    if (looping || rejection.at().isBefore(Instant.now().minus(TOLD))) {
      return;
    }
    if (NodeAnswer.of(rejection.request(), facts(rejection.node())).takesIt()) {
      var unused =
          later.schedule(() -> tell(rejection), NEXT_REPORT.toMillis(), TimeUnit.MILLISECONDS);
    } else {
      tell(rejection);
    }
  }

  private void tell(Rejection rejection) {
    if (events.tell(pod(rejection), "rejected", true, "RejectionExplained", cause(rejection))) {
      explained(rejection);
    }
  }

  private void explained(Rejection rejection) {
    meters.explained(Duration.between(rejection.at(), Instant.now()));
  }

  /** A loop that is new, or of which there is more to say. */
  ExplainedLoop looping(Loop loop) {
    var explained = new ExplainedLoop(loop, cause(loop.newest()));
    var key = "loop %s %d %s".formatted(loop.since(), loop.podsTold(), loop.nodes());
    if (events.tell(owner(loop.owner()), key, true, "RejectionLoop", explained.text())
        && !loop.newest().at().isBefore(begun)) {
      explained(loop.newest());
    }
    return explained;
  }

  private String cause(Rejection rejection) {
    return rejection.cause(facts(rejection.node()), scheduler(rejection.node()));
  }

  private NodeFacts facts(String node) {
    return NodeFacts.of(node, cache.states().get(node), cache.topologies().get(node));
  }

  /** Who sees NUMA nodes, by the policy that has the node. */
  private Optional<String> scheduler(String node) {
    return cache
        .states()
        .get(node)
        .flatMap(state -> cache.policies().get(state.getSpec().policy))
        .map(policy -> policy.getSpec().scheduler)
        .filter(RejectionStory::isKnown)
        .map(scheduler -> scheduler.schedulerName);
  }

  private static boolean isKnown(SchedulerPolicy scheduler) {
    return switch (scheduler.provider) {
      case Auto, BuiltIn, NodeResourceTopologyMatch -> true;
      case KAI, External, None -> false;
    };
  }

  private static ObjectReference pod(Rejection rejection) {
    int slash = rejection.pod().indexOf('/');
    return new ObjectReferenceBuilder()
        .withApiVersion("v1")
        .withKind("Pod")
        .withNamespace(rejection.pod().substring(0, slash))
        .withName(rejection.pod().substring(slash + 1))
        .withUid(rejection.uid())
        .build();
  }

  private static ObjectReference owner(Owner owner) {
    return new ObjectReferenceBuilder()
        .withApiVersion(owner.reference().getApiVersion())
        .withKind(owner.reference().getKind())
        .withNamespace(owner.namespace())
        .withName(owner.reference().getName())
        .withUid(owner.reference().getUid())
        .build();
  }
}
