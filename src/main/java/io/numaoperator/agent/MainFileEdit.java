package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.MainFile;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Edits the kubelet's main file. Each plan is laid over what the file's owner wrote, never over the
 * last plan: else what a new plan leaves out would stay. So the owner's version is kept, with the
 * hash of what was made of it; a file with any other hash is the owner's again.
 */
final class MainFileEdit {
  static final String ORIGINAL = JournalStore.DIRECTORY + "/main-file.original";
  private static final String EDITED = JournalStore.DIRECTORY + "/main-file.edited";
  private static final String BASE = JournalStore.BACKUPS + "/main-file.base";

  private final KubeletHost host;

  MainFileEdit(KubeletHost host) {
    this.host = host;
  }

  /**
   * An edit that is in the file now.
   *
   * @param content the file with it
   * @param plan hash of what was put into it
   * @param owners the file without it
   */
  record Edit(byte[] content, String plan, byte[] owners) {}

  /** What an edit writes beside the file itself. */
  static List<String> notes() {
    return List.of(ORIGINAL, EDITED);
  }

  /** What is in the file of ours; empty where nobody edited it, or its owner wrote it anew. */
  Optional<Edit> found(String mainFile) throws IOException {
    var now = seen(mainFile);
    var original = host.read(ORIGINAL);
    var note = host.read(EDITED).map(bytes -> new String(bytes, UTF_8).split(" ", 2));
    if (now.isEmpty()
        || original.isEmpty()
        || note.filter(words -> words[0].equals(DropIn.hash(now.get()))).isEmpty()) {
      return Optional.empty();
    }
    var words = note.get();
    return Optional.of(new Edit(now.get(), words[words.length - 1], original.get()));
  }

  /** The file as its owner wrote it. */
  byte[] owners(String mainFile) throws IOException {
    var edit = found(mainFile);
    return edit.isPresent()
        ? edit.get().owners()
        : seen(mainFile).orElseThrow(() -> new IOException(mainFile + " is gone"));
  }

  /** Empty also where the kubelet has no main file. */
  private Optional<byte[]> seen(String mainFile) throws IOException {
    return mainFile.isEmpty() ? Optional.empty() : host.read(mainFile);
  }

  /** Decides what is edited: once for an attempt, before anything is written. */
  void prepare(Journal.Granted granted) throws IOException {
    host.write(BASE, owners(granted.mainFile()));
  }

  void write(Journal.Granted granted) throws IOException {
    var base =
        host.read(BASE).orElseThrow(() -> new IOException("the backup " + BASE + " is gone"));
    var content = MainFile.with(base, granted.fragment());
    host.write(ORIGINAL, base);
    host.write(EDITED, (DropIn.hash(content) + " " + granted.hash()).getBytes(UTF_8));
    host.write(granted.mainFile(), content);
  }

  /**
   * Brings the owner's version back. The notes go last: until then this can be done again. Where
   * the file cannot be seen they stay, since they have the only copy of it.
   */
  void giveBack(String mainFile) throws IOException {
    if (seen(mainFile).isEmpty()) {
      return;
    }
    var edit = found(mainFile);
    if (edit.isPresent()) {
      host.write(mainFile, edit.get().owners());
    }
    for (var note : notes()) {
      if (host.read(note).isPresent()) {
        host.delete(note);
      }
    }
  }
}
