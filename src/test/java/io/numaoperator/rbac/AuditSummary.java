package io.numaoperator.rbac;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What is kept of the labs' audit logs, which go with their labs: each distinct request of our
 * ServiceAccounts once, a line of JSON, a file for each lab. Labs run side by side and in several
 * processes.
 */
public final class AuditSummary {
  private static final Path DIRECTORY = Path.of("target/audit");
  private static final JsonMapper MAPPER = new JsonMapper();

  private AuditSummary() {}

  /**
   * @param lab the test class that had it
   * @param unique what tells its labs apart
   */
  public static void keep(String lab, String unique, Path auditLog) {
    try {
      Files.createDirectories(DIRECTORY);
      Files.write(
          DIRECTORY.resolve(lab + "-" + unique + ".jsonl"),
          requests(lab, auditLog).stream().map(AuditSummary::json).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Set<AuditedRequest> requests(String lab, Path auditLog) throws IOException {
    var requests = new LinkedHashSet<AuditedRequest>();
    try (var lines = Files.lines(auditLog)) {
      for (var line : (Iterable<String>) lines::iterator) {
        // the last one may be half written; of the others most are the control plane's
        if (line.endsWith("}") && line.contains(":serviceaccount:")) {
          AuditedRequest.of(lab, MAPPER.readTree(line)).ifPresent(requests::add);
        }
      }
    }
    return requests;
  }

  private static String json(AuditedRequest request) {
    try {
      return MAPPER.writeValueAsString(request);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Of all labs that were kept. */
  static List<AuditedRequest> all() throws IOException {
    if (!Files.isDirectory(DIRECTORY)) {
      return List.of();
    }
    try (var files = Files.list(DIRECTORY)) {
      return files.flatMap(AuditSummary::read).toList();
    }
  }

  private static Stream<AuditedRequest> read(Path file) {
    try (var values = MAPPER.readerFor(AuditedRequest.class).readValues(file.toFile())) {
      return values.readAll().stream().map(AuditedRequest.class::cast);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
