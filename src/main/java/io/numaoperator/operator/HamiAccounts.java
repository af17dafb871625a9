package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.plan.device.HamiPod;
import io.numaoperator.plan.device.HamiValues;
import io.numaoperator.plan.device.RunningPlugin;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * For the pods with GPUs on a node with HAMi: whether HAMi accounts for the GPUs that they run on.
 * A pod is looked at when its agent first tells of its GPUs, and seldom again: an allocation is
 * moved before its container starts, and hardly after.
 */
@ApplicationScoped
class HamiAccounts {
  private static final Duration AGAIN = Duration.ofMinutes(5);

  /** The annotation is written about when the kubelet gives the GPUs out. */
  private static final Duration UNSETTLED = Duration.ofSeconds(10);

  private final KubernetesClient client;
  private final NodeStory story;
  private final Map<String, Map<String, Seen>> nodes = new ConcurrentHashMap<>();

  /** What was found out of a pod with these GPUs. */
  private record Seen(Set<String> gpus, Optional<String> disagreement, Instant until) {}

  @Inject
  HamiAccounts(KubernetesClient client, NodeStory story) {
    this.client = client;
    this.story = story;
  }

  /** What was found out of the node's pods, for a person. */
  List<String> differences(String node) {
    var differences = new ArrayList<String>();
    new TreeMap<>(nodes.getOrDefault(node, Map.of()))
        .values()
        .forEach(seen -> seen.disagreement().ifPresent(differences::add));
    return differences;
  }

  /**
   * Looks at pods that the agent tells of anew.
   *
   * @param plugin HAMi's on the node; without it there is nothing to look at
   */
  void look(NumaNodeState state, Optional<RunningPlugin> plugin) {
    var node = state.getMetadata().getName();
    if (plugin.isEmpty()) {
      nodes.remove(node);
      return;
    }
    var before = nodes.getOrDefault(node, Map.of());
    var now = Instant.now();
    var seen = new HashMap<String, Seen>();
    given(state)
        .forEach(
            (pod, gpus) -> {
              var known =
                  Optional.ofNullable(before.get(pod))
                      .filter(s -> s.gpus().equals(gpus) && now.isBefore(s.until()));
              seen.put(pod, known.orElseGet(() -> look(pod, gpus, plugin.get(), now)));
            });
    nodes.put(node, seen);
  }

  private static Map<String, Set<String>> given(NumaNodeState state) {
    var given = new TreeMap<String, Set<String>>();
    if (state.getStatus() != null && state.getStatus().containers != null) {
      for (PlacedContainer container : state.getStatus().containers.placed) {
        if (container.gpus != null && !container.gpus.isEmpty()) {
          given.computeIfAbsent(container.pod, pod -> new TreeSet<>()).addAll(container.gpus);
        }
      }
    }
    return given;
  }

  private Seen look(String name, Set<String> gpus, RunningPlugin plugin, Instant now) {
    var parts = name.split("/", 2);
    var pod = client.pods().inNamespace(parts[0]).withName(parts[1]).get();
    if (pod == null) {
      return new Seen(gpus, Optional.empty(), now.plus(UNSETTLED));
    }
    var annotations = Optional.ofNullable(pod.getMetadata().getAnnotations()).orElse(Map.of());
    var hami = new HamiPod(name, gpus, annotations, Optional.of(HamiValues.hasRefit(plugin)));
    var disagreement = hami.disagreement();
    tell(pod, disagreement, hami.warning());
    return new Seen(gpus, disagreement, now.plus(disagreement.isPresent() ? UNSETTLED : AGAIN));
  }

  private void tell(Pod pod, Optional<String> disagreement, Optional<String> warning) {
    disagreement.ifPresent(what -> story.pod(pod, "HAMiAccountsDiffer", what));
    warning.ifPresent(what -> story.pod(pod, "HAMiStrictOnlyLogs", what));
  }
}
