package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.NumaPolicyStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class OwnCrdsTest {
  @Test
  void thoseOfThisVersionHaveAllThatTheOperatorWrites() throws IOException {
    assertThat(OwnCrds.missing(crd("numapolicies"), "spec", NumaPolicySpec.class)).isEmpty();
    assertThat(OwnCrds.missing(crd("numapolicies"), "status", NumaPolicyStatus.class)).isEmpty();
    assertThat(OwnCrds.missing(crd("numanodestates"), "spec", NumaNodeStateSpec.class)).isEmpty();
    assertThat(OwnCrds.missing(crd("numanodestates"), "status", NumaNodeStateStatus.class))
        .isEmpty();
  }

  @Test
  void fieldsThatAnOlderOneDoesNotKnowAreNamed() throws IOException {
    var crd = crd("numanodestates");
    var schema = crd.getSpec().getVersions().getFirst().getSchema().getOpenAPIV3Schema();
    var spec = schema.getProperties().get("spec").getProperties();
    spec.get("kubelet").getProperties().remove("file");
    spec.get("grant")
        .getProperties()
        .get("proof")
        .getProperties()
        .get("pods")
        .getItems()
        .getSchema()
        .getProperties()
        .remove("device");
    assertThat(OwnCrds.missing(crd, "spec", NumaNodeStateSpec.class))
        .containsExactlyInAnyOrder("spec.kubelet.file", "spec.grant.proof.pods[].device");
  }

  private static CustomResourceDefinition crd(String plural) throws IOException {
    return Serialization.unmarshal(
        Files.readString(Path.of("crds", plural + ".numaoperator.io.yaml")),
        CustomResourceDefinition.class);
  }
}
