package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Prometheus' own promtool reads the alerts and the dashboard's queries, and tries the alerts. */
class AlertsTest {
  private static final Path CASES = Path.of("src/test/resources/prometheus/alerts.yaml");

  @TempDir Path directory;
  private final YAMLMapper yaml = new YAMLMapper();

  private JsonNode groups() throws IOException {
    return yaml.readTree(Path.of("config/prometheus/prometheusrule.yaml").toFile()).path("spec");
  }

  private void promtool(String... arguments) throws Exception {
    var command = new ArrayList<>(List.of("promtool")); // hack/promtool.sh gets it
    command.addAll(List.of(arguments));
    var process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }

  @Test
  void eachAlertFiresOnWhatItIsForAndNotBefore() throws Exception {
    yaml.writeValue(directory.resolve("rules.yaml").toFile(), groups());
    promtool("check", "rules", "rules.yaml");
    Files.copy(CASES, directory.resolve("alerts.yaml"));
    promtool("test", "rules", "alerts.yaml");
    var cases = Files.readString(CASES);
    for (var alert : groups().at("/groups/0/rules")) {
      assertThat(cases).contains("alertname=\"%s\"".formatted(alert.path("alert").asText()));
    }
  }

  @Test
  void theDashboardsQueriesAreOfPrometheus() throws Exception {
    var rules = yaml.createObjectNode();
    var group = rules.putArray("groups").addObject().put("name", "dashboard");
    var list = group.putArray("rules");
    for (var panel :
        yaml.readTree(Path.of("config/grafana/numa-operator.json").toFile()).path("panels")) {
      for (var target : panel.path("targets")) {
        list.addObject()
            .put("record", "panel:%d:%d".formatted(panel.path("id").asInt(), list.size()))
            .put("expr", target.path("expr").asText().replace("$policy", ".*"));
      }
    }
    assertThat(list).hasSizeGreaterThan(10);
    yaml.writeValue(directory.resolve("dashboard.yaml").toFile(), rules);
    promtool("check", "rules", "dashboard.yaml");
  }
}
