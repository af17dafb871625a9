package io.numaoperator.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class RejectionTest {
  private static Pod pod(String reason, String owner) {
    return new KubernetesSerialization()
        .unmarshal(
            """
            apiVersion: v1
            kind: Pod
            metadata:
              name: llm-7c9-x2x
              namespace: train
              uid: u
              labels: {pod-template-hash: 7c9}
              creationTimestamp: 2026-06-01T12:00:00Z
              ownerReferences: [%s]
            spec: {nodeName: gpu-1, containers: [{name: main}]}
            status: {phase: Failed, reason: "%s", message: no, startTime: 2026-06-01T12:00:03Z}
            """
                .formatted(owner, reason),
            Pod.class);
  }

  private static final String REPLICA_SET =
      "{apiVersion: apps/v1, kind: ReplicaSet, name: llm-7c9, uid: rs, controller: true}";

  @Test
  void readsWhoWasRejectedWhereAndWhy() {
    var rejection = Rejection.of(pod("TopologyAffinityError", REPLICA_SET)).orElseThrow();
    assertThat(rejection.node()).isEqualTo("gpu-1");
    assertThat(rejection.at()).isEqualTo(Instant.parse("2026-06-01T12:00:03Z"));
    assertThat(rejection.subject()).isEqualTo("Deployment train/llm");
    assertThat(rejection.owner().orElseThrow().reference().getUid()).isEqualTo("rs");
    assertThat(Rejection.of(pod("TopologyAffinityError", "")).orElseThrow().subject())
        .isEqualTo("Pod train/llm-7c9-x2x");
    var job = "{apiVersion: batch/v1, kind: Job, name: j, uid: j, controller: true}";
    assertThat(Rejection.of(pod("SMTAlignmentError", job)).orElseThrow().subject())
        .isEqualTo("Job train/j");
  }

  @Test
  void onlyWhatTheManagersAndTheNodesSumsSay() {
    for (var reason :
        new String[] {
          "TopologyAffinityError",
          "UnexpectedAdmissionError",
          "OutOfcpu",
          "OutOfnvidia.com/gpu",
          "OutOfhugepages-2Mi",
          "OutOfmemory"
        }) {
      assertThat(Rejection.of(pod(reason, ""))).as(reason).isPresent();
    }
    for (var reason : new String[] {"Evicted", "OutOfpods", "NodeAffinity", "Error", ""}) {
      assertThat(Rejection.of(pod(reason, ""))).as(reason).isEmpty();
    }
    var running = pod("TopologyAffinityError", "");
    running.getStatus().setPhase("Running");
    assertThat(Rejection.of(running)).isEmpty();
  }
}
