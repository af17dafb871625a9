package io.numaoperator.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Renders the Helm chart by {@code helm-template} (src/helm), and folders of config/ by kubectl.
 */
final class Chart {
  private static final Path BIN = Path.of(System.getProperty("lab.bin", ""));

  private Chart() {}

  /**
   * As {@code helm template} prints it.
   *
   * @param values as helm takes them: {@code name=value}
   */
  static String template(String... values) {
    return run(
        Stream.of(
                Stream.of(BIN.resolve("helm-template").toString()),
                Stream.of(values).flatMap(value -> Stream.of("--set", value)),
                Stream.of("charts/numa-operator"))
            .flatMap(words -> words)
            .toList());
  }

  /** A folder of config/, as kubectl applies it. */
  static String kustomize(String folder) {
    return run(List.of(BIN.resolve("kubectl").toString(), "kustomize", "config/" + folder));
  }

  private static String run(List<String> command) {
    try {
      var process = new ProcessBuilder(command).redirectErrorStream(true).start();
      var text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException(text.strip());
      }
      return text;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
