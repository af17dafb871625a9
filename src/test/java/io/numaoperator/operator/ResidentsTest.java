package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.rollout.Drain.Kind;
import io.numaoperator.rollout.Drain.Resident;
import java.time.Instant;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ResidentsTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:01:00Z");
  private static final String OPERATOR = "numa-operator-system/numa-operator-0";

  private static Pod pod(String name, Consumer<PodBuilder> change) {
    var pod =
        new PodBuilder()
            .withNewMetadata()
            .withNamespace(name.substring(0, name.indexOf('/')))
            .withName(name.substring(name.indexOf('/') + 1))
            .endMetadata()
            .withNewSpec()
            .addNewContainer()
            .withName("main")
            .endContainer()
            .endSpec()
            .withNewStatus()
            .withPhase("Running")
            .withQosClass("Burstable")
            .withStartTime("2026-01-01T00:00:50Z")
            .endStatus();
    change.accept(pod);
    return pod.build();
  }

  private static void owned(PodBuilder pod, String kind, boolean controller) {
    pod.editMetadata()
        .addNewOwnerReference()
        .withKind(kind)
        .withName("owner")
        .withUid("uid")
        .withController(controller)
        .endOwnerReference()
        .endMetadata();
  }

  private static void asks(PodBuilder pod, String resource) {
    pod.editSpec()
        .editFirstContainer()
        .withNewResources()
        .addToRequests(resource, new Quantity("1"))
        .endResources()
        .endContainer()
        .endSpec();
  }

  private static void guaranteed(PodBuilder pod) {
    pod.editStatus().withQosClass("Guaranteed").endStatus();
  }

  static Stream<Arguments> kinds() {
    return Stream.of(
        Arguments.of(Kind.Replaced, pod("a/rs", p -> owned(p, "ReplicaSet", true))),
        Arguments.of(Kind.Replaced, pod("a/job", p -> owned(p, "Job", true))),
        Arguments.of(Kind.DaemonSet, pod("a/ds", p -> owned(p, "DaemonSet", true))),
        Arguments.of(Kind.Bare, pod("a/bare", p -> {})),
        Arguments.of(Kind.Bare, pod("a/owned", p -> owned(p, "Config", false))),
        Arguments.of(
            Kind.Static,
            pod(
                "a/static",
                p -> {
                  owned(p, "Node", true);
                  p.editMetadata()
                      .addToAnnotations("kubernetes.io/config.mirror", "hash")
                      .endMetadata();
                })),
        Arguments.of(Kind.Operator, pod(OPERATOR, p -> owned(p, "ReplicaSet", true))));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource
  void kinds(Kind kind, Pod pod) {
    assertThat(Residents.of(Stream.of(pod), OPERATOR, NOW))
        .containsExactly(new Resident(Residents.name(pod), kind, false, false));
  }

  /** The agent's report may be older than a pod that was admitted 10 s ago. */
  @Test
  void aYoungPodThatAsksForSomethingMayHoldIt() {
    assertThat(mayHold(p -> {})).isFalse();
    assertThat(mayHold(ResidentsTest::guaranteed)).isTrue();
    assertThat(mayHold(p -> asks(p, "nvidia.com/gpu"))).isTrue();
    assertThat(mayHold(p -> asks(p, "cpu"))).isFalse();
    assertThat(
            mayHold(
                p ->
                    p.editSpec()
                        .addNewResourceClaim()
                        .withName("gpu")
                        .endResourceClaim()
                        .endSpec()))
        .isTrue();
    assertThat(
            mayHold(
                p -> {
                  guaranteed(p);
                  p.editStatus().withStartTime("2026-01-01T00:00:29Z").endStatus();
                }))
        .isFalse();
    assertThat(
            mayHold(
                p -> {
                  guaranteed(p);
                  p.editStatus().withStartTime(null).endStatus();
                }))
        .isTrue();
  }

  private static boolean mayHold(Consumer<PodBuilder> change) {
    return Residents.of(Stream.of(pod("a/p", change)), OPERATOR, NOW).getFirst().mayHold();
  }

  @Test
  void finishedPodsAreNotThereAndThoseThatEndStillAre() {
    var finished = pod("a/done", p -> p.editStatus().withPhase("Succeeded").endStatus());
    var ending =
        pod(
            "a/ending",
            p -> p.editMetadata().withDeletionTimestamp("2026-01-01T00:00:59Z").endMetadata());
    assertThat(Residents.of(Stream.of(finished, ending), OPERATOR, NOW))
        .containsExactly(new Resident("a/ending", Kind.Bare, false, true));
    assertThat(Residents.differ(ending, finished)).isTrue();
    assertThat(Residents.differ(ending, ending)).isFalse();
  }
}
