package io.numaoperator.agent;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The node's files, by their absolute paths on the node. */
interface KubeletHost {
  /** The kernel's id of the running boot. */
  String bootId() throws IOException;

  /** The file's bytes; empty when there is no such file. */
  Optional<byte[]> read(String path) throws IOException;

  /**
   * Puts the file there, a new one with mode 0644, whole or not at all, and durably: on return it
   * survives a power loss. Its directory must exist.
   */
  void write(String path, byte[] bytes) throws IOException;

  /** Removes the file durably; that it is not there is fine. */
  void delete(String path) throws IOException;

  boolean isDirectory(String path);

  /** The names in a directory, sorted; none when there is no such directory. */
  List<String> list(String directory) throws IOException;

  /** Makes the directory, durably; that it is there is fine. Its parent must exist. */
  void makeDirectory(String path) throws IOException;

  /** When the file was last changed; empty when there is no such file. */
  Optional<Instant> modified(String path) throws IOException;

  /** The file's size in bytes, 0 when there is no such file. */
  long size(String path);

  /**
   * The end of a log file: what was written behind the offset, at most the last 256 KiB of it. A
   * file that is shorter than the offset was rotated, and is read from its start. Empty when there
   * is no such file.
   */
  String tail(String path, long offset) throws IOException;
}
