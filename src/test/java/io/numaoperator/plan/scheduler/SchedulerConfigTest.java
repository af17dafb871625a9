package io.numaoperator.plan.scheduler;

import static io.numaoperator.plan.Policies.cluster;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.ClusterFacts;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Reads the configuration back as strictly as kube-scheduler does. The records have the fields of
 * k8s.io/kube-scheduler/config/v1 1.32 and of scheduler-plugins' apis/config/v1 v0.32.7 to v0.34.7
 * (the same in all three), the enums exactly the values of their code.
 */
class SchedulerConfigTest {
  record Configuration(
      String apiVersion,
      String kind,
      Integer parallelism,
      LeaderElection leaderElection,
      Object clientConnection,
      Boolean enableProfiling,
      Boolean enableContentionProfiling,
      Integer percentageOfNodesToScore,
      Integer podInitialBackoffSeconds,
      Integer podMaxBackoffSeconds,
      List<Profile> profiles,
      List<Object> extenders,
      Boolean delayCacheUntilActive) {}

  record LeaderElection(
      Boolean leaderElect,
      String leaseDuration,
      String renewDeadline,
      String retryPeriod,
      String resourceLock,
      String resourceName,
      String resourceNamespace) {}

  record Profile(
      String schedulerName,
      Integer percentageOfNodesToScore,
      Plugins plugins,
      List<PluginConfig> pluginConfig) {}

  record Plugins(PluginSet multiPoint) {}

  record PluginSet(List<Plugin> enabled, List<Plugin> disabled) {}

  record Plugin(String name, Integer weight) {}

  record PluginConfig(String name, Args args) {}

  record Args(
      String apiVersion,
      String kind,
      ScoringStrategy scoringStrategy,
      Long cacheResyncPeriodSeconds,
      Boolean discardReservedNodes,
      Cache cache) {}

  record ScoringStrategy(Type type, List<Resource> resources) {}

  enum Type {
    MostAllocated,
    BalancedAllocation,
    LeastAllocated,
    LeastNUMANodes
  }

  record Resource(String name, long weight) {}

  record Cache(
      ForeignPods foreignPodsDetect,
      Resync resyncMethod,
      InformerMode informerMode,
      ResyncScope resyncScope) {}

  enum ForeignPods {
    None,
    All,
    OnlyExclusiveResources
  }

  enum Resync {
    Autodetect,
    All,
    OnlyExclusiveResources
  }

  enum InformerMode {
    Shared,
    Dedicated
  }

  enum ResyncScope {
    All,
    OnlyResources
  }

  @ParameterizedTest
  @EnumSource
  void isReadByAStrictDecoder(SchedulerPolicy.Scoring scoring) throws IOException {
    var plugin = new SchedulerPolicy.NodeResourceTopologyMatch();
    plugin.scoringStrategy.type = scoring;
    plugin.cacheResyncPeriodSeconds = 7;
    var setting = new SchedulerPolicy();
    setting.schedulerName = "my-scheduler";

    var read = read(SchedulerConfig.yaml(cluster(34), setting, plugin));

    assertThat(read.apiVersion()).isEqualTo("kubescheduler.config.k8s.io/v1");
    assertThat(read.kind()).isEqualTo("KubeSchedulerConfiguration");
    assertThat(read.leaderElection())
        .isEqualTo(
            new LeaderElection(
                true, null, null, null, "leases", "numa-scheduler", "numa-operator-system"));
    var profile = read.profiles().getFirst();
    assertThat(read.profiles()).hasSize(1);
    assertThat(profile.schedulerName()).isEqualTo("my-scheduler");
    assertThat(profile.plugins().multiPoint().enabled())
        .containsExactly(new Plugin("NodeResourceTopologyMatch", null));
    var config = profile.pluginConfig().getFirst();
    assertThat(config.name()).isEqualTo("NodeResourceTopologyMatch");
    assertThat(config.args().kind()).isEqualTo("NodeResourceTopologyMatchArgs");
    assertThat(config.args().scoringStrategy().type().name()).isEqualTo(scoring.name());
    assertThat(config.args().scoringStrategy().resources())
        .containsExactly(new Resource("cpu", 1), new Resource("memory", 1));
    // zero would switch the ledger off, and the filter would fail open
    assertThat(config.args().cacheResyncPeriodSeconds()).isEqualTo(7);
    assertThat(config.args().cache().foreignPodsDetect())
        .isEqualTo(ForeignPods.OnlyExclusiveResources);
    assertThat(config.args().cache().resyncMethod()).isEqualTo(Resync.Autodetect);
    assertThat(config.args().cache().resyncScope()).isEqualTo(ResyncScope.OnlyResources);
  }

  @Test
  void weightsAndCacheAreThePolicys() throws IOException {
    var plugin = defaults();
    var gpu = new SchedulerPolicy.Weight();
    gpu.name = "nvidia.com/gpu";
    gpu.weight = 5;
    plugin.scoringStrategy.resources = List.of(gpu);
    plugin.cache.foreignPodsDetect = SchedulerPolicy.ForeignPodsDetect.None;
    plugin.cache.resyncMethod = SchedulerPolicy.ResyncMethod.All;
    plugin.cache.informerMode = SchedulerPolicy.InformerMode.Dedicated;
    var args =
        read(SchedulerConfig.yaml(cluster(34), new SchedulerPolicy(), plugin))
            .profiles()
            .getFirst()
            .pluginConfig()
            .getFirst()
            .args();
    assertThat(args.scoringStrategy().resources())
        .containsExactly(new Resource("nvidia.com/gpu", 5));
    assertThat(args.cache())
        .isEqualTo(
            new Cache(
                ForeignPods.None, Resync.All, InformerMode.Dedicated, ResyncScope.OnlyResources));
  }

  @ParameterizedTest
  @CsvSource({"33, 33, Dedicated", "34, 34, Shared", "34, 33, Dedicated", "35, 34, Shared"})
  void expectsThePodsThatTheOldestKubeletLists(int server, int kubelet, InformerMode expected)
      throws IOException {
    assertThat(cache(cluster(server, kubelet)).informerMode()).isEqualTo(expected);
  }

  /** The decoder of this test is strict indeed: what 0.34.7 does not know is refused. */
  @Test
  void theDecoderRefusesAFieldOfALaterRelease() {
    var yaml = SchedulerConfig.yaml(cluster(34), new SchedulerPolicy(), defaults());
    var later =
        yaml.replace(
            "      cacheResyncPeriodSeconds:",
            "      preemptionMode: Enabled\n      cacheResyncPeriodSeconds:");
    assertThat(later).isNotEqualTo(yaml);
    assertThatThrownBy(() -> read(later)).isInstanceOf(UnrecognizedPropertyException.class);
  }

  private static Cache cache(ClusterFacts facts) throws IOException {
    return read(SchedulerConfig.yaml(facts, new SchedulerPolicy(), defaults()))
        .profiles()
        .getFirst()
        .pluginConfig()
        .getFirst()
        .args()
        .cache();
  }

  private static SchedulerPolicy.NodeResourceTopologyMatch defaults() {
    return new SchedulerPolicy.NodeResourceTopologyMatch();
  }

  private static Configuration read(String yaml) throws IOException {
    return YAMLMapper.builder()
        .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
        .build()
        .readValue(yaml, Configuration.class);
  }
}
