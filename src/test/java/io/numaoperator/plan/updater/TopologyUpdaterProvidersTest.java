package io.numaoperator.plan.updater;

import static io.numaoperator.plan.Policies.assertStable;
import static io.numaoperator.plan.Policies.cluster;
import static io.numaoperator.plan.Policies.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.ContentHash;
import io.numaoperator.plan.Golden;
import io.numaoperator.plan.Provision;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopologyUpdaterProvidersTest {
  private static final List<NumaPolicy> POLICIES = List.of(policy("gpu", 1), policy("hpc", 2));

  @Test
  void rendersNfdsUpdater() throws IOException {
    Golden.assertMatches("topology-updater-nfd", nfd(cluster(34), POLICIES));
  }

  @Test
  void orderOfPoliciesDoesNotMatter() {
    assertStable(
        List.of(policy("a", 3), policy("b", 2), policy("c", 1)),
        policies -> Golden.yaml(objects(nfd(cluster(34), policies)).objects()));
  }

  @Test
  void intervalAndImageAreThePolicys() {
    var setting = setting();
    setting.interval = "15s";
    setting.nfd = new TopologyUpdaterPolicy.Nfd();
    setting.nfd.image = "registry.example/nfd:v0.20.0";
    var container = container(nfd(cluster(34), POLICIES, setting));
    assertThat(container.getArgs()).contains("-sleep-interval=15s");
    assertThat(container.getImage()).isEqualTo("registry.example/nfd:v0.20.0");
  }

  /** A mounted socket file is dead after the kubelet's next restart (facts of NFD's chart). */
  @Test
  void mountsTheKubeletsDirectoryAndNotItsSocket() {
    var mounts = container(nfd(cluster(34), POLICIES)).getVolumeMounts();
    assertThat(mounts)
        .extracting(VolumeMount::getMountPath)
        .containsExactly(
            "/host-sys", "/host-var/lib/kubelet", "/etc/kubernetes/node-feature-discovery");
    assertThat(mounts).allSatisfy(mount -> assertThat(mount.getReadOnly()).isTrue());
  }

  @Test
  void aChangedConfigurationChangesThePodTemplate() {
    var objects = objects(nfd(cluster(34), POLICIES));
    var config = one(objects, ConfigMap.class).getData().get("nfd-topology-updater.conf");
    var template = one(objects, DaemonSet.class).getSpec().getTemplate();
    assertThat(template.getMetadata().getAnnotations())
        .containsEntry(ContentHash.ANNOTATION, ContentHash.of(config));
    assertThat(ContentHash.of(config)).isNotEqualTo(ContentHash.of(config + "x"));
  }

  @Test
  void refusesKubeletsWhoseConfigzNeedsNodesProxy() {
    assertThat(nfd(cluster(34, 32), POLICIES))
        .isInstanceOfSatisfying(
            Provision.Refused.class,
            refused -> {
              assertThat(refused.reason()).isEqualTo("KubeletTooOld");
              assertThat(refused.message()).contains("1.33", "1.32", "BuiltIn");
            });
    assertThat(nfd(cluster(34, 33), POLICIES)).isInstanceOf(Provision.Objects.class);
  }

  @ParameterizedTest
  @CsvSource({
    "registry.k8s.io/nfd/node-feature-discovery:v0.18.3, true",
    "mirror:5000/nfd:v0.17.0-minimal, true",
    "registry.k8s.io/nfd/node-feature-discovery:v0.19.0, false",
    "mirror:5000/nfd:0.20.1, false",
    "mirror:5000/nfd:v1.0.0, false",
    "mirror:5000/nfd:master, false",
    "mirror:5000/nfd@sha256:0123, false"
  })
  void refusesReleasesThatNeedNodesProxy(String image, boolean refused) {
    var setting = setting();
    setting.nfd = new TopologyUpdaterPolicy.Nfd();
    setting.nfd.image = image;
    var provision = nfd(cluster(36), POLICIES, setting);
    if (refused) {
      assertThat(provision)
          .isInstanceOfSatisfying(
              Provision.Refused.class,
              refusal -> {
                assertThat(refusal.reason()).isEqualTo("NFDTooOld");
                assertThat(refusal.message()).contains(image, "nodes/proxy", "BuiltIn");
              });
    } else {
      assertThat(container(provision).getImage()).isEqualTo(image);
    }
  }

  @Test
  void builtInIsTheAgentsAndExternalIsSomebodyElses() {
    var builtIn = TopologyUpdaterProviders.of(TopologyUpdaterPolicy.Provider.BuiltIn);
    var external = TopologyUpdaterProviders.of(TopologyUpdaterPolicy.Provider.External);
    var nfd = TopologyUpdaterProviders.of(TopologyUpdaterPolicy.Provider.NFD);
    assertThat(builtIn.publishedByAgent()).isTrue();
    assertThat(external.publishedByAgent()).isFalse();
    assertThat(nfd.publishedByAgent()).isFalse();
    var input = new TopologyUpdaterProvider.Input(cluster(34), POLICIES, setting());
    assertThat(builtIn.plan(input)).isEqualTo(Provision.Objects.none("builtin"));
    assertThat(external.plan(input)).isEqualTo(Provision.Objects.none("external"));
  }

  private static Provision nfd(ClusterFacts facts, List<NumaPolicy> policies) {
    return nfd(facts, policies, setting());
  }

  private static Provision nfd(
      ClusterFacts facts, List<NumaPolicy> policies, TopologyUpdaterPolicy setting) {
    return TopologyUpdaterProviders.of(TopologyUpdaterPolicy.Provider.NFD)
        .plan(new TopologyUpdaterProvider.Input(facts, policies, setting));
  }

  private static TopologyUpdaterPolicy setting() {
    var setting = new TopologyUpdaterPolicy();
    setting.provider = TopologyUpdaterPolicy.Provider.NFD;
    return setting;
  }

  private static Provision.Objects objects(Provision provision) {
    assertThat(provision).isInstanceOf(Provision.Objects.class);
    return (Provision.Objects) provision;
  }

  private static Container container(Provision provision) {
    return one(objects(provision), DaemonSet.class)
        .getSpec()
        .getTemplate()
        .getSpec()
        .getContainers()
        .getFirst();
  }

  private static <T> T one(Provision.Objects objects, Class<T> kind) {
    return objects.objects().stream()
        .filter(kind::isInstance)
        .map(kind::cast)
        .findFirst()
        .orElseThrow();
  }
}
