package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program of src/tools: what others make of our objects. */
record Judge(List<String> command) {
  /**
   * @param program its name
   * @param script what it judges by, from a page of docs; empty for none
   */
  static Judge of(String program, String script) throws IOException {
    var binary = Path.of(System.getProperty("lab.bin", ""), program);
    if (!Files.isExecutable(binary)) {
      throw new IllegalStateException(
          "needs -Dlab.bin with the output of src/tools/build.sh: run it by 'make test'");
    }
    var command = new ArrayList<>(List.of(binary.toString()));
    if (!script.isEmpty()) {
      command.add(Files.writeString(Files.createTempFile("judge", ".txt"), script).toString());
    }
    return new Judge(command);
  }

  /** Its first word: Current, Healthy and so on. */
  String of(HasMetadata object) throws IOException, InterruptedException {
    return verdict(object).split(":", 2)[0];
  }

  String verdict(HasMetadata object) throws IOException, InterruptedException {
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (var in = process.outputWriter()) {
      in.write(Serialization.asJson(object));
    }
    var said =
        new String(
            process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said.strip();
  }
}
