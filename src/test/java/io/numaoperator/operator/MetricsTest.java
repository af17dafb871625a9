package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.micrometer.prometheus.PrometheusConfig;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.operator.Meters.Sample;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/metrics.md has what is exported, and alerts and dashboard use what docs/metrics.md has. */
class MetricsTest {
  private static final Pattern NAME = Pattern.compile("\\bnumaoperator_[a-z_]+");
  private static final Pattern CELL = Pattern.compile("`([a-z_]+)`");

  /** NAME{label="value",...} */
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"");

  private static NumaPolicy policy() {
    return new KubernetesSerialization()
        .unmarshal(
            """
            apiVersion: numaoperator.io/v1alpha1
            kind: NumaPolicy
            metadata: {name: gpu}
            spec: {mode: Enforce, nodeSelector: {}}
            status:
              nodes: {matched: 2, ready: 1, updating: 0, failed: 0}
              foreignPods: 3
              conditions: [{type: Ready, status: "False", reason: Waiting, message: m}]
              rejectionLoops: [{owner: Job a/b, pods: 5, since: "2026-06-01T12:00:00Z"}]
              rejectionLoopsLeftOut: 2
            """,
            NumaPolicy.class);
  }

  private static NumaNodeState node() {
    return new KubernetesSerialization()
        .unmarshal(
            """
            apiVersion: numaoperator.io/v1alpha1
            kind: NumaNodeState
            metadata: {name: gpu-1}
            spec: {policy: gpu}
            status:
              conditions: [{type: AlignmentReady, status: Unknown, reason: NoAgent, message: m}]
              attempt: {number: 1, step: Verifying, since: "2026-06-01T12:00:00Z"}
              containers:
                aligned: 4
                crossNuma: 3
                placed:
                - {pod: a/b, container: c, placement: CrossNUMA,
                   devices: [{resource: nvidia.com/gpu, count: 1}]}
                - {pod: a/b, container: d, placement: CrossNUMA,
                   devices: [{resource: nvidia.com/gpu, count: 1}]}
                - {pod: a/cpu, container: c, placement: CrossNUMA, cpus: 0-9}
                - {pod: a/e, container: c, placement: Aligned,
                   devices: [{resource: nvidia.com/gpu, count: 1}]}
            """,
            NumaNodeState.class);
  }

  private static String scrape() {
    var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    var meters = new Meters(registry);
    meters.attempted(Result.Succeeded);
    meters.drifted("gpu");
    meters.rejected("gpu-1", "TopologyAffinityError");
    meters.refitted("gpu-1", "NumaRefitSucceed");
    meters.explained(Duration.ofSeconds(3));
    meters.gauges(
        () ->
            FleetMetrics.samples(
                List.of(policy()), List.of(node()), Instant.parse("2026-06-01T12:01:00Z")));
    return registry.scrape();
  }

  /** Metric → its labels, as scraped; the parts of a histogram are one. */
  private static Map<String, Set<String>> exported() {
    var metrics = new TreeMap<String, Set<String>>();
    for (var line : scrape().split("\n", -1)) {
      if (line.startsWith("numaoperator_")) {
        var name = line.split("[{ ]", 2)[0].replaceAll("_(bucket|count|sum|max)$", "");
        var labels = metrics.computeIfAbsent(name, n -> new TreeSet<>());
        var label = LABEL.matcher(line);
        while (label.find()) {
          labels.add(label.group(1));
        }
        labels.remove("le");
      }
    }
    return metrics;
  }

  private static Map<String, Set<String>> documented() throws IOException {
    var metrics = new TreeMap<String, Set<String>>();
    for (var line : Files.readAllLines(Path.of("docs/metrics.md"))) {
      if (line.startsWith("| `numaoperator_")) {
        var cells = line.split("\\|", -1);
        var labels = new TreeSet<String>();
        var label = CELL.matcher(cells[3]);
        while (label.find()) {
          labels.add(label.group(1));
        }
        metrics.put(cells[1].strip().replace("`", ""), labels);
      }
    }
    return metrics;
  }

  @Test
  void everyMetricIsDocumentedWithItsLabelsAndNoOther() throws IOException {
    assertThat(exported()).hasSizeGreaterThan(10).isEqualTo(documented());
  }

  @Test
  void theNumbersAreThoseOfTheObjects() {
    assertThat(scrape().replace(",}", "}"))
        .contains(
            "numaoperator_policy_nodes{policy=\"gpu\",state=\"ready\"} 1.0",
            "numaoperator_policy_condition{condition=\"Ready\",policy=\"gpu\",reason=\"Waiting\"}"
                + " 0.0",
            "numaoperator_node_condition{condition=\"AlignmentReady\",node=\"gpu-1\",policy=\"gpu\""
                + ",reason=\"NoAgent\"} -1.0",
            "numaoperator_rejection_loops{policy=\"gpu\"} 3.0",
            "numaoperator_node_misaligned_gpu_pods{node=\"gpu-1\",policy=\"gpu\"} 1.0",
            "numaoperator_node_attempt_step_age_seconds{node=\"gpu-1\",policy=\"gpu\",step=\"Verifying\"}"
                + " 60.0",
            "numaoperator_rejection_explained_seconds_bucket{le=\"5.0\"} 1");
  }

  /** What is gone from the objects is gone from the metrics. */
  @Test
  void gaugesGoWithTheirObjects() {
    var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    var meters = new Meters(registry);
    var nodes = new ArrayList<NumaNodeState>(List.of(node()));
    meters.gauges(() -> FleetMetrics.samples(List.of(), nodes, Instant.now()));
    assertThat(registry.scrape()).contains("gpu-1");
    nodes.clear();
    assertThat(registry.scrape()).doesNotContain("gpu").contains("numaoperator_leading 1.0");
  }

  /** Prometheus takes nothing of a scrape in which a line stands twice. */
  @Test
  void noLineStandsTwice() {
    var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new Meters(registry)
        .gauges(
            () ->
                List.of(
                    Sample.of("numaoperator.rejection.loop.pods", 1, "owner", "a"),
                    Sample.of("numaoperator.rejection.loop.pods", 2, "owner", "a")));
    assertThat(registry.scrape().lines().filter(line -> !line.startsWith("#")))
        .containsExactly("numaoperator_rejection_loop_pods{owner=\"a\",} 2.0");
  }

  @Test
  void allOfOursAreInOneClass() throws IOException {
    try (var files = Files.walk(Path.of("src/main/java"))) {
      assertThat(
              files
                  .filter(f -> f.toString().endsWith(".java"))
                  .filter(f -> read(f).contains("\"numaoperator.") && usesMicrometer(f)))
          .extracting(f -> f.getFileName().toString())
          .containsExactly("Meters.java");
    }
  }

  private static boolean usesMicrometer(Path file) {
    return read(file).contains("import io.micrometer");
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<JsonNode> alerts() throws IOException {
    var rules = new ArrayList<JsonNode>();
    new YAMLMapper()
        .readTree(Path.of("config/prometheus/prometheusrule.yaml").toFile())
        .at("/spec/groups")
        .forEach(group -> group.get("rules").forEach(rules::add));
    return rules;
  }

  @Test
  void everyAlertUsesDocumentedMetricsAndIsDocumented() throws IOException {
    var text = Files.readString(Path.of("docs/metrics.md"));
    var alerts = alerts();
    assertThat(alerts).hasSizeGreaterThan(8);
    for (var alert : alerts) {
      usesWhatIsDocumented(alert.get("expr").asText());
      assertThat(alert.at("/annotations/summary").asText()).isNotBlank();
      assertThat(alert.at("/annotations/description").asText()).isNotBlank();
    }
    var told = new ArrayList<String>();
    var row = Pattern.compile("(?m)^\\| `(Numa[A-Za-z]+)` \\|").matcher(text);
    while (row.find()) {
      told.add(row.group(1));
    }
    assertThat(alerts).extracting(a -> a.get("alert").asText()).containsExactlyElementsOf(told);
  }

  /** A reason that no condition has any more would silence nothing, or raise nothing. */
  @Test
  void alertsNameReasonsThatThereAre() throws IOException {
    var reasons = Files.readString(Path.of("docs/troubleshooting.md"));
    for (var alert : alerts()) {
      var match = Pattern.compile("reason!?=~?\"([^\"]+)\"").matcher(alert.get("expr").asText());
      while (match.find()) {
        for (var reason : match.group(1).replace(".*", "").split("\\|", -1)) {
          assertThat(reasons).contains("`" + reason);
        }
      }
    }
  }

  @Test
  void theDashboardUsesDocumentedMetrics() throws IOException {
    var dashboard =
        new YAMLMapper().readTree(Path.of("config/grafana/numa-operator.json").toFile());
    var ids = new TreeSet<Integer>();
    for (var panel : dashboard.get("panels")) {
      assertThat(ids.add(panel.get("id").asInt())).isTrue();
      assertThat(panel.get("targets")).isNotEmpty();
      panel.get("targets").forEach(target -> usesWhatIsDocumented(target.get("expr").asText()));
    }
    assertThat(ids).hasSizeGreaterThan(8);
    dashboard
        .at("/templating/list")
        .forEach(
            variable -> {
              if (variable.path("query").isObject()) {
                usesWhatIsDocumented(variable.at("/query/query").asText());
              }
            });
  }

  /** Its metrics, and the labels it selects them by. */
  private static void usesWhatIsDocumented(String expression) {
    try {
      var documented = documented();
      var names = NAME.matcher(expression);
      int found = 0;
      while (names.find()) {
        found++;
        var name = names.group().replaceAll("_(bucket|count|sum)$", "");
        assertThat(documented).as(expression).containsKey(name);
        var rest = expression.substring(names.end());
        if (rest.startsWith("{")) {
          var selected = Pattern.compile("([a-z_]+)\\s*(?:=~|!~|!=|=)").matcher(rest);
          selected.region(0, rest.indexOf('}'));
          while (selected.find()) {
            assertThat(documented.get(name)).as(expression).contains(selected.group(1));
          }
        }
      }
      assertThat(found).as(expression).isPositive();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
