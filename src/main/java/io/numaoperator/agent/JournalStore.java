package io.numaoperator.agent;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;

/** The journal on the node's disk, and the backups beside it. */
final class JournalStore {
  static final String DIRECTORY = "/var/lib/numaoperator";
  static final String BACKUPS = DIRECTORY + "/backup";
  static final String CONFIGZ = BACKUPS + "/configz.json";
  private static final String JOURNAL = DIRECTORY + "/journal.json";

  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .serializationInclusion(JsonInclude.Include.NON_NULL)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private final KubeletHost host;

  JournalStore(KubeletHost host) {
    this.host = host;
  }

  /**
   * The last attempt, running or done.
   *
   * @throws IOException also when the journal cannot be understood: nothing may be started then
   */
  Optional<Journal> load() throws IOException {
    var bytes = host.read(JOURNAL);
    if (bytes.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(MAPPER.readValue(bytes.get(), Journal.class));
    } catch (JsonProcessingException e) {
      throw new IOException(JOURNAL + " cannot be read: " + e.getOriginalMessage(), e);
    }
  }

  void save(Journal journal) throws IOException {
    host.write(JOURNAL, MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(journal));
  }

  /** Copies a file of the node into the backups, or notes that there is none. */
  Journal.Saved backUp(String path) throws IOException {
    var bytes = host.read(path);
    if (bytes.isPresent()) {
      host.write(backup(path), bytes.get());
    } else {
      host.delete(backup(path));
    }
    return new Journal.Saved(path, bytes.isPresent());
  }

  /** Puts back what was there, unless it is still there. */
  void restore(Journal.Saved saved) throws IOException {
    if (!saved.present()) {
      host.delete(saved.path());
      return;
    }
    if (!isAsBefore(saved)) {
      host.write(
          saved.path(),
          host.read(backup(saved.path()))
              .orElseThrow(() -> new IOException("the backup of " + saved.path() + " is gone")));
    }
  }

  /** Whether it is as it was when the backup was made. */
  boolean isAsBefore(Journal.Saved saved) throws IOException {
    var found = host.read(saved.path());
    return saved.present()
        ? found.isPresent()
            && host.read(backup(saved.path()))
                .filter(bytes -> Arrays.equals(bytes, found.get()))
                .isPresent()
        : found.isEmpty();
  }

  private static String backup(String path) {
    return BACKUPS + "/" + backupName(path);
  }

  /** The name of a file's backup in {@link #BACKUPS}. */
  static String backupName(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
