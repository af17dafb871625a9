package io.numaoperator.operator;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Has nodes judged anew when a pass over a policy finds what they are judged with to be another:
 * one of them may have been judged after the change that the pass is for, and before the pass.
 */
@ApplicationScoped
class ClusterViews {
  private final AtomicReference<Optional<ClusterView>> last =
      new AtomicReference<>(Optional.empty());
  private final List<Consumer<Predicate<String>>> listeners = new CopyOnWriteArrayList<>();

  /**
   * @param action called with the nodes that this concerns
   */
  void onChange(Consumer<Predicate<String>> action) {
    listeners.add(action);
  }

  /** To be told of each pass's; the first one's nodes are judged after it. */
  void passed(ClusterView now) {
    last.getAndSet(Optional.of(now))
        .flatMap(now::differsFrom)
        .ifPresent(concerned -> listeners.forEach(listener -> listener.accept(concerned)));
  }
}
