package io.numaoperator.agent;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Finds the kubelet's own words for why it did not start: in what the guard took from the journal
 * when it ended, or in the log file of a node whose kubelet writes one.
 */
final class KubeletLog {
  static final String FILE = "/var/log/kubelet.log";
  private static final int LONGEST = 1500;

  // most telling first; the texts are of cmd/kubelet/app/server.go and pkg/kubelet/kubelet.go
  private static final List<Predicate<String>> TELLING =
      List.of(
          line -> line.contains("Failed to start ContainerManager"),
          line -> line.contains("\"command failed\""),
          line -> line.contains("failed to validate"),
          line -> line.contains("failed to run Kubelet"),
          // an unknown or locked feature gate (apis/config/v1beta1/defaults.go; seen in the lab)
          line -> line.startsWith("panic: "),
          line -> line.matches("[EF]\\d{4} .*"));

  private final KubeletHost host;

  KubeletLog(KubeletHost host) {
    this.host = host;
  }

  /**
   * The most telling error line written since a start, without klog's header; where there is no log
   * file, where to look.
   */
  String errorSince(Phase.Start start, String unit) {
    return line(start, KubeletUnit.named(unit).logFile()).orElse("see journalctl -u " + unit);
  }

  private Optional<String> line(Phase.Start start, String file) {
    try {
      var words = line(host.tail(GuardFiles.LAST_WORDS, 0));
      return words.isPresent() ? words : line(host.tail(file, start.logSize()));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static Optional<String> line(String text) {
    var lines = text.lines().toList();
    for (var telling : TELLING) {
      for (int i = lines.size() - 1; i >= 0; i--) {
        if (telling.test(lines.get(i))) {
          return Optional.of(shortened(lines.get(i)));
        }
      }
    }
    return Optional.empty();
  }

  /** {@code E0728 12:00:00.000000 1234 run.go:74] "command failed" …} less what is before the ]. */
  private static String shortened(String line) {
    int header = line.indexOf("] ");
    var text = line.matches("[IWEF]\\d{4} .*") && header > 0 ? line.substring(header + 2) : line;
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
  }
}
