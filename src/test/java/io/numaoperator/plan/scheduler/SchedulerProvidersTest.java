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
import io.numaoperator.api.admission.MutatingAdmissionPolicy;
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

  private static final SchedulerFacts SEEN = Seen.topologies("r1");

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
                                    cluster(34), policies, setting(1), SEEN)))
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

  @ParameterizedTest
  @CsvSource({
    "36, v0.36.0, true",
    "36, v0.35.1, true",
    "36, v0.34.7, false",
    "34, v0.35.0, false",
    "36, v0.34.7-custom, false",
    "36, latest, true"
  })
  void anImageWhoseTagTellsItsReleaseHasToFit(int minor, String tag, boolean fits) {
    var setting = setting(1);
    setting.nodeResourceTopologyMatch = new SchedulerPolicy.NodeResourceTopologyMatch();
    setting.nodeResourceTopologyMatch.image = "registry.example:5000/kube-scheduler:" + tag;
    var plan = plan(MATCH, cluster(minor), setting);
    if (fits) {
      assertThat(plan).isInstanceOf(Provision.Objects.class);
    } else {
      assertThat(plan)
          .isInstanceOfSatisfying(
              Provision.Refused.class,
              refused -> {
                assertThat(refused.reason()).isEqualTo("ImageOutsideSkew");
                assertThat(refused.message()).contains(tag, "1." + minor);
              });
    }
  }

  /** Started before the first NodeResourceTopology it would see none of those that come later. */
  @Test
  void isHeldBackUntilThereAreTopologies() {
    var plan =
        SchedulerProviders.of(MATCH)
            .plan(
                new SchedulerProvider.Input(
                    cluster(34), POLICIES, setting(2), Seen.noTopologies()));
    assertThat(one(plan, Deployment.class)).isEmpty();
    assertThat(one(plan, PodDisruptionBudget.class)).isEmpty();
    assertThat(one(plan, ConfigMap.class)).isPresent();
    assertThat(objects(plan).remarks())
        .extracting(Provision.Remark::reason)
        .containsExactly("AwaitingTopology");
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
  @EnumSource(names = {"None"})
  void runsNothingWhereNothingIsAskedFor(SchedulerPolicy.Provider provider) {
    assertThat(plan(provider, cluster(34), setting(1)))
        .isInstanceOfSatisfying(
            Provision.Objects.class, planned -> assertThat(planned.objects()).isEmpty());
  }

  @Test
  void rendersWhatTheOwnerOfAnotherSchedulerPastes() throws IOException {
    Golden.assertMatches("scheduler-external", external("default-scheduler", false));
  }

  @Test
  void anotherSchedulerIsNotKnownToSeeZonesUntilItsOwnerSaysSo() {
    assertThat(objects(external("theirs", false)).remarks())
        .singleElement()
        .satisfies(
            remark -> {
              assertThat(remark.reason()).isEqualTo("AwaitingSchedulerOwner");
              assertThat(remark.message()).contains("theirs", "assumeAware");
            });
    assertThat(objects(external("theirs", true)).remarks()).isEmpty();
  }

  private static Provision external(String name, boolean assumed) {
    var setting = setting(1);
    setting.provider = SchedulerPolicy.Provider.External;
    setting.external = new SchedulerPolicy.External();
    setting.external.schedulerName = name;
    setting.external.assumeAware = assumed;
    return plan(SchedulerPolicy.Provider.External, cluster(34), setting);
  }

  @Test
  void rendersTheAssignmentOfLabelledNamespaces() throws IOException {
    var objects = objects(plan(MATCH, cluster(34), labelled()));
    var assignment =
        objects.objects().stream()
            .filter(object -> object.getKind().startsWith("MutatingAdmissionPolicy"))
            .toList();
    Golden.assertMatches(
        "scheduler-assignment",
        new Provision.Objects(objects.provider(), assignment, objects.remarks()));
  }

  @ParameterizedTest
  @EnumSource(names = {"Auto", "NodeResourceTopologyMatch", "BuiltIn", "External", "KAI"})
  void namespacesAreAssignedToAnySchedulerAndOnlyWhenAsked(SchedulerPolicy.Provider provider) {
    assertThat(one(plan(provider, cluster(34), labelled()), MutatingAdmissionPolicy.class))
        .isPresent();
    assertThat(one(plan(provider, cluster(34), setting(1)), MutatingAdmissionPolicy.class))
        .isEmpty();
  }

  /** The scheduler itself is made all the same. */
  @Test
  void saysWhereTheApiServerCannotAssign() {
    var plan =
        SchedulerProviders.of(MATCH)
            .plan(
                new SchedulerProvider.Input(
                    cluster(34), POLICIES, labelled(), Seen.oldApiServer()));
    assertThat(one(plan, MutatingAdmissionPolicy.class)).isEmpty();
    assertThat(one(plan, Deployment.class)).isPresent();
    assertThat(objects(plan).remarks().getFirst().reason())
        .isEqualTo("MutatingAdmissionPolicyNotServed");
  }

  private static SchedulerPolicy labelled() {
    var setting = setting(1);
    setting.assignNamespaces = SchedulerPolicy.AssignNamespaces.Labelled;
    return setting;
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
    return new SchedulerProvider.Input(facts, List.of(policy), setting(1), SEEN);
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
    assertThat(annotations.get(TopologyRevision.ANNOTATION)).isEqualTo("r1");
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
        .plan(new SchedulerProvider.Input(facts, POLICIES, setting, SEEN));
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
