package io.numaoperator.plan;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Names content by its hash, so that a pod template changes when what it mounts does. */
public final class ContentHash {
  /** Annotation of a pod template: the hash of the configuration that is read once at the start. */
  public static final String ANNOTATION = "numaoperator.io/config-hash";

  private ContentHash() {}

  /** 16 hexadecimal digits. */
  public static String of(String content) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      var hash = digest.digest(content.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
