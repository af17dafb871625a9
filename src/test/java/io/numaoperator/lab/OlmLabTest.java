package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.bundle.OlmInstall;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The bundle's objects, made as OLM makes them, are a working operator in any namespace. */
@Tag("lab")
class OlmLabTest {
  @Test
  void theOperatorOfTheBundleAlignsANode() {
    var olm = OlmInstall.of(Path.of("bundle/manifests"), "operators-of-a-team");
    try (var lab = Lab.up("--nodes", "1")) {
      lab.kubectl("apply", "--server-side", "-f", olm.file().toString());
      lab.kubectl(
          "-n", olm.namespace(), "rollout", "status", "deployment/numa-operator", "--timeout=300s");
      var policy = Lab.sample();
      lab.client().resource(policy).create();
      lab.awaitPolicy(policy.getMetadata().getName(), "Ready", Lab::isTrue);
      assertThat(
              lab.client()
                  .apps()
                  .daemonSets()
                  .inNamespace(olm.namespace())
                  .withName("numa-agent")
                  .get())
          .isNotNull();
      var own =
          lab.audit().stream()
              .filter(
                  event ->
                      event
                          .path("user")
                          .path("username")
                          .asText()
                          .startsWith("system:serviceaccount:" + olm.namespace() + ":"))
              .toList();
      assertThat(own).isNotEmpty();
      // with the rights of the bundle alone nothing was refused but the questions, whether there
      // is something to do for providers whose roles are not in it
      assertThat(
              own.stream()
                  .filter(event -> event.path("responseStatus").path("code").asInt() == 403)
                  .map(
                      event ->
                          event.path("verb").asText()
                              + " "
                              + event.path("requestURI").asText().replaceFirst("[?].*", ""))
                  .distinct())
          .isSubsetOf(
              "list /api/v1/events",
              "list /api/v1/namespaces/gpu-operator/configmaps",
              "list /api/v1/namespaces/hami-system/configmaps",
              "list /api/v1/namespaces/nvidia-device-plugin/configmaps");
    }
  }
}
