package io.numaoperator.scheduler;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
  private final Set<String> underWay = ConcurrentHashMap.newKeySet();

  Binder(ExtenderApi api, ClusterState state, Supplier<Judge> judge, Clock clock) {
    this.api = api;
    this.state = state;
    this.judge = judge;
    this.clock = clock;
  }

  /**
   * Binds it.
   *
   * @param counted run when the state counts the pod on the node, before the API server was asked:
   *     who is judged from then on is judged beside it
   * @return why not, for kube-scheduler's event; empty when it is bound
   */
  Optional<String> bind(String namespace, String name, String uid, String node, Runnable counted) {
    // kube-scheduler asks again when we took too long: what counts the pod meanwhile is no fact yet
    if (!underWay.add(uid)) {
      return Optional.of("its former binding is still under way");
    }
    try {
      return bindOnce(namespace, name, uid, node, counted);
    } finally {
      underWay.remove(uid);
    }
  }

  private Optional<String> bindOnce(
      String namespace, String name, String uid, String node, Runnable counted) {
    var pod = state.pod(uid).or(() -> live(namespace, name, uid));
    if (pod.isEmpty()) {
      return Optional.of("the pod is gone");
    }
    if (pod.get().node().isPresent()) {
      // kube-scheduler asks again when our answer to the first time got lost
      return elsewhere(pod.get(), node);
    }
    var lock = locks.computeIfAbsent(node, n -> new ReentrantLock());
    lock.lock();
    var bound = false;
    try {
      var problem = bindAlone(pod.get(), node, counted);
      bound = problem.isEmpty();
      return problem;
    } finally {
      if (!bound) {
        state.notBound(pod.get());
      }
      lock.unlock();
    }
  }

  private Optional<PodView> live(String namespace, String name, String uid) {
    var live = api.pod(namespace, name).filter(pod -> pod.getMetadata().getUid().equals(uid));
    live.ifPresent(state::put);
    return live.map(PodView::of);
  }

  private static Optional<String> elsewhere(PodView pod, String node) {
    return pod.node().filter(there -> !there.equals(node)).map("it is bound to %s"::formatted);
  }

  /**
   * What the watch has shown is enough where the pod suits: the decision is written on condition
   * that the object is still of the version that was judged. All else is read anew, for the watch
   * may be behind.
   */
  private Optional<String> bindAlone(PodView pod, String node, Runnable counted) {
    var version = state.topologyVersion(node); // before the look: the watch goes on meanwhile
    learnDecided(node);
    if (judge(pod, node) instanceof Verdict.Suits && decide(version, pod, node, counted)) {
      return carryOut(pod, node);
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      var object = api.topology(node);
      object.ifPresentOrElse(state::put, () -> state.removeTopology(node));
      learnDecided(node);
      switch (judge(pod, node)) {
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
          if (decide(object.orElseThrow().getMetadata().getResourceVersion(), pod, node, counted)) {
            return carryOut(pod, node);
          }
        }
      }
    }
    return Optional.of("its NodeResourceTopology changes too fast");
  }

  private Verdict judge(PodView pod, String node) {
    return judge.get().judge(state.node(node), pod);
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

  private boolean decide(String version, PodView pod, String node, Runnable counted) {
    state.bound(pod, node);
    counted.run();
    var written = api.decide(node, version, state.decisions(node).plus(pod, clock.instant()));
    written.ifPresentOrElse(state::put, () -> state.notBound(pod)); // it is looked at anew
    return written.isPresent();
  }

  private Optional<String> carryOut(PodView pod, String node) {
    return post(pod, node).map(problem -> undo(pod, node, problem));
  }

  private Optional<String> post(PodView pod, String node) {
    try {
      api.bind(pod.namespace(), pod.name(), pod.uid(), node);
    } catch (KubernetesClientException refused) {
      return notPosted(pod, node, refused);
    }
    state.bound(pod, node);
    return Optional.empty();
  }

  /** It may be gone, or be bound already: by another replica, or by us, had the answer got lost. */
  private Optional<String> notPosted(PodView pod, String node, KubernetesClientException refused) {
    var live = live(pod.namespace(), pod.name(), pod.uid());
    if (live.isEmpty()) {
      state.remove(pod.uid());
      return Optional.of("the pod is gone");
    }
    return live.get().node().isPresent()
        ? elsewhere(live.get(), node)
        : Optional.of("the API server refused the binding: " + refused.getMessage());
  }

  /** Frees the zone at once; should that fail, it is free when the decision is forgotten. */
  private String undo(PodView pod, String node, String problem) {
    api.topology(node)
        .flatMap(
            seen -> {
              state.put(seen); // what another replica decided meanwhile stays
              return api.decide(
                  node,
                  seen.getMetadata().getResourceVersion(),
                  state.decisions(node).without(pod.uid()));
            })
        .ifPresent(state::put);
    return problem;
  }
}
