package io.numaoperator.web;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Remembers answers for a few seconds, so that a page that keeps itself up to date, or somebody who
 * tries tokens, costs the API server little. Tokens are remembered by their hash.
 */
final class RememberedAccess implements Access {
  static final Duration KEPT = Duration.ofSeconds(15);
  static final int MOST = 256;

  private final Access access;
  private final Clock clock;
  private final Map<String, Remembered> answers =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Remembered> eldest) {
          return size() > MOST;
        }
      };

  private record Remembered(Answer answer, Instant until) {}

  RememberedAccess(Access access, Clock clock) {
    this.access = access;
    this.clock = clock;
  }

  @Override
  public Answer of(String token) {
    var key = hash(token);
    var now = clock.instant();
    synchronized (answers) {
      var known = answers.get(key);
      if (known != null && now.isBefore(known.until())) {
        return known.answer();
      }
    }
    var answer = access.of(token);
    if (answer != Answer.NoAnswer) {
      synchronized (answers) {
        answers.remove(key); // to be the youngest again
        answers.put(key, new Remembered(answer, now.plus(KEPT)));
      }
    }
    return answer;
  }

  private static String hash(String token) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
