package io.numaoperator.scheduler;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.nrt.NodeResourceTopology;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Binds a pod to the node that kube-scheduler chose, after one more look: between its filter and
 * here other pods were bound, and other replicas decide too.
 */
final class Binder {
  /** Writers of one object: its agent and the replicas. */
  private static final int ATTEMPTS = 10;

  private final ExtenderApi api;
  private final ClusterState state;
  private final Supplier<Judge> judge;
  private final Clock clock;
  private final Map<String, ReentrantLock> locks = new ConcurrentHashMap<>();

  Binder(ExtenderApi api, ClusterState state, Supplier<Judge> judge, Clock clock) {
    this.api = api;
    this.state = state;
    this.judge = judge;
    this.clock = clock;
  }

  /**
   * Binds it.
   *
   * @return why not, for kube-scheduler's event; empty when it is bound
   */
  Optional<String> bind(String namespace, String name, String uid, String node) {
    var live = api.pod(namespace, name).filter(pod -> pod.getMetadata().getUid().equals(uid));
    if (live.isEmpty()) {
      return Optional.of("the pod is gone");
    }
    state.put(live.get());
    var pod = PodView.of(live.get());
    if (pod.node().isPresent()) {
      // kube-scheduler asks again when our answer to the first time got lost
      return pod.node().filter(there -> !there.equals(node)).map("it is bound to %s"::formatted);
    }
    var lock = locks.computeIfAbsent(node, n -> new ReentrantLock());
    lock.lock();
    try {
      return bindAlone(pod, node);
    } finally {
      lock.unlock();
    }
  }

  private Optional<String> bindAlone(PodView pod, String node) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      var object = api.topology(node);
      object.ifPresentOrElse(state::put, () -> state.removeTopology(node));
      learnDecided(node);
      switch (judge.get().judge(state.node(node), pod)) {
        case Verdict.NotNow no -> {
          return Optional.of(no.message());
        }
        case Verdict.Never no -> {
          return Optional.of(no.message());
        }
        case Verdict.Indifferent _ -> {
          return post(pod, node);
        }
        case Verdict.Suits _ -> {
          if (decide(object.orElseThrow(), pod, node)) {
            return post(pod, node).map(problem -> undo(pod, node, problem));
          }
        }
      }
    }
    return Optional.of("its NodeResourceTopology changes too fast");
  }

  /** What another replica decided may not have reached our watch. */
  private void learnDecided(String node) {
    for (var decision : state.decisions(node).all()) {
      if (state.pod(decision.uid()).isEmpty()) {
        api.pod(decision.namespace(), decision.name())
            .filter(pod -> pod.getMetadata().getUid().equals(decision.uid()))
            .ifPresent(state::put);
      }
    }
  }

  private boolean decide(NodeResourceTopology seen, PodView pod, String node) {
    var written = api.decide(seen, state.decisions(node).plus(pod, clock.instant()));
    written.ifPresent(state::put);
    return written.isPresent();
  }

  private Optional<String> post(PodView pod, String node) {
    try {
      api.bind(pod.namespace(), pod.name(), pod.uid(), node);
    } catch (KubernetesClientException refused) {
      return Optional.of("the API server refused the binding: " + refused.getMessage());
    }
    state.bound(pod, node);
    return Optional.empty();
  }

  /** Frees the zone at once; should that fail, it is free when the decision is forgotten. */
  private String undo(PodView pod, String node, String problem) {
    api.topology(node)
        .flatMap(seen -> api.decide(seen, state.decisions(node).without(pod.uid())))
        .ifPresent(state::put);
    return problem;
  }
}
