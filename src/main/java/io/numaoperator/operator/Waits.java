package io.numaoperator.operator;

import io.numaoperator.rollout.Wait;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * What each node waits for, as the last pass over its policy said: who judges one node alone cannot
 * know that. It is derived, so a restart loses nothing.
 */
@ApplicationScoped
class Waits {
  private final Map<String, Map<String, Wait>> byPolicy = new ConcurrentHashMap<>();
  private final CopyOnWriteArrayList<Consumer<String>> listeners = new CopyOnWriteArrayList<>();

  /** Empty before the policy's first pass: a node that is judged then would be judged twice. */
  Optional<Map<String, Wait>> of(String policy) {
    return Optional.ofNullable(byPolicy.get(policy));
  }

  /**
   * @param nodes all nodes of the policy
   */
  void set(String policy, Iterable<String> nodes, Map<String, Wait> waits) {
    var before = Optional.ofNullable(byPolicy.put(policy, Map.copyOf(waits)));
    var changed = new HashSet<String>();
    nodes.forEach(changed::add);
    before.ifPresent(
        known ->
            changed.removeIf(
                node ->
                    Optional.ofNullable(known.get(node))
                        .equals(Optional.ofNullable(waits.get(node)))));
    changed.forEach(node -> listeners.forEach(listener -> listener.accept(node)));
  }

  void forget(String policy) {
    byPolicy.remove(policy);
  }

  /** Called with each node whose wait changed. */
  void onChange(Consumer<String> listener) {
    listeners.add(listener);
  }
}
