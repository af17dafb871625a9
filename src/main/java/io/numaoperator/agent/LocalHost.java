package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The node's files as they are mounted below a root directory. */
final class LocalHost implements KubeletHost {
  private static final int TAIL = 256 * 1024;
  private static final int SYMLINKS = 8;

  private final Path root;
  private final Path proc;

  /**
   * @param root where the node's root directory is seen, / for the node itself
   * @param proc where the node's processes are seen
   */
  LocalHost(Path root, Path proc) {
    this.root = root;
    this.proc = proc;
  }

  /** Where a path of the node is seen by this process. */
  Path local(String path) {
    return root.resolve(path.substring(1));
  }

  @Override
  public String bootId() throws IOException {
    return Files.readString(proc.resolve("sys/kernel/random/boot_id")).strip();
  }

  @Override
  public Optional<byte[]> read(String path) throws IOException {
    try {
      return Optional.of(Files.readAllBytes(followed(path)));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  /**
   * Absolute links (kubelet-server-current.pem is one) mean the node's root, not ours. Only a link
   * in the last place is looked at: directories are mounted where their path says.
   */
  private Path followed(String path) throws IOException {
    var file = local(path);
    for (int i = 0; i < SYMLINKS && Files.isSymbolicLink(file); i++) {
      var target = Files.readSymbolicLink(file);
      file = target.isAbsolute() ? local(target.toString()) : file.resolveSibling(target);
    }
    return file;
  }

  @Override
  public void write(String path, byte[] bytes) throws IOException {
    var file = local(path);
    // the kubelet reads only *.conf of its drop-in directory: a torn temporary file is no danger
    var temporary = file.resolveSibling("." + file.getFileName() + ".tmp");
    try (var channel =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      Files.setPosixFilePermissions(
          temporary,
          Files.exists(file)
              ? Files.getPosixFilePermissions(file)
              : PosixFilePermissions.fromString("rw-r--r--"));
      var buffer = ByteBuffer.wrap(bytes);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      channel.force(true);
    }
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    syncDirectory(file.getParent());
  }

  @Override
  public void delete(String path) throws IOException {
    if (Files.deleteIfExists(local(path))) {
      syncDirectory(local(path).getParent());
    }
  }

  private static void syncDirectory(Path directory) throws IOException {
    try (var channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  @Override
  public boolean isDirectory(String path) {
    return Files.isDirectory(local(path));
  }

  @Override
  public List<String> list(String directory) throws IOException {
    try (var children = Files.list(local(directory))) {
      return children.map(child -> child.getFileName().toString()).sorted().toList();
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    }
  }

  @Override
  public void makeDirectory(String path) throws IOException {
    var directory = local(path);
    if (!Files.isDirectory(directory)) {
      Files.createDirectory(directory);
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
      syncDirectory(directory.getParent());
    }
  }

  @Override
  public Optional<Instant> modified(String path) throws IOException {
    try {
      return Optional.of(Files.getLastModifiedTime(followed(path)).toInstant());
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  @Override
  public long size(String path) {
    try {
      return Files.size(local(path));
    } catch (IOException e) {
      return 0;
    }
  }

  @Override
  public String tail(String path, long offset) throws IOException {
    try (var channel = FileChannel.open(local(path), StandardOpenOption.READ)) {
      long size = channel.size();
      long from = Math.max(offset <= size ? offset : 0, size - TAIL);
      var buffer = ByteBuffer.allocate((int) (size - from));
      while (buffer.hasRemaining() && channel.read(buffer, from + buffer.position()) >= 0) {}
      return new String(buffer.array(), 0, buffer.position(), UTF_8);
    } catch (NoSuchFileException e) {
      return "";
    }
  }
}
