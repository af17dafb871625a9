package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The agent as its pods run it, but that an attempt can be held at a step: when the journal is on
 * the disk with it, and nothing of it has been done. Everything else of the agent goes on. See
 * HeldNodes in the lab's tests.
 *
 * <p>In {@link #DIRECTORY} of the node: {@code hold} has the points to hold at, one a line, and is
 * the test's; {@code held} the point that was reached; {@code history} each that the journal came
 * to, behind its attempt. A point is a phase, with its stage where it has one: {@code
 * RollingBack/Restore}; {@code Granted} is before the grant's number is used up.
 */
public final class HeldAgent {
  private static final String DIRECTORY = "/var/lib/kubelet/hook";
  private static final String JOURNAL = JournalStore.DIRECTORY + "/journal.json";

  private HeldAgent() {}

  public static void main(String... args) throws InterruptedException {
    AgentMain.start(Disk::new, args);
  }

  private record Disk(KubeletHost real) implements KubeletHost {
    @Override
    public void write(String path, byte[] bytes) throws IOException {
      if (!path.equals(JOURNAL) || !real.isDirectory(DIRECTORY)) {
        real.write(path, bytes);
        return;
      }
      var journal = new JsonMapper().readTree(bytes);
      var phase = journal.path("phase");
      var stage = phase.path("stage").asText();
      var point = phase.path("phase").asText() + (stage.isEmpty() ? "" : "/" + stage);
      if (point.equals("Preparing")) {
        holdAt("Granted");
      }
      real.write(path, bytes);
      var line = journal.path("granted").path("attempt").asText() + " " + point + "\n";
      real.write(DIRECTORY + "/history", (text("history") + line).getBytes(UTF_8));
      holdAt(point);
    }

    private void holdAt(String point) throws IOException {
      while (Arrays.asList(text("hold").split("\n", -1)).contains(point)) {
        if (!text("held").equals(point)) {
          real.write(DIRECTORY + "/held", point.getBytes(UTF_8));
        }
        try {
          Thread.sleep(50);
        } catch (InterruptedException e) {
          throw new InterruptedIOException();
        }
      }
    }

    private String text(String file) throws IOException {
      return real.read(DIRECTORY + "/" + file).map(bytes -> new String(bytes, UTF_8)).orElse("");
    }

    @Override
    public String bootId() throws IOException {
      return real.bootId();
    }

    @Override
    public Optional<byte[]> read(String path) throws IOException {
      return real.read(path);
    }

    @Override
    public void delete(String path) throws IOException {
      real.delete(path);
    }

    @Override
    public boolean isDirectory(String path) {
      return real.isDirectory(path);
    }

    @Override
    public List<String> list(String directory) throws IOException {
      return real.list(directory);
    }

    @Override
    public void makeDirectory(String path) throws IOException {
      real.makeDirectory(path);
    }

    @Override
    public Optional<Instant> modified(String path) throws IOException {
      return real.modified(path);
    }

    @Override
    public long size(String path) {
      return real.size(path);
    }

    @Override
    public String tail(String path, long offset) throws IOException {
      return real.tail(path, offset);
    }
  }
}
