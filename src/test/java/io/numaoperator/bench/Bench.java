package io.numaoperator.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Runs the parts that were asked for and writes their tables to target/bench. */
public final class Bench {
  private static final Path DIRECTORY = Path.of("target/bench");

  private Bench() {}

  /**
   * @param words the parts; PARTS, SIZES and JAVA_OPTIONS are system properties bench.…
   */
  public static void main(String[] words) throws Exception {
    var parts = List.of(System.getProperty("bench.parts", "operator").strip().split("\\s+"));
    var sizes =
        Arrays.stream(System.getProperty("bench.sizes", "100 1000 5000").strip().split("\\s+"))
            .map(Integer::parseInt)
            .toList();
    var wrong = new ArrayList<String>();
    machine();
    for (var part : parts) {
      System.out.println("== " + part);
      switch (part) {
        case "operator" -> {
          var operator = new OperatorPart(DIRECTORY, System.getProperty("bench.options", ""));
          for (int size : sizes) {
            try {
              operator.run(size);
            } catch (OperatorPart.WrongException e) {
              wrong.add(part + ", " + size + " nodes: " + e.getMessage());
            }
          }
          wrong.addAll(operator.wrong());
          System.out.println(operator.report().markdown());
        }
        default -> throw new IllegalArgumentException("no such part: " + part);
      }
    }
    wrong.forEach(what -> System.out.println("WRONG: " + what));
    System.exit(wrong.isEmpty() ? 0 : 1); // the client's threads may be left
  }

  private static void machine() throws IOException {
    var cpu =
        Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
            .filter(line -> line.startsWith("model name"))
            .map(line -> line.replaceAll(".*: ", ""))
            .findFirst()
            .orElse("unknown CPU");
    var text =
        "%s, %d cores, %s; load when begun %s; JDK %s; %s"
            .formatted(
                cpu,
                Runtime.getRuntime().availableProcessors(),
                Files.readAllLines(Path.of("/proc/meminfo")).getFirst().replaceAll(" +", " "),
                Files.readString(Path.of("/proc/loadavg")).split(" ")[0],
                System.getProperty("java.version"),
                Instant.now().truncatedTo(ChronoUnit.MINUTES));
    System.out.println(text);
    Files.createDirectories(DIRECTORY);
    Files.writeString(DIRECTORY.resolve("machine.md"), text + "\n");
  }
}
