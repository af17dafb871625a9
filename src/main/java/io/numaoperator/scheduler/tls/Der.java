package io.numaoperator.scheduler.tls;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.stream.Stream;

/**
 * The few DER values that an X.509 certificate is made of (X.690). The JDK reads certificates,
 * signs, and encodes keys and names; it only cannot put them together.
 */
final class Der {
  private static final int BOOLEAN = 0x01;
  private static final int INTEGER = 0x02;
  private static final int BIT_STRING = 0x03;
  private static final int OCTET_STRING = 0x04;
  private static final int OBJECT_IDENTIFIER = 0x06;
  private static final int UTC_TIME = 0x17;
  private static final int GENERALIZED_TIME = 0x18;
  private static final int SEQUENCE = 0x30;
  private static final int CONTEXT = 0x80;
  private static final int CONSTRUCTED = 0x20;

  private Der() {}

  static byte[] sequence(byte[]... parts) {
    return value(SEQUENCE, concat(parts));
  }

  static byte[] integer(BigInteger number) {
    return value(INTEGER, number.toByteArray());
  }

  static byte[] yes() {
    return value(BOOLEAN, new byte[] {(byte) 0xff});
  }

  static byte[] octets(byte[] content) {
    return value(OCTET_STRING, content);
  }

  static byte[] bits(byte[] content, int unused) {
    return value(BIT_STRING, concat(new byte[] {(byte) unused}, content));
  }

  /** An identifier such as 2.5.29.17. */
  static byte[] oid(String dotted) {
    var arcs = Stream.of(dotted.split("\\.", -1)).mapToInt(Integer::parseInt).toArray();
    var content = new ByteArrayOutputStream();
    content.write(arcs[0] * 40 + arcs[1]);
    for (int i = 2; i < arcs.length; i++) {
      for (int shift = 28; shift > 0; shift -= 7) {
        if (arcs[i] >>> shift != 0) {
          content.write(((arcs[i] >>> shift) & 0x7f) | 0x80);
        }
      }
      content.write(arcs[i] & 0x7f);
    }
    return value(OBJECT_IDENTIFIER, content.toByteArray());
  }

  /** RFC 5280, 4.1.2.5: UTCTime through 2049, GeneralizedTime from then on. */
  static byte[] time(Instant instant) {
    var utc = instant.atOffset(ZoneOffset.UTC);
    return utc.getYear() < 2050
        ? value(UTC_TIME, ascii(utc.format(DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'"))))
        : value(
            GENERALIZED_TIME, ascii(utc.format(DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'"))));
  }

  /** A context-specific tag around whole values. */
  static byte[] explicit(int tag, byte[] content) {
    return value(CONTEXT | CONSTRUCTED | tag, content);
  }

  /** A context-specific tag in place of a value's own. */
  static byte[] implicit(int tag, byte[] content) {
    return value(CONTEXT | tag, content);
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  static byte[] concat(byte[]... parts) {
    var all = new ByteArrayOutputStream();
    for (var part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  private static byte[] value(int tag, byte[] content) {
    var out = new ByteArrayOutputStream();
    out.write(tag);
    int length = content.length;
    if (length < 0x80) {
      out.write(length);
    } else {
      var size = BigInteger.valueOf(length).toByteArray();
      int skip = size[0] == 0 ? 1 : 0;
      out.write(0x80 | (size.length - skip));
      out.write(size, skip, size.length - skip);
    }
    out.writeBytes(content);
    return out.toByteArray();
  }
}
