package io.numaoperator.plan.scheduler;

import static io.numaoperator.plan.Policies.assertStable;
import static io.numaoperator.plan.Policies.cluster;
import static io.numaoperator.plan.Policies.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.Golden;
import io.numaoperator.plan.KubernetesRelease;
import io.numaoperator.plan.Provision;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BuiltInSchedulerTest {
  private static Provision.Objects plan(ClusterFacts facts, String revision) {
    return (Provision.Objects)
        new BuiltInScheduler()
            .plan(
                new SchedulerProvider.Input(
                    facts,
                    List.of(policy("gpu", 1), policy("hpc", 2)),
                    new SchedulerPolicy(),
                    Seen.topologies(revision)));
  }

  private static <T> T one(Provision.Objects planned, Class<T> type) {
    return planned.objects().stream()
        .filter(type::isInstance)
        .map(type::cast)
        .findFirst()
        .orElseThrow();
  }

  private static String image(ClusterFacts facts) {
    return one(plan(facts, "r1"), Deployment.class)
        .getSpec()
        .getTemplate()
        .getSpec()
        .getContainers()
        .getFirst()
        .getImage();
  }

  @Test
  void rendersIt() throws IOException {
    Golden.assertMatches("scheduler-builtin", plan(cluster(36), "r1"));
  }

  @Test
  void orderOfPoliciesDoesNotMatter() {
    assertStable(
        List.of(policy("a", 3), policy("b", 2), policy("c", 1)),
        policies ->
            Golden.yaml(
                ((Provision.Objects)
                        new BuiltInScheduler()
                            .plan(
                                new SchedulerProvider.Input(
                                    cluster(36),
                                    policies,
                                    new SchedulerPolicy(),
                                    Seen.topologies("r1"))))
                    .objects()));
  }

  @Test
  void runsTheClustersOwnRelease() {
    var c = cluster(36);
    var known =
        new ClusterFacts(
            c.namespace(),
            c.operatorImage(),
            c.server(),
            c.oldestKubelet(),
            false,
            new KubernetesRelease("v1.36.3"));
    assertThat(image(known)).isEqualTo("registry.k8s.io/kube-scheduler:v1.36.3");
    assertThat(image(c)).isEqualTo("registry.k8s.io/kube-scheduler:v1.36.0");
  }

  @ParameterizedTest
  @CsvSource({
    "v1.36.3, v1.36.3",
    "v1.34.2+k3s1, v1.34.2",
    "v1.34.1-gke.100, v1.34.1",
    "v1.33.5-eks-3025e55, v1.33.5",
    "v1.37.0-rc.1, v1.37.0-rc.1",
    "1.35.10, v1.35.10"
  })
  void readsTheReleaseFromTheServersVersion(String gitVersion, String tag) {
    assertThat(KubernetesRelease.parse(gitVersion)).contains(new KubernetesRelease(tag));
  }

  @Test
  void aVersionThatIsNoneIsNone() {
    assertThat(KubernetesRelease.parse("1.36")).isEmpty();
    assertThat(KubernetesRelease.parse("main")).isEmpty();
  }

  @Test
  void newTopologiesDoNotRestartIt() {
    assertThat(plan(cluster(36), "r1")).isEqualTo(plan(cluster(36), "r2"));
  }

  @Test
  void podsWaitWhileTheExtenderIsDown() {
    assertThat(one(plan(cluster(36), "r1"), ConfigMap.class).getData().values().iterator().next())
        .contains("ignorable: false", "enableHTTPS: true", "certFile: /etc/numa-extender/tls.crt");
  }
}
