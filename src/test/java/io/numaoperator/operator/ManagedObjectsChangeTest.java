package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ManagedObjectsChangeTest {
  private static ServiceAccount account(String version, String owner, String label) {
    return new ServiceAccountBuilder()
        .withNewMetadata()
        .withName("numa-agent")
        .withResourceVersion(version)
        .withLabels(Map.of("part", label))
        .withAnnotations(Map.of("numaoperator.io/applied", "hash-" + owner))
        .withOwnerReferences(
            List.of(new OwnerReferenceBuilder().withName(owner).withUid(owner).build()))
        .endMetadata()
        .build();
  }

  /** It changes with each node's turn, and all nodes would be looked at each time. */
  @Test
  void anotherOwnerIsNoChange() {
    var before = account("1", "n1", "agent");
    assertThat(ManagedObjects.specsDiffer(before, account("2", "n2", "agent"))).isFalse();
    assertThat(ManagedObjects.specsDiffer(before, account("2", "n1", "else"))).isTrue();
  }
}
