package io.numaoperator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** The workflows run elsewhere; what can be seen here is that they call what there is. */
class WorkflowsTest {
  private static final Path WORKFLOWS = Path.of(".github/workflows");

  @Test
  void everyTargetThatAWorkflowMakesIsThere() throws IOException {
    var targets = DocsTest.targets();
    for (var workflow : files()) {
      var tree = new YAMLMapper().readTree(workflow.toFile());
      var made = new ArrayList<String>();
      for (var job : tree.path("jobs")) {
        assertThat(job.path("timeout-minutes").asInt()).as("%s", workflow).isPositive();
        for (var step : job.path("steps")) {
          step.path("run").asText().lines().forEach(line -> made.addAll(made(line, job)));
          action(step.path("uses").asText());
        }
      }
      assertThat(made).as("%s", workflow).isNotEmpty().isSubsetOf(targets);
    }
  }

  /** A change that somebody proposes is built by these. */
  @Test
  void noWorkflowMayWriteButARelease() throws IOException {
    for (var workflow : files()) {
      var permissions = new YAMLMapper().readTree(workflow.toFile()).path("permissions");
      assertThat(permissions.isObject()).as("%s", workflow).isTrue();
      if (!workflow.endsWith("release.yaml")) {
        assertThat(permissions).as("%s", workflow).allMatch(p -> p.asText().equals("read"));
      }
    }
  }

  /** With a matrix, the targets of all of its values. */
  private static List<String> made(String line, JsonNode job) {
    if (!line.contains("matrix.suite")) {
      return DocsTest.made(line);
    }
    return StreamSupport.stream(job.at("/strategy/matrix/suite").spliterator(), false)
        .flatMap(suite -> DocsTest.made(line.replaceAll("\\$\\{\\{.*}}", suite.asText())).stream())
        .toList();
  }

  private static void action(String uses) {
    if (uses.startsWith("./")) {
      assertThat(Path.of(uses).resolve("action.yaml")).exists();
    } else if (!uses.isEmpty()) {
      assertThat(uses).matches("actions/[a-z-]+@v\\d+");
    }
  }

  private static List<Path> files() throws IOException {
    try (var files = Files.list(WORKFLOWS)) {
      return files.sorted().toList();
    }
  }
}
