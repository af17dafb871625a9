package io.numaoperator.plan.scheduler;

import static io.numaoperator.plan.Policies.cluster;
import static io.numaoperator.plan.Policies.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.kai.KaiConfig;
import io.numaoperator.api.kai.KaiQueue;
import io.numaoperator.api.kai.SchedulingShard;
import io.numaoperator.plan.Golden;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.scheduler.KaiFacts.Installation;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KaiSchedulerTest {
  private static final KaiFacts FRESH =
      new KaiFacts(Installation.WithNuma, Optional.empty(), List.of(), List.of());
  private static final String HELM =
      "labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: kai}";

  @Test
  void rendersWhatIsNotThere() throws IOException {
    var kai = new SchedulerPolicy.Kai();
    kai.defaultQueues = true;
    Golden.assertMatches("scheduler-kai", plan(FRESH, kai, policy("gpu", 1)));
  }

  @ParameterizedTest
  @CsvSource({
    "Absent, KaiNotInstalled, helm upgrade --install kai-scheduler oci://ghcr.io/",
    "WithoutNuma, KaiTooOld, v0.16"
  })
  void saysWhatItsOwnerHasToInstall(Installation installation, String reason, String message) {
    var none = new KaiFacts(installation, Optional.empty(), List.of(), List.of());
    assertThat(plan(none, new SchedulerPolicy.Kai(), policy("gpu", 1)))
        .isInstanceOfSatisfying(
            Provision.Refused.class,
            refused -> {
              assertThat(refused.reason()).isEqualTo(reason);
              assertThat(refused.message()).contains(message);
            });
  }

  /** No labels, no owners, no fields beside those that make the plugin see zones. */
  @Test
  void setsItsFieldsAloneInWhatOthersMade() {
    var planned = objects(plan(facts("", ""), new SchedulerPolicy.Kai(), policy("gpu", 1)));
    assertThat(planned.objects()).isEmpty();
    assertThat(planned.remarks()).isEmpty();
    assertThat(Golden.yaml(planned.contributions()))
        .isEqualTo(
            """
            ---
            apiVersion: "kai.scheduler/v1"
            kind: "Config"
            metadata:
              name: "kai-config"
            spec:
              numaPlacementExporter:
                service:
                  enabled: true
                nodeSelector:
                  pool: "gpu"
                tolerations:
                - operator: "Exists"
            ---
            apiVersion: "kai.scheduler/v1"
            kind: "SchedulingShard"
            metadata:
              name: "default"
            spec:
              plugins:
                numa:
                  enabled: true
                  arguments:
                    reconstructAvailable: "true"
            """);
  }

  @Test
  void writesNothingOfHelmsAndGivesTheCommand() {
    var off = policy("gpu", 1, spec -> managers(spec, StaticOrNone.None, StaticOrNone.None));
    var planned = objects(plan(facts(HELM, HELM), new SchedulerPolicy.Kai(), off));
    assertThat(planned.objects()).isEmpty();
    assertThat(planned.contributions()).isEmpty();
    assertThat(planned.remarks())
        .extracting(Provision.Remark::reason)
        .containsExactly("KaiIsHelms", "KaiIsHelms");
    assertThat(planned.remarks().getFirst().message())
        .contains("'numaPlacementExporter.nodeSelector.pool=gpu'");
    assertThat(planned.remarks().getLast().message())
        .contains(
            "--set scheduler.plugins.numa.enabled=true",
            "--set-string 'scheduler.plugins.numa.arguments.ignoreList=cpu\\,memory'");
  }

  /** Helm's owner did as he was told. */
  @Test
  void isContentWithHelmsObjectsThatSayIt() {
    var wanted = objects(plan(FRESH, new SchedulerPolicy.Kai(), policy("gpu", 1))).objects();
    var config = (KaiConfig) wanted.getFirst();
    var shard = (SchedulingShard) wanted.getLast();
    for (HasMetadata object : wanted) {
      object.getMetadata().setLabels(Map.of("app.kubernetes.io/managed-by", "Helm"));
    }
    var facts = new KaiFacts(Installation.WithNuma, Optional.of(config), List.of(shard), List.of());
    assertThat(objects(plan(facts, new SchedulerPolicy.Kai(), policy("gpu", 1))))
        .isEqualTo(Provision.Objects.none("kai"));
  }

  @ParameterizedTest
  @CsvSource({
    "Static, Static, Static, Static, ''",
    "None, None, Static, Static, memory",
    "Static, Static, None, None, cpu",
    "None, Static, None, Static, ''",
    "None, None, None, None, 'cpu,memory'"
  })
  void ignoresWhatNoKubeletAligns(
      StaticOrNone memory1,
      StaticOrNone memory2,
      StaticOrNone cpu1,
      StaticOrNone cpu2,
      String list) {
    var one = policy("a", 1, spec -> managers(spec, cpu1, memory1));
    var two = policy("b", 2, spec -> managers(spec, cpu2, memory2));
    var plugin = shard(plan(FRESH, new SchedulerPolicy.Kai(), one, two)).plugins.get("numa");
    assertThat(plugin.arguments.getOrDefault("ignoreList", "")).isEqualTo(list);
  }

  private static void managers(NumaPolicySpec spec, StaticOrNone cpu, StaticOrNone memory) {
    spec.kubelet.cpuManager.policy = cpu;
    spec.kubelet.memoryManager.policy = memory;
  }

  @Test
  void theExporterRunsWhereOneSetOfLabelsSaysOrEverywhere() {
    assertThat(exporter(kai -> {}, policy("a", 1))).isEqualTo(Map.of("pool", "a"));
    assertThat(exporter(kai -> {}, policy("a", 1), policy("b", 2)))
        .isEqualTo(Map.of("kubernetes.io/os", "linux"));
    assertThat(exporter(kai -> kai.exporterNodeSelector = Map.of("x", "y"), policy("a", 1)))
        .isEqualTo(Map.of("x", "y"));
  }

  private static Map<String, String> exporter(
      Consumer<SchedulerPolicy.Kai> change, NumaPolicy... policies) {
    var kai = new SchedulerPolicy.Kai();
    change.accept(kai);
    var config = (KaiConfig) objects(plan(FRESH, kai, policies)).objects().getFirst();
    return config.getSpec().numaPlacementExporter.nodeSelector;
  }

  @Test
  void queuesOfOthersAreLeftAsTheyAre() {
    var kai = new SchedulerPolicy.Kai();
    kai.defaultQueues = true;
    var theirs =
        Serialization.unmarshal(
            "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: numa}\n",
            KaiQueue.class);
    var facts = new KaiFacts(Installation.WithNuma, Optional.empty(), List.of(), List.of(theirs));
    assertThat(objects(plan(facts, kai, policy("gpu", 1))).objects())
        .filteredOn(KaiQueue.class::isInstance)
        .extracting(queue -> queue.getMetadata().getName())
        .containsExactly("numa-parent");
  }

  @Test
  void aShardThatOnlyItsOwnerCouldMakeIsNotMade() {
    var kai = new SchedulerPolicy.Kai();
    kai.shard = "team-a";
    assertThat(plan(FRESH, kai, policy("gpu", 1)))
        .isInstanceOfSatisfying(
            Provision.Refused.class,
            refused -> assertThat(refused.reason()).isEqualTo("ShardNotFound"));
  }

  private static KaiFacts facts(String configMetadata, String shardMetadata) {
    return new KaiFacts(
        Installation.WithNuma,
        Optional.of(theirs("Config", "kai-config", configMetadata, KaiConfig.class)),
        List.of(theirs("SchedulingShard", "default", shardMetadata, SchedulingShard.class)),
        List.of());
  }

  private static <T> T theirs(String kind, String name, String metadata, Class<T> type) {
    return Serialization.unmarshal(
        "apiVersion: kai.scheduler/v1\nkind: %s\nmetadata: {name: %s, %s}\nspec: {}\n"
            .formatted(kind, name, metadata.isEmpty() ? "generation: 1" : metadata),
        type);
  }

  private static SchedulingShard.Spec shard(Provision provision) {
    return objects(provision).objects().stream()
        .filter(SchedulingShard.class::isInstance)
        .map(object -> ((SchedulingShard) object).getSpec())
        .findFirst()
        .orElseThrow();
  }

  private static Provision plan(KaiFacts facts, SchedulerPolicy.Kai kai, NumaPolicy... policies) {
    var setting = new SchedulerPolicy();
    setting.provider = SchedulerPolicy.Provider.KAI;
    setting.kai = kai;
    return SchedulerProviders.of(SchedulerPolicy.Provider.KAI)
        .plan(
            new SchedulerProvider.Input(cluster(36), List.of(policies), setting, Seen.kai(facts)));
  }

  private static Provision.Objects objects(Provision provision) {
    assertThat(provision).isInstanceOf(Provision.Objects.class);
    return (Provision.Objects) provision;
  }
}
