package io.numaoperator.plan;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.numaoperator.api.NodeSelector;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import org.assertj.core.api.Assertions;

/** Policies and cluster facts for tests. */
public final class Policies {
  private Policies() {}

  /** A policy for nodes labelled pool=NAME; day is the day of June 2026 on which it was made. */
  public static NumaPolicy policy(String name, int day, Consumer<NumaPolicySpec> change) {
    var policy = new NumaPolicy();
    policy.setMetadata(
        new ObjectMetaBuilder()
            .withName(name)
            .withUid("uid-of-" + name)
            .withCreationTimestamp("2026-06-%02dT10:00:00Z".formatted(day))
            // a GitOps tool's, which must never reach what we make
            .withLabels(Map.of("argocd.argoproj.io/instance", "platform"))
            .withAnnotations(Map.of("argocd.argoproj.io/tracking-id", "platform:" + name))
            .build());
    var spec = new NumaPolicySpec();
    spec.mode = NumaPolicySpec.Mode.Enforce;
    spec.nodeSelector = new NodeSelector();
    spec.nodeSelector.matchLabels.put("pool", name);
    change.accept(spec);
    policy.setSpec(spec);
    return policy;
  }

  public static NumaPolicy policy(String name, int day) {
    return policy(name, day, spec -> {});
  }

  /** A cluster whose API server and kubelets are of 1.{@code minor}. */
  public static ClusterFacts cluster(int minor) {
    return cluster(minor, minor);
  }

  public static ClusterFacts cluster(int serverMinor, int oldestKubeletMinor) {
    return new ClusterFacts(
        "numa-operator-system",
        "registry.example/numa-operator:1.2.3",
        new ClusterVersion(1, serverMinor),
        new ClusterVersion(1, oldestKubeletMinor),
        false);
  }

  /** The function's result is the same for each of many orders of the list. */
  public static <T, R> void assertStable(List<T> input, Function<List<T>, R> function) {
    var expected = function.apply(input);
    var random = new Random(20260615);
    for (int i = 0; i < 50; i++) {
      var shuffled = new ArrayList<>(input);
      Collections.shuffle(shuffled, random);
      Assertions.assertThat(function.apply(shuffled)).isEqualTo(expected);
    }
  }
}
