package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.Condition;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.readiness.Conditions;
import io.numaoperator.readiness.NodeReadiness;
import io.numaoperator.readiness.PolicyReadiness;
import io.numaoperator.readiness.PolicyReadiness.NodeVerdict;
import io.numaoperator.readiness.PolicyReadiness.PolicyEvidence;
import io.numaoperator.readiness.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What docs/gitops.md has people paste into Argo CD and Flux, and kstatus, over the statuses that
 * the operator writes. It needs the judges of src/tools, but no cluster.
 */
@Tag("lab")
class GitOpsHealthLabTest {
  private static final Path PAGE = Path.of("docs/gitops.md");
  private static final PolicyEvidence DONE = evidence(node(Condition.Status.True, false, false));
  private static final PolicyEvidence WAITING =
      evidence(node(Condition.Status.False, false, false));

  private static NodeVerdict node(Condition.Status status, boolean updating, boolean failed) {
    var verdicts = Map.of(NodeReadiness.ALIGNMENT, new Verdict(status, "Reason", "because"));
    return new NodeVerdict(
        "gpu-1",
        Conditions.update(List.of(), verdicts, 1L, Instant.parse("2026-01-01T00:00:00Z")),
        updating,
        failed);
  }

  private static PolicyEvidence evidence(NodeVerdict... nodes) {
    return new PolicyEvidence(List.of(nodes), List.of(), Map.of(), false, false);
  }

  /** In generation 2, which the operator has seen. */
  private static NumaPolicy policy(PolicyEvidence evidence) {
    var policy = Lab.sample();
    policy.getMetadata().setGeneration(2L);
    var status = new NumaPolicyStatus();
    status.observedGeneration = 2L;
    status.conditions =
        Conditions.update(List.of(), PolicyReadiness.judge(evidence), 2L, Instant.EPOCH);
    status.nodes = PolicyReadiness.count(evidence);
    policy.setStatus(status);
    return policy;
  }

  private static NumaPolicy policy(PolicyEvidence evidence, Consumer<NumaPolicy> change) {
    var policy = policy(evidence);
    change.accept(policy);
    return policy;
  }

  private static NumaPolicy unseen() {
    var policy = policy(DONE);
    policy.setStatus(new NumaPolicyStatus());
    // the CRD's default
    policy.getStatus().observedGeneration = -1L;
    policy.getStatus().conditions = null;
    policy.getMetadata().setGeneration(1L);
    return policy;
  }

  private static void pause(NumaPolicy policy) {
    policy.getMetadata().setAnnotations(Map.of(Names.PAUSED_ANNOTATION, "true"));
  }

  static Stream<Arguments> statuses() {
    var updating = evidence(node(Condition.Status.False, true, false));
    var silent = evidence(node(Condition.Status.Unknown, false, false));
    var failed = node(Condition.Status.False, false, true);
    return Stream.of(
        Arguments.of("not seen yet", unseen(), "InProgress", "Progressing", "InProgress"),
        Arguments.of(
            "the former spec was ready",
            policy(DONE, p -> p.getMetadata().setGeneration(3L)),
            "InProgress",
            "Progressing",
            "InProgress"),
        Arguments.of("ready", policy(DONE), "Current", "Healthy", "Current"),
        Arguments.of("no nodes", policy(evidence()), "Current", "Healthy", "Current"),
        Arguments.of("waiting", policy(WAITING), "InProgress", "Progressing", "InProgress"),
        Arguments.of("updating", policy(updating), "InProgress", "Progressing", "InProgress"),
        Arguments.of("agent silent", policy(silent), "InProgress", "Unknown", "InProgress"),
        Arguments.of(
            "stopped by a failed node",
            policy(new PolicyEvidence(List.of(failed), List.of(), Map.of(), true, false)),
            "Failed",
            "Degraded",
            "Failed"),
        Arguments.of(
            "goes on beside a failed node",
            policy(evidence(failed)),
            "InProgress",
            "Degraded",
            "InProgress"),
        Arguments.of(
            "an older policy has its nodes",
            policy(
                new PolicyEvidence(
                    List.of(node(Condition.Status.True, false, false)),
                    List.of("gpu-2 (older)"),
                    Map.of(),
                    false,
                    false)),
            "Failed",
            "Degraded",
            "Failed"),
        Arguments.of(
            "a provider refuses",
            policy(
                new PolicyEvidence(
                    List.of(node(Condition.Status.False, false, false)),
                    List.of(),
                    Map.of("SchedulerReady", Verdict.no("NoReleaseForClusterVersion", "set image")),
                    false,
                    false)),
            "Failed",
            "Degraded",
            "Failed"),
        Arguments.of(
            "brings its nodes back",
            policy(
                new PolicyEvidence(
                    List.of(node(Condition.Status.False, true, false)),
                    List.of(),
                    Map.of(),
                    false,
                    true),
                p -> p.getMetadata().setDeletionTimestamp("2026-01-01T00:00:00Z")),
            "Terminating",
            "Progressing",
            "InProgress"),
        Arguments.of(
            "paused",
            policy(WAITING, GitOpsHealthLabTest::pause),
            "InProgress",
            "Suspended",
            "Current"),
        Arguments.of(
            "paused and ready",
            policy(DONE, GitOpsHealthLabTest::pause),
            "Current",
            "Healthy",
            "Current"),
        Arguments.of(
            "observing what would be changed",
            policy(WAITING, p -> p.getSpec().mode = Mode.Observe),
            "InProgress",
            "Suspended",
            "Current"),
        Arguments.of(
            "observing what is ready",
            policy(DONE, p -> p.getSpec().mode = Mode.Observe),
            "Current",
            "Healthy",
            "Current"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("statuses")
  void othersUnderstandTheStatus(
      String what, NumaPolicy policy, String kstatus, String argo, String flux)
      throws IOException, InterruptedException {
    assertThat(Judge.of("kstatus", "").of(policy)).as("kstatus").isEqualTo(kstatus);
    assertThat(Judge.of("argo-health", lua()).of(policy)).as("Argo CD").isEqualTo(argo);
    assertThat(Judge.of("flux-health", expressions()).of(policy)).as("Flux").isEqualTo(flux);
  }

  private static String lua() throws IOException {
    return block("Argo CD")
        .path("data")
        .path("resource.customizations.health.numaoperator.io_NumaPolicy")
        .asText();
  }

  private static String expressions() throws IOException {
    var check = block("Flux").path("spec").path("healthCheckExprs").get(0);
    assertThat(check.path("kind").asText()).isEqualTo("NumaPolicy");
    return new YAMLMapper().writeValueAsString(check);
  }

  /** The YAML of a chapter. */
  private static JsonNode block(String chapter) throws IOException {
    var pattern = Pattern.compile("(?s)\\n## " + chapter + "\\n.*?```yaml\\n(.*?)```");
    var matcher = pattern.matcher(Files.readString(PAGE));
    assertThat(matcher.find()).as("%s in %s", chapter, PAGE).isTrue();
    return new YAMLMapper().readTree(matcher.group(1));
  }
}
