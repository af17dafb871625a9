package io.numaoperator.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Bytes that a process has had on its TCP connections (TLS included), by {@code ss} of iproute2.
 * Connections that ended between two looks keep what the last look saw of them.
 */
final class Traffic {
  private static final Pattern SENT = Pattern.compile(" bytes_sent:(\\d+)");
  private static final Pattern RECEIVED = Pattern.compile(" bytes_received:(\\d+)");

  private final long pid;
  private final Map<String, Long> connections = new HashMap<>();

  Traffic(long pid) {
    this.pid = pid;
  }

  /**
   * @return the bytes of all connections seen so far
   */
  long look() {
    try {
      var ss = new ProcessBuilder("ss", "-tinpOH", "state", "established").start();
      var text = new String(ss.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      for (var line : text.split("\n")) {
        if (line.contains("pid=" + pid + ",")) {
          var words = line.strip().split(" +");
          connections.put(words[2] + " " + words[3], number(SENT, line) + number(RECEIVED, line));
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException("ss of iproute2", e);
    }
    return connections.values().stream().mapToLong(Long::longValue).sum();
  }

  private static long number(Pattern pattern, String line) {
    var found = pattern.matcher(line);
    return found.find() ? Long.parseLong(found.group(1)) : 0;
  }
}
