package io.numaoperator.plan;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The chart is made of config/; what it renders to is compared in {@code ChartLabTest}. */
class ChartFilesTest {
  @Test
  void committedTemplatesAreThoseOfConfig() throws IOException {
    var made = ChartFiles.generate();
    for (var file : made.entrySet()) {
      assertThat(ChartFiles.MADE.resolve(file.getKey()))
          .as("stale: run 'make chart'")
          .hasContent(file.getValue());
    }
    try (var committed = Files.walk(ChartFiles.MADE)) {
      assertThat(
              committed
                  .filter(Files::isRegularFile)
                  .map(file -> ChartFiles.MADE.relativize(file).toString())
                  .filter(file -> file.contains("/")))
          .containsExactlyInAnyOrderElementsOf(made.keySet());
    }
  }

  /** Each folder of config/ that holds objects is in the chart, or is not for this. */
  @Test
  void nothingOfConfigIsForgotten() throws IOException {
    try (var folders = Files.list(ChartFiles.CHART.resolve("../../config").normalize())) {
      assertThat(folders.map(folder -> folder.getFileName().toString()))
          .filteredOn(folder -> !List.of("crd", "default", "samples", "grafana").contains(folder))
          .filteredOn(folder -> !folder.equals("krew"))
          .containsExactlyInAnyOrderElementsOf(ChartFiles.FOLDERS.keySet());
    }
  }

  /** Each value is used by a template, has a description, and no description is of no value. */
  @Test
  void everyValueIsUsedAndDescribed() throws IOException {
    var values = new YAMLMapper().readTree(ChartFiles.CHART.resolve("values.yaml").toFile());
    var schema = new JsonMapper().readTree(ChartFiles.CHART.resolve("values.schema.json").toFile());
    var described = described("", schema);
    described.remove("global");
    assertThat(described).containsExactlyInAnyOrderElementsOf(leaves("", values));
    String templates;
    try (var files = Files.walk(ChartFiles.MADE)) {
      templates =
          files
              .filter(Files::isRegularFile)
              .map(ChartFilesTest::read)
              .collect(Collectors.joining("\n"));
    }
    assertThat(described).allSatisfy(value -> assertThat(templates).contains(".Values." + value));
  }

  /** The chart's version is that of the image that config/ names. */
  @Test
  void theVersionIsThatOfTheImage() throws IOException {
    var chart = new YAMLMapper().readTree(ChartFiles.CHART.resolve("Chart.yaml").toFile());
    var values = new YAMLMapper().readTree(ChartFiles.CHART.resolve("values.yaml").toFile());
    assertThat(Files.readString(ChartFiles.CHART.resolve("../../config/manager/deployment.yaml")))
        .contains(
            "image: "
                + values.at("/image/repository").asText()
                + ":"
                + chart.get("appVersion").asText()
                + "\n");
    assertThat(chart.get("version")).isEqualTo(chart.get("appVersion"));
  }

  private static List<String> described(String path, JsonNode schema) {
    var names = new ArrayList<String>();
    for (var property : schema.path("properties").properties()) {
      assertThat(property.getValue().path("description").asText())
          .as(path + property.getKey())
          .isNotBlank();
      if (property.getValue().has("properties")) {
        assertThat(property.getValue().path("additionalProperties").asBoolean(true)).isFalse();
        names.addAll(described(path + property.getKey() + ".", property.getValue()));
      } else {
        names.add(path + property.getKey());
      }
    }
    return names;
  }

  /** Those that the schema describes: what is Kubernetes' own is taken as it is. */
  private static List<String> leaves(String path, JsonNode values) {
    var names = new ArrayList<String>();
    for (var value : values.properties()) {
      var kubernetes = List.of("resources", "nodeSelector").contains(value.getKey());
      if (value.getValue().isObject() && !kubernetes) {
        names.addAll(leaves(path + value.getKey() + ".", value.getValue()));
      } else {
        names.add(path + value.getKey());
      }
    }
    return names;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
