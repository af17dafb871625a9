package io.numaoperator.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;

/** Writes a tar.gz of plain files (POSIX ustar), so that no library has to be there for it. */
final class Tar implements AutoCloseable {
  private static final int BLOCK = 512;
  private static final int LONGEST_NAME = 100;

  private final OutputStream out;
  private final long seconds;

  /**
   * @param seconds the files' time, since 1970
   */
  Tar(OutputStream out, long seconds) throws IOException {
    this.out = new GZIPOutputStream(out);
    this.seconds = seconds;
  }

  /**
   * @param name with directories, of at most 255 bytes: the last 100 after a slash
   */
  void file(String name, byte[] content) throws IOException {
    var header = new byte[BLOCK];
    int cut =
        name.length() <= LONGEST_NAME ? -1 : name.indexOf('/', name.length() - LONGEST_NAME - 1);
    if (name.length() > LONGEST_NAME && cut < 0) {
      throw new IOException("too long a name for tar: " + name);
    }
    put(header, 0, name.substring(cut + 1));
    put(header, 100, "0000644");
    put(header, 108, "0000000");
    put(header, 116, "0000000");
    put(header, 124, "%011o".formatted(content.length));
    put(header, 136, "%011o".formatted(seconds));
    Arrays.fill(header, 148, 156, (byte) ' '); // the sum is taken with blanks in its place
    header[156] = '0';
    put(header, 257, "ustar");
    put(header, 263, "00");
    put(header, 345, cut < 0 ? "" : name.substring(0, cut));
    int sum = 0;
    for (byte b : header) {
      sum += b & 0xff;
    }
    put(header, 148, "%06o\0 ".formatted(sum));
    out.write(header);
    out.write(content);
    out.write(new byte[(BLOCK - content.length % BLOCK) % BLOCK]);
  }

  private static void put(byte[] header, int at, String text) {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    System.arraycopy(bytes, 0, header, at, bytes.length);
  }

  @Override
  public void close() throws IOException {
    out.write(new byte[2 * BLOCK]);
    out.close();
  }
}
