package io.numaoperator.plan.scheduler;

import static io.numaoperator.plan.Policies.assertStable;
import static io.numaoperator.plan.Policies.cluster;
import static io.numaoperator.plan.Policies.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.ContentHash;
import io.numaoperator.plan.Golden;
import io.numaoperator.plan.Provision;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SchedulerProvidersTest {
  private static final List<NumaPolicy> POLICIES = List.of(policy("gpu", 1), policy("hpc", 2));
  private static final SchedulerPolicy.Provider MATCH =
      SchedulerPolicy.Provider.NodeResourceTopologyMatch;

  @Test
  void rendersOneReplica() throws IOException {
    Golden.assertMatches("scheduler", plan(MATCH, cluster(34), setting(1)));
  }

  @Test
  void rendersThreeReplicasOfAnOldCluster() throws IOException {
    Golden.assertMatches("scheduler-three-replicas", plan(MATCH, cluster(33), setting(3)));
  }

  @Test
  void orderOfPoliciesDoesNotMatter() {
    assertStable(
        List.of(policy("a", 3), policy("b", 2), policy("c", 1)),
        policies ->
            Golden.yaml(
                objects(
                        SchedulerProviders.of(MATCH)
                            .plan(
                                new SchedulerProvider.Input(
                                    cluster(34), policies, setting(1), "r1")))
                    .objects()));
  }

  @ParameterizedTest
  @CsvSource({"32, v0.32.7", "33, v0.33.5", "34, v0.34.7", "35, v0.34.7"})
  void takesTheReleaseThatFitsTheCluster(int minor, String tag) {
    assertThat(image(plan(MATCH, cluster(minor), setting(1))))
        .isEqualTo("registry.k8s.io/scheduler-plugins/kube-scheduler:" + tag);
  }

  @ParameterizedTest
  @ValueSource(ints = {31, 36, 37})
  void refusesAClusterThatNoReleaseFits(int minor) {
    assertThat(plan(MATCH, cluster(minor), setting(1)))
        .isInstanceOfSatisfying(
            Provision.Refused.class,
            refused -> {
              assertThat(refused.reason()).isEqualTo("NoReleaseForClusterVersion");
              assertThat(refused.message()).contains("1." + minor, "image");
            });
  }

  @Test
  void anImageOfThePolicyIsTakenOnAnyCluster() {
    var setting = setting(1);
    setting.nodeResourceTopologyMatch = new SchedulerPolicy.NodeResourceTopologyMatch();
    setting.nodeResourceTopologyMatch.image = "registry.example/scheduler:v0.36.0";
    assertThat(image(plan(MATCH, cluster(36), setting)))
        .isEqualTo("registry.example/scheduler:v0.36.0");
  }

  @Test
  void autoTakesTheReleaseWhereOneFitsAndElseBuiltIn() {
    var fits = plan(SchedulerPolicy.Provider.Auto, cluster(35), setting(1));
    assertThat(fits).isEqualTo(plan(MATCH, cluster(35), setting(1)));
    var fitsNot = plan(SchedulerPolicy.Provider.Auto, cluster(36), setting(1));
    assertThat(fitsNot).isEqualTo(plan(SchedulerPolicy.Provider.BuiltIn, cluster(36), setting(1)));
  }

  @Test
  void autoDoesNotWorkAroundAnotherRefusal() {
    var auto = SchedulerProviders.of(SchedulerPolicy.Provider.Auto).plan(hami(cluster(34)));
    assertThat(auto).isInstanceOf(Provision.Refused.class);
  }

  @ParameterizedTest
  @EnumSource(names = {"None", "External"})
  void runsNothingWhereNothingIsAskedFor(SchedulerPolicy.Provider provider) {
    assertThat(plan(provider, cluster(34), setting(1)))
        .isInstanceOfSatisfying(
            Provision.Objects.class, planned -> assertThat(planned.objects()).isEmpty());
  }

  @ParameterizedTest
  @EnumSource(names = {"KAI"})
  void saysWhatItCannotDoYet(SchedulerPolicy.Provider provider) {
    assertThat(plan(provider, cluster(34), setting(1)))
        .isInstanceOfSatisfying(
            Provision.NotYet.class,
            notYet -> assertThat(notYet.message()).contains(provider.name()));
  }

  @Test
  void isNotForClustersOfHamiAlone() {
    assertThat(SchedulerProviders.of(MATCH).plan(hami(cluster(34))))
        .isInstanceOfSatisfying(
            Provision.Refused.class,
            refused -> assertThat(refused.reason()).isEqualTo("HAMiSchedulesItsOwnPods"));
    var c = cluster(34);
    var allocatable =
        new ClusterFacts(c.namespace(), c.operatorImage(), c.server(), c.oldestKubelet(), true);
    assertThat(SchedulerProviders.of(MATCH).plan(hami(allocatable)))
        .isInstanceOf(Provision.Objects.class);
  }

  private static SchedulerProvider.Input hami(ClusterFacts facts) {
    var policy =
        policy("hami", 1, spec -> spec.devicePlugin.provider = DevicePluginPolicy.Provider.HAMi);
    return new SchedulerProvider.Input(facts, List.of(policy), setting(1), "r1");
  }

  @Test
  void oneReplicaHasNoBudgetThatWouldBlockADrain() {
    assertThat(one(plan(MATCH, cluster(34), setting(1)), PodDisruptionBudget.class)).isEmpty();
    assertThat(one(plan(MATCH, cluster(34), setting(2)), PodDisruptionBudget.class)).isPresent();
  }

  @Test
  void moreReplicasComeWithAWarning() {
    assertThat(objects(plan(MATCH, cluster(34), setting(1))).remarks()).isEmpty();
    assertThat(objects(plan(MATCH, cluster(34), setting(2))).remarks())
        .extracting(Provision.Remark::reason)
        .containsExactly("StandbySchedulersHoldOldTopology");
  }

  @Test
  void restartsForANewConfigurationAndForANewTopology() {
    var before = plan(MATCH, cluster(34), setting(1));
    var annotations = annotations(before);
    assertThat(annotations.get(SchedulerWorkload.REVISION_ANNOTATION)).isEqualTo("r1");
    assertThat(annotations.get(ContentHash.ANNOTATION))
        .isEqualTo(
            ContentHash.of(
                one(before, ConfigMap.class)
                    .orElseThrow()
                    .getData()
                    .get(SchedulerWorkload.CONFIG_KEY)));
    var renamed = setting(1);
    renamed.schedulerName = "other";
    assertThat(annotations(plan(MATCH, cluster(34), renamed)).get(ContentHash.ANNOTATION))
        .isNotEqualTo(annotations.get(ContentHash.ANNOTATION));
  }

  private static Map<String, String> annotations(Provision provision) {
    return one(provision, Deployment.class)
        .orElseThrow()
        .getSpec()
        .getTemplate()
        .getMetadata()
        .getAnnotations();
  }

  private static String image(Provision provision) {
    return one(provision, Deployment.class)
        .orElseThrow()
        .getSpec()
        .getTemplate()
        .getSpec()
        .getContainers()
        .getFirst()
        .getImage();
  }

  private static Provision plan(
      SchedulerPolicy.Provider provider, ClusterFacts facts, SchedulerPolicy setting) {
    return SchedulerProviders.of(provider)
        .plan(new SchedulerProvider.Input(facts, POLICIES, setting, "r1"));
  }

  private static SchedulerPolicy setting(int replicas) {
    var setting = new SchedulerPolicy();
    setting.replicas = replicas;
    return setting;
  }

  private static Provision.Objects objects(Provision provision) {
    assertThat(provision).isInstanceOf(Provision.Objects.class);
    return (Provision.Objects) provision;
  }

  private static <T> Optional<T> one(Provision provision, Class<T> kind) {
    return objects(provision).objects().stream()
        .filter(kind::isInstance)
        .map(kind::cast)
        .findFirst();
  }
}
