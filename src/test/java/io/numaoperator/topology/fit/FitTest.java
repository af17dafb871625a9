package io.numaoperator.topology.fit;

import static io.numaoperator.topology.fit.TestNode.GI;
import static io.numaoperator.topology.fit.TestNode.GPU;
import static io.numaoperator.topology.fit.TestNode.app;
import static io.numaoperator.topology.fit.TestNode.container;
import static io.numaoperator.topology.fit.TestNode.pod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.numaoperator.topology.fit.ContainerRequest.Kind;
import io.numaoperator.topology.fit.Fit.DoesNotFit;
import io.numaoperator.topology.fit.Fit.Fits;
import io.numaoperator.topology.fit.Fit.NotAligned;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.KubeletRules.Scope;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FitTest {
  private static TestNode single() {
    return TestNode.of(Policy.SingleNumaNode, Scope.Pod);
  }

  private static TestNode byContainer() {
    return TestNode.of(Policy.SingleNumaNode, Scope.Container);
  }

  private static TestNode restricted() {
    return TestNode.of(Policy.Restricted, Scope.Pod);
  }

  private static TestNode bestEffort() {
    return TestNode.of(Policy.BestEffort, Scope.Pod);
  }

  static Stream<Arguments> whatFits() {
    return Stream.of(
        Arguments.of(
            "an empty node",
            single().zone(0, 7, 8, 4).zone(1, 7, 8, 4),
            pod(app(4, 4, 2)),
            Set.of(0)),
        Arguments.of(
            "only the second zone has the GPUs",
            single().zone(0, 7, 8, 1).zone(1, 7, 8, 2),
            pod(app(4, 4, 2)),
            Set.of(1)),
        Arguments.of(
            "only the second zone has the CPUs",
            single().zone(0, 3, 8, 4).zone(1, 4, 8, 4),
            pod(app(4, 4, 2)),
            Set.of(1)),
        Arguments.of(
            "only the second zone has the memory",
            single().zone(0, 7, 3, 4).zone(1, 7, 4, 4),
            pod(app(4, 4, 2)),
            Set.of(1)),
        Arguments.of(
            "sparse ids", single().zone(0, 3, 8, 4).zone(8, 7, 8, 4), pod(app(4, 4, 2)), Set.of(8)),
        Arguments.of(
            "one zone means no opinion", single().zone(0, 7, 8, 4), pod(app(4, 4, 2)), Set.of()),
        Arguments.of(
            "two containers in one zone",
            single().zone(0, 3, 8, 4).zone(1, 4, 8, 4),
            pod(app(2, 2, 1), container("b", Kind.App, 2000, 2, 1)),
            Set.of(1)),
        Arguments.of(
            "each container its zone",
            byContainer().zone(0, 7, 8, 2).zone(1, 7, 8, 2),
            pod(app(2, 2, 2), container("b", Kind.App, 2000, 2, 2)),
            Set.of(0, 1)),
        Arguments.of(
            "restricted: too large for a zone, both whole",
            restricted().zone(0, 7, 8, 4).zone(1, 7, 8, 4),
            pod(app(12, 12, 6)),
            Set.of(0, 1)),
        Arguments.of(
            "restricted: the narrow zones first",
            restricted().zone(0, 7, 8, 1).zone(1, 7, 8, 4),
            pod(app(4, 4, 2)),
            Set.of(1)),
        Arguments.of(
            "best-effort: across zones rather than not at all",
            bestEffort().zone(0, 7, 8, 1).zone(1, 7, 8, 1),
            pod(app(4, 4, 2)),
            Set.of(0, 1)),
        Arguments.of(
            "an init container leaves its part to the app",
            single().zone(0, 4, 8, 2).zone(1, 3, 8, 1),
            pod(container("init", Kind.Init, 4000, 4, 2), app(4, 4, 2)),
            Set.of(0)),
        Arguments.of(
            "memory of a zone without CPUs",
            single()
                .zone(0, 7, 8, 4)
                .zone(
                    new ZoneFree(
                        1,
                        0,
                        0,
                        0,
                        0,
                        Map.of("memory", new ZoneFree.Memory(8 * GI, 8 * GI)),
                        Set.of(),
                        Map.of())),
            pod(app(4, 4, 0)),
            Set.of(0)),
        Arguments.of(
            "devices without topology fit any zone",
            single().zone(0, 7, 8, 4).zone(1, 7, 8, 4).devices("example.com/any", 1, 1),
            pod(
                new ContainerRequest(
                    "main", Kind.App, 4000, Map.of("memory", GI), Map.of("example.com/any", 1L))),
            Set.of(0)),
        Arguments.of(
            "a device on both zones",
            single().zone(0, 7, 8, 4).zone(1, 7, 8, 4).devices("example.com/nic", 1, 1, 0, 1),
            pod(
                new ContainerRequest(
                    "main",
                    Kind.App,
                    4000,
                    Map.of("memory", GI),
                    Map.of("example.com/nic", 1L, GPU, 2L))),
            Set.of(0)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource
  void whatFits(String name, TestNode node, PodRequest pod, Set<Integer> zones) {
    assertThat(Fit.of(node.free(), pod))
        .isInstanceOfSatisfying(Fits.class, fits -> assertThat(fits.zones()).isEqualTo(zones));
  }

  static Stream<Arguments> whatDoesNotFit() {
    return Stream.of(
        Arguments.of(
            single().zone(0, 7, 8, 2).zone(1, 7, 8, 2),
            pod(app(4, 4, 4)),
            "zone 0 has 2 of 4 nvidia.com/gpu free, zone 1 has 2"),
        Arguments.of(
            single().zone(0, 7, 8, 1).zone(1, 3, 8, 4),
            pod(app(4, 4, 2)),
            "zone 0 has 1 of 2 nvidia.com/gpu free, zone 1 has 3 of 4 cpu free"),
        Arguments.of(
            single().zone(0, 7, 3, 4).zone(1, 7, 2, 4),
            pod(app(4, 4, 2)),
            "no zones have its memory free: zone 0 has 3Gi of 4Gi memory free, zone 1 has 2Gi"),
        Arguments.of(
            single().zone(0, 7, 8, 4).zone(1, 7, 8, 4),
            pod(app(4, 4, 6)),
            "no zone is large enough for 6 nvidia.com/gpu"),
        Arguments.of(
            byContainer().zone(0, 7, 8, 2).zone(1, 7, 8, 1),
            pod(app(2, 2, 2), container("b", Kind.App, 2000, 2, 2)),
            "container b: zone 0 has 0 of 2 nvidia.com/gpu free, zone 1 has 1"),
        Arguments.of(
            byContainer().zone(0, 7, 8, 4).zone(1, 7, 8, 4),
            pod(
                container("init", Kind.Init, 4000, 1, 0),
                app(2, 1, 0),
                container("b", Kind.App, 6000, 1, 0)),
            "container b: zone 0 has 5 of 6 cpu free, zone 1: the pod's init container has CPUs on zone 0"),
        Arguments.of(
            restricted().zone(0, 7, 8, 1).zone(1, 7, 8, 1),
            pod(app(4, 4, 2)),
            "zone 0 has 1 of 2 nvidia.com/gpu free, zone 1 has 1"),
        Arguments.of(
            restricted().zone(0, 7, 8, 4).zone(1, 7, 8, 4),
            pod(app(4, 4, 6)),
            "6 nvidia.com/gpu take 2 zones, and 4 cpu take 1"),
        Arguments.of(
            restricted().zone(0, 7, 8, 4).zone(1, 7, 7, 4),
            pod(app(12, 12, 6)),
            "memory on zones [0, 1] is given in other groups of zones: zone 0 has 8Gi of 12Gi memory free, zone 1 has 7Gi"),
        Arguments.of(
            restricted().zone(0, 7, 8, 4).zone(1, 7, 8, 1),
            pod(app(10, 12, 6)),
            "no 2 zones together have 6 nvidia.com/gpu and 10 cpu and 12Gi memory free: zone 0 has 4 of 6 nvidia.com/gpu free, zone 1 has 1"),
        Arguments.of(
            bestEffort().zone(0, 7, 4, 4).zone(1, 7, 4, 4),
            pod(app(4, 9, 1)),
            "no zones have its memory free: zone 0 has 4Gi of 9Gi memory free, zone 1 has 4Gi"),
        Arguments.of(
            TestNode.of(
                    new KubeletRules(Policy.SingleNumaNode, Scope.Pod, true, true, true, 2, false))
                .zone(0, 6, 8, 4)
                .zone(1, 6, 8, 4),
            pod(app(3, 4, 1)),
            "3 CPUs are not whole cores of 2 threads (full-pcpus-only)"));
  }

  @ParameterizedTest(name = "{2}")
  @MethodSource
  void whatDoesNotFit(TestNode node, PodRequest pod, String message) {
    assertThat(Fit.of(node.free(), pod)).isEqualTo(new DoesNotFit(message));
  }

  @Test
  void whatTheKubeletDoesNotAlignIsLeftAlone() {
    var full = single().zone(0, 0, 0, 0).zone(1, 0, 0, 0).free();
    var burstable = new PodRequest(false, false, List.of(app(4, 4, 0)));
    var podLevel = new PodRequest(true, true, List.of(app(4, 4, 0)));
    assertThat(Fit.of(full, burstable)).isInstanceOf(NotAligned.class);
    assertThat(Fit.of(full, podLevel)).isInstanceOf(NotAligned.class);
  }

  @Test
  void devicesAreAlignedForEveryQosClass() {
    var node = single().zone(0, 0, 0, 2).zone(1, 0, 0, 2).free();
    var burstable = new PodRequest(false, false, List.of(app(4, 4, 4)));
    var podLevel = new PodRequest(true, true, List.of(app(4, 4, 2)));
    assertThat(Fit.of(node, burstable))
        .isEqualTo(new DoesNotFit("zone 0 has 2 of 4 nvidia.com/gpu free, zone 1 has 2"));
    assertThat(Fit.of(node, podLevel)).isInstanceOf(Fits.class);
  }

  @Test
  void aFractionOfACpuIsNotExclusive() {
    var node =
        TestNode.of(
                new KubeletRules(Policy.SingleNumaNode, Scope.Pod, true, false, false, 2, false))
            .zone(0, 0, 8, 0)
            .zone(1, 0, 8, 0)
            .free();
    assertThat(Fit.of(node, pod(container("main", Kind.App, 1500, 1, 0))))
        .isInstanceOf(NotAligned.class);
    assertThat(Fit.of(node, pod(container("main", Kind.App, 1000, 1, 0))))
        .isInstanceOf(DoesNotFit.class);
  }

  @Test
  void memoryOfSeveralZonesDoesNotMixWithThatOfOne() {
    var wide = pod(app(12, 12, 0));
    assertThat(Fit.of(restricted().zone(0, 7, 8, 4).zone(1, 7, 7, 4, Set.of(1)).free(), wide))
        .isInstanceOf(DoesNotFit.class);
    assertThat(
            Fit.of(
                restricted().zone(0, 7, 7, 4, Set.of(0, 1)).zone(1, 7, 7, 4, Set.of(0, 1)).free(),
                wide))
        .isInstanceOf(Fits.class);
    assertThat(
            Fit.of(
                restricted().zone(0, 7, 7, 4, Set.of(0, 1)).zone(1, 7, 7, 4, Set.of(0, 1)).free(),
                pod(app(2, 2, 0))))
        .isEqualTo(
            new DoesNotFit(
                "zone 0: its memory is given together with zones [0, 1], zone 1: its memory is given"
                    + " together with zones [0, 1]"));
  }

  @Test
  void takesWhatThePodTakes() {
    var node = single().zone(0, 7, 8, 4).zone(1, 7, 8, 4).free();
    var fits = (Fits) Fit.of(node, pod(container("side", Kind.Sidecar, 1000, 1, 0), app(4, 4, 2)));
    assertThat(fits.after().zones().getFirst().freeCpus()).isEqualTo(2);
    assertThat(fits.after().zones().getFirst().memory().get("memory").free()).isEqualTo(3 * GI);
    assertThat(fits.after().devices().getFirst().free()).isEqualTo(2);
    assertThat(fits.after().zones().get(1)).isEqualTo(node.zones().get(1));
    assertThat(fits.preferred()).isTrue();
  }

  @Test
  void aPodThatIsGoneGivesBackNoMoreThanThereIs() {
    var node = single().zone(0, 3, 4, 2).zone(1, 7, 8, 4).free();
    var pod = pod(app(2, 2, 1));
    var back = node.without(pod, 0);
    assertThat(back.zones().getFirst().freeCpus()).isEqualTo(5);
    assertThat(back.devices().getFirst().free()).isEqualTo(3);
    assertThat(back.without(pod, 0).without(pod, 0).without(pod, 0).zones().getFirst())
        .isEqualTo(node.empty().zones().getFirst());
  }

  @Test
  void valuesThatNoKubeletHasAreRefused() {
    assertThatThrownBy(() -> single().zone(64, 7, 8, 4)).hasMessageContaining("0 to 63");
    assertThatThrownBy(() -> single().zone(0, 7, 8, 4).zone(0, 7, 8, 4).free())
        .hasMessageContaining("twice");
    assertThatThrownBy(() -> single().zone(0, 7, 8, 4).devices("x", 1, 1, 5).free())
        .hasMessageContaining("[5]");
  }
}
