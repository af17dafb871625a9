package io.numaoperator.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** What one user has asked of the API server, from its audit log. */
final class AuditLog {
  private final Path file;
  private final String user;
  private final JsonMapper mapper = new JsonMapper();
  private long read;

  /**
   * @param user whose requests count
   */
  AuditLog(Path file, String user) {
    this.file = file;
    this.user = user;
  }

  /** A policy that logs this user's requests only: those of thousands of kubelets would weigh. */
  static String policy(String user) {
    return """
    apiVersion: audit.k8s.io/v1
    kind: Policy
    omitStages: [RequestReceived]
    rules:
    - {level: Metadata, users: ["%s"]}
    - {level: None}
    """
        .formatted(user);
  }

  /**
   * @param byKind verb and resource → how many requests
   */
  record Requests(Map<String, Integer> byKind) {
    int total() {
      return byKind.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** What changes an object, or reads one that a watch could have told. */
    int but(String... kinds) {
      return total() - Arrays.stream(kinds).mapToInt(kind -> byKind.getOrDefault(kind, 0)).sum();
    }

    int of(String verb) {
      return byKind.entrySet().stream()
          .filter(e -> e.getKey().startsWith(verb + " "))
          .mapToInt(Map.Entry::getValue)
          .sum();
    }
  }

  /** Those since it was last asked. */
  Requests next() {
    var counts = new TreeMap<String, Integer>();
    for (var line : lines()) {
      var event = json(line);
      if (event.path("user").path("username").asText().equals(user)) {
        var object = event.path("objectRef");
        var resource = object.path("resource").asText();
        var sub = object.path("subresource").asText();
        counts.merge(
            event.path("verb").asText() + " " + resource + (sub.isEmpty() ? "" : "/" + sub),
            1,
            Integer::sum);
      }
    }
    return new Requests(counts);
  }

  private JsonNode json(String line) {
    try {
      return mapper.readTree(line);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A line that is being written is left for the next time. */
  private String[] lines() {
    if (!Files.exists(file)) {
      return new String[0];
    }
    try (var log = new RandomAccessFile(file.toFile(), "r")) {
      var fresh = new byte[(int) (log.length() - read)];
      log.seek(read);
      log.readFully(fresh);
      var text = new String(fresh, StandardCharsets.UTF_8);
      int end = text.lastIndexOf('\n') + 1;
      read += text.substring(0, end).getBytes(StandardCharsets.UTF_8).length;
      return end == 0 ? new String[0] : text.substring(0, end).split("\n");
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
