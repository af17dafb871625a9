package io.numaoperator.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Runs the parts that were asked for and writes their tables to target/bench. */
public final class Bench {
  /** The promise is 30 minutes, with the building and the ends of what was begun. */
  private static final Duration WHOLE = Duration.ofMinutes(27);

  private static final Path DIRECTORY = Path.of("target/bench");

  private Bench() {}

  /**
   * @param words the parts; PARTS, SIZES and JAVA_OPTIONS are system properties bench.…
   */
  public static void main(String[] words) throws Exception {
    var parts =
        List.of(
            System.getProperty("bench.parts", "per-node agent scheduler operator")
                .strip()
                .split("\\s+"));
    var sizes =
        Arrays.stream(System.getProperty("bench.sizes", "100 1000 5000").strip().split("\\s+"))
            .map(Integer::parseInt)
            .toList();
    var wrong = new ArrayList<String>();
    machine();
    var options = System.getProperty("bench.options", "");
    var deadline = new Deadline(WHOLE);
    for (var part : parts) {
      System.out.println("== " + part);
      switch (part) {
        case "operator" -> {
          var operator = new OperatorPart(DIRECTORY, options, deadline);
          each(part, sizes, operator::run, wrong);
          wrong.addAll(operator.wrong());
          System.out.println(operator.report().markdown());
        }
        case "scheduler" -> {
          var scheduler = new SchedulerPart(DIRECTORY, options, deadline);
          each(part, sizes, scheduler::run, wrong);
          wrong.addAll(scheduler.wrong());
          System.out.println(scheduler.report().markdown());
        }
        case "agent" -> {
          var agent = new AgentPart(DIRECTORY, deadline);
          one(part, agent::run, wrong);
          System.out.println(agent.report().markdown());
        }
        case "per-node" -> System.out.println(PerNodePart.run(DIRECTORY).markdown());
        default -> throw new IllegalArgumentException("no such part: " + part);
      }
    }
    wrong.forEach(what -> System.out.println("WRONG: " + what));
    System.exit(wrong.isEmpty() ? 0 : 1); // the client's threads may be left
  }

  private interface Part {
    void run(int size) throws Exception;
  }

  private static void each(String part, List<Integer> sizes, Part run, List<String> wrong)
      throws Exception {
    for (int size : sizes) {
      one(part + ", " + size + " nodes", () -> run.run(size), wrong);
    }
  }

  private interface Run {
    void run() throws Exception;
  }

  private static void one(String what, Run run, List<String> wrong) throws Exception {
    try {
      run.run();
    } catch (OperatorPart.WrongException e) {
      wrong.add(what + ": " + e.getMessage());
    } catch (Deadline.OutOfTimeException e) {
      System.out.printf("LEFT OUT: %s: %s%n", what, e.getMessage());
    } catch (RuntimeException | IOException e) { // the other parts are measured all the same
      e.printStackTrace();
      wrong.add(what + ": " + e);
    }
  }

  private static void machine() throws IOException {
    var cpu =
        Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
            .filter(line -> line.startsWith("model name"))
            .map(line -> line.replaceAll(".*: ", ""))
            .findFirst()
            .orElse("unknown CPU");
    var text =
        "%s, %d cores, %s; load when begun %s; JDK %s; commit %s; %s"
            .formatted(
                cpu,
                Runtime.getRuntime().availableProcessors(),
                Files.readAllLines(Path.of("/proc/meminfo")).getFirst().replaceAll(" +", " "),
                Files.readString(Path.of("/proc/loadavg")).split(" ")[0],
                System.getProperty("java.version"),
                System.getProperty("bench.commit", "unknown"),
                Instant.now().truncatedTo(ChronoUnit.MINUTES));
    System.out.println(text);
    Files.createDirectories(DIRECTORY);
    Files.writeString(DIRECTORY.resolve("machine.md"), text + "\n");
  }
}
