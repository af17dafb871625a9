package io.numaoperator.scheduler.tls;

import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;

/**
 * A certificate and its private key, in PEM (X.509, PKCS#8). The key is a secret.
 *
 * @param certificate with one certificate
 */
public record Identity(String certificate, String key) {

  /**
   * When it expires.
   *
   * @throws GeneralSecurityException if it is not a certificate
   */
  public Instant expires() throws GeneralSecurityException {
    return parsed().getNotAfter().toInstant();
  }

  /** Whether it is of no use, or will not be for so long any more; then a new one is due. */
  public boolean due(Instant now, Duration remaining) {
    try {
      privateKey();
      return expires().isBefore(now.plus(remaining));
    } catch (GeneralSecurityException unusable) {
      return true;
    }
  }

  X509Certificate parsed() throws GeneralSecurityException {
    return Pem.certificate(certificate);
  }

  PrivateKey privateKey() throws GeneralSecurityException {
    return Pem.key(key);
  }

  /** The key stays out of logs. */
  @Override
  public String toString() {
    return "Identity[%d characters of certificate]".formatted(certificate.length());
  }
}
