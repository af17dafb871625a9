package io.numaoperator.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds for every object that any provider makes. */
class AllPlansTest {
  static List<HasMetadata> objects() {
    return AllPlans.objects();
  }

  static List<HasMetadata> roles() {
    return objects().stream().filter(Rbac::isRole).toList();
  }

  static List<PodTemplateSpec> podTemplates() {
    return objects().stream().flatMap(AllPlansTest::podTemplate).toList();
  }

  private static Stream<PodTemplateSpec> podTemplate(HasMetadata object) {
    return switch (object) {
      case DaemonSet daemonSet -> Stream.of(daemonSet.getSpec().getTemplate());
      case Deployment deployment -> Stream.of(deployment.getSpec().getTemplate());
      default -> Stream.of();
    };
  }

  @Test
  void allPartsAreLookedAt() {
    assertThat(objects())
        .extracting(object -> object.getMetadata().getLabels().get(Ownership.PART_LABEL))
        .containsAll(Arrays.stream(Part.values()).map(Part::label).toList());
  }

  @ParameterizedTest
  @MethodSource("objects")
  void saysWhoseItIs(HasMetadata object) {
    var labels = object.getMetadata().getLabels();
    assertThat(labels)
        .containsEntry("app.kubernetes.io/managed-by", "numa-operator")
        .containsEntry("app.kubernetes.io/part-of", "numa-operator");
    assertThat(labels.get("numaoperator.io/part"))
        .isIn(Arrays.stream(Part.values()).map(Part::label).toList());
    assertThat(labels.get("numaoperator.io/provider")).matches("[a-z]+");
  }

  @ParameterizedTest
  @MethodSource("objects")
  void carriesNothingOfThePolicysMetadata(HasMetadata object) {
    assertThat(Golden.yaml(List.of(object))).doesNotContain("argocd");
  }

  /** Deleting the policies that want it removes it, unless others refer to it. */
  @ParameterizedTest
  @MethodSource("objects")
  void isOwnedByThePoliciesOrRetained(HasMetadata object) {
    var retained = object.getMetadata().getLabels().containsKey(Ownership.RETAIN_LABEL);
    assertThat(object.getMetadata().getOwnerReferences().isEmpty()).isEqualTo(retained);
  }

  @ParameterizedTest
  @MethodSource("podTemplates")
  void noPodIsPrivileged(PodTemplateSpec template) {
    for (var container : containers(template)) {
      var security = container.getSecurityContext();
      assertThat(security.getPrivileged()).isNotEqualTo(true);
      assertThat(security.getAllowPrivilegeEscalation()).isFalse();
      assertThat(security.getReadOnlyRootFilesystem()).isTrue();
      assertThat(security.getCapabilities().getDrop()).containsExactly("ALL");
      assertThat(security.getCapabilities().getAdd()).isEmpty();
    }
    assertThat(template.getSpec().getSecurityContext().getSeccompProfile().getType())
        .isEqualTo("RuntimeDefault");
  }

  /** A Guaranteed pod of ours could itself take exclusive CPUs, and hold up the node's change. */
  @ParameterizedTest
  @MethodSource("podTemplates")
  void noPodIsGuaranteed(PodTemplateSpec template) {
    assertThat(containers(template).stream().allMatch(AllPlansTest::isGuaranteed)).isFalse();
  }

  private static boolean isGuaranteed(Container container) {
    var limits = container.getResources().getLimits();
    Map<String, Quantity> requests = container.getResources().getRequests();
    return Set.of("cpu", "memory").stream()
        .allMatch(
            resource ->
                limits != null
                    && limits.containsKey(resource)
                    // a request that is absent is the limit
                    && limits
                        .get(resource)
                        .equals(requests.getOrDefault(resource, limits.get(resource))));
  }

  @ParameterizedTest
  @MethodSource("podTemplates")
  void hamisWebhookLeavesOurPodsAlone(PodTemplateSpec template) {
    assertThat(template.getMetadata().getLabels()).containsEntry("hami.io/webhook", "ignore");
  }

  @ParameterizedTest
  @MethodSource("objects")
  void aWorkloadSelectsItsOwnPodsOnly(HasMetadata object) {
    podTemplate(object)
        .forEach(
            template -> {
              var selector =
                  switch (object) {
                    case DaemonSet daemonSet -> daemonSet.getSpec().getSelector();
                    case Deployment deployment -> deployment.getSpec().getSelector();
                    default -> throw new AssertionError(object.getKind());
                  };
              assertThat(template.getMetadata().getLabels())
                  .containsAllEntriesOf(selector.getMatchLabels());
              assertThat(selector.getMatchLabels())
                  .containsEntry("app.kubernetes.io/name", object.getMetadata().getName());
            });
  }

  @ParameterizedTest
  @MethodSource("roles")
  void noRoleHasAWildcardOrNodesProxy(HasMetadata role) {
    assertThat(Rbac.rules(role))
        .isNotEmpty()
        .allSatisfy(
            rule -> {
              assertThat(rule.getVerbs()).isNotEmpty().doesNotContain("*");
              assertThat(rule.getApiGroups()).isNotEmpty().doesNotContain("*");
              assertThat(rule.getResources())
                  .isNotEmpty()
                  .doesNotContain("*", "nodes/proxy", "secrets");
            });
  }

  private static List<Container> containers(PodTemplateSpec template) {
    assertThat(template.getSpec().getContainers()).isNotEmpty();
    return template.getSpec().getContainers();
  }
}
