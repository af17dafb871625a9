package io.numaoperator.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

class CrdFilesTest {
  @Test
  void committedCrdsAreThoseOfTheClasses() throws IOException {
    for (var file : CrdFiles.generate().entrySet()) {
      assertThat(CrdFiles.DIRECTORY.resolve(file.getKey()))
          .as("stale: run 'make crds'")
          .hasContent(file.getValue());
    }
    try (var committed = Files.list(CrdFiles.DIRECTORY)) {
      assertThat(
              committed
                  .map(p -> p.getFileName().toString())
                  .filter(f -> !f.startsWith("kustomization")))
          .containsExactlyInAnyOrderElementsOf(CrdFiles.generate().keySet());
    }
  }
}
