package io.numaoperator.bench;

import java.nio.file.Path;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** Runs {@link PerNode}, in a JVM of JMH's own. */
final class PerNodePart {
  private static final String ALLOCATION = "gc.alloc.rate.norm";

  private PerNodePart() {}

  static Report run(Path directory) throws RunnerException {
    var report = new Report(directory.resolve("per-node.md"), "For one node, of 5,000");
    var options =
        new OptionsBuilder()
            .include(PerNode.class.getName())
            .addProfiler(GCProfiler.class)
            .jvmArgs("-XX:+UseSerialGC", "-XX:+UseCompactObjectHeaders", "-Xmx512m")
            .output(directory.resolve("jmh.log").toString())
            .build();
    for (var result : new Runner(options).run()) {
      var name = result.getPrimaryResult().getLabel();
      report.put("time", name, "%.1f µs".formatted(result.getPrimaryResult().getScore()));
      result.getSecondaryResults().entrySet().stream()
          .filter(entry -> entry.getKey().endsWith(ALLOCATION))
          .findFirst()
          .ifPresent(
              entry ->
                  report.put(
                      "allocated", name, "%.1f kB".formatted(entry.getValue().getScore() / 1e3)));
    }
    return report;
  }
}
