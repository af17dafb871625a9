package io.numaoperator.probe;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.numaoperator.topology.bandwidth.Measured;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The process. Arguments: {@code --memory-mib N --repeats N --milliseconds N --threads N}. Its last
 * line is what it measured, as JSON after a mark; what comes before is for people.
 */
public final class ProbeMain {
  private static final Map<String, Integer> DEFAULTS =
      Map.of("--memory-mib", 1024, "--repeats", 5, "--milliseconds", 200, "--threads", 16);

  private ProbeMain() {}

  public static void main(String... args) throws InterruptedException {
    try {
      var options = options(args);
      var probe =
          new Probe(
              (long) options.get("--memory-mib") << 20,
              options.get("--repeats"),
              options.get("--milliseconds") * 1_000_000L,
              options.get("--threads"));
      var measured =
          probe.run(
              new Zones(Path.of("/sys/devices/system")).read(),
              Kernel.affinity(),
              () -> CpuTimes.parse(Files.readString(Path.of("/proc/stat"))),
              System.out::println);
      System.out.println(Measured.MARK + new ObjectMapper().writeValueAsString(measured));
    } catch (IOException | IllegalArgumentException e) {
      System.out.println("probe: " + e.getMessage());
      System.exit(1);
    }
  }

  private static Map<String, Integer> options(String... args) {
    var options = new HashMap<>(DEFAULTS);
    for (int i = 0; i < args.length; i += 2) {
      if (!DEFAULTS.containsKey(args[i])
          || i + 1 == args.length
          || !args[i + 1].matches("[1-9][0-9]{0,6}")) {
        throw new IllegalArgumentException(
            "options, each with a number from 1: " + String.join(" ", sorted(DEFAULTS.keySet())));
      }
      options.put(args[i], Integer.valueOf(args[i + 1]));
    }
    return options;
  }

  private static Set<String> sorted(Set<String> names) {
    return new java.util.TreeSet<>(names);
  }
}
