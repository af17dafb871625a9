package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.readiness.SchedulerSightings.Deployed;
import io.numaoperator.readiness.SchedulerSightings.Hold;
import io.numaoperator.readiness.SchedulerSightings.Replica;
import io.numaoperator.readiness.SchedulerSightings.Start;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Objects as Kubernetes writes them. */
class SightingsTest {
  private static final Start START = new Start("image:1", "c1", "r1");

  @Test
  void aDeploymentIsReadWithWhetherItsControllerSawIt() {
    assertThat(Sightings.deployed(deployment(7))).contains(new Deployed(START, true, 1));
    assertThat(Sightings.deployed(deployment(6))).contains(new Deployed(START, false, 1));
  }

  private static Deployment deployment(int observed) {
    return Serialization.unmarshal(
        """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: numa-scheduler, generation: 7}
        spec:
          template:
            metadata:
              annotations: {numaoperator.io/config-hash: c1, numaoperator.io/topology-revision: r1}
            spec: {containers: [{name: kube-scheduler, image: "image:1"}]}
        status: {observedGeneration: %d, availableReplicas: 1}
        """
            .formatted(observed),
        Deployment.class);
  }

  @Test
  void aPodsStartIsItsContainersLast() {
    var pod =
        pod(
            """
            status:
              conditions: [{type: Ready, status: "True"}]
              containerStatuses: [{name: k, state: {running: {startedAt: "2026-06-01T10:00:00Z"}}}]
            """);
    assertThat(Sightings.replica(pod))
        .contains(
            new Replica("s-1", START, true, Optional.of(Instant.parse("2026-06-01T10:00:00Z"))));
    var crashing =
        pod(
            "status: {containerStatuses: [{name: k, state: {waiting: {reason:"
                + " CrashLoopBackOff}}}]}");
    assertThat(Sightings.replica(crashing))
        .contains(new Replica("s-1", START, false, Optional.empty()));
  }

  @Test
  void aLeaseThatNobodyHoldsIsToldFromOneThatIsNotThere() {
    var lease =
        Serialization.unmarshal(
            """
            apiVersion: coordination.k8s.io/v1
            kind: Lease
            spec: {renewTime: "2026-06-01T10:00:00.123456Z"}
            """,
            Lease.class);
    assertThat(Sightings.hold(lease))
        .contains(new Hold("", Instant.parse("2026-06-01T10:00:00.123456Z")));
    assertThat(Sightings.hold(new Lease())).isEmpty();
  }

  /** A scheduler that found no node has said so; one that is down has not. */
  @Test
  void aPodIsUnattendedWithoutAnyWord() {
    assertThat(SchedulerPods.isUnattended(pod("status: {phase: Pending}"))).isTrue();
    assertThat(
            SchedulerPods.isUnattended(
                pod("status: {conditions: [{type: PodScheduled, status: 'False'}]}")))
        .isFalse();
    var bound = pod("status: {phase: Pending}");
    bound.getSpec().setNodeName("n");
    assertThat(SchedulerPods.isUnattended(bound)).isFalse();
  }

  private static Pod pod(String status) {
    return Serialization.unmarshal(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: s-1
          annotations: {numaoperator.io/config-hash: c1, numaoperator.io/topology-revision: r1}
        spec: {containers: [{name: k, image: "image:1"}]}
        """
            + status,
        Pod.class);
  }
}
