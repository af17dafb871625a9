package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.numaoperator.operator.JobGangs.Membership;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JobGangsTest {
  private static Pod pod(String kind, Map<String, String> labels) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("train")
        .withLabels(labels)
        .addNewOwnerReference()
        .withKind(kind)
        .withName("llm")
        .withUid("u1")
        .withController(true)
        .endOwnerReference()
        .endMetadata()
        .build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Job", "PyTorchJob", "MPIJob", "RayCluster"})
  void podsOfOneJobAreOneGang(String kind) {
    assertThat(Membership.of(pod(kind, Map.of())))
        .contains(new Membership("train", "", "u1", kind + " train/llm"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"ReplicaSet", "StatefulSet", "ReplicationController", "Node"})
  void replicasStandOnTheirOwn(String kind) {
    assertThat(Membership.of(pod(kind, Map.of()))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "jobset.sigs.k8s.io/jobset-name, jobset-name train/g",
    "kueue.x-k8s.io/pod-group-name, pod-group-name train/g",
    "leaderworkerset.sigs.k8s.io/group-key, group-key train/g",
    "scheduling.x-k8s.io/pod-group, pod-group train/g"
  })
  void aGroupsLabelComesBeforeTheController(String label, String name) {
    for (var kind : new String[] {"Job", "StatefulSet"}) {
      assertThat(Membership.of(pod(kind, Map.of(label, "g"))))
          .contains(new Membership("train", label, "g", name));
    }
  }

  @Test
  void aPodWithoutAnythingIsOfNoGang() {
    var bare = new PodBuilder().withNewMetadata().withNamespace("train").endMetadata().build();
    assertThat(Membership.of(bare)).isEmpty();
  }
}
