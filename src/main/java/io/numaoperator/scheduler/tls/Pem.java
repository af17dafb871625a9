package io.numaoperator.scheduler.tls;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/** RFC 7468. */
final class Pem {
  private static final String CERTIFICATE = "CERTIFICATE";
  private static final String PRIVATE_KEY = "PRIVATE KEY";
  private static final int LINE = 64;

  private Pem() {}

  static String certificate(byte[] der) {
    return write(CERTIFICATE, der);
  }

  static String key(PrivateKey key) {
    return write(PRIVATE_KEY, key.getEncoded());
  }

  static X509Certificate certificate(String pem) throws GeneralSecurityException {
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
  }

  static PrivateKey key(String pem) throws GeneralSecurityException {
    var base64 =
        pem.replace("-----BEGIN " + PRIVATE_KEY + "-----", "")
            .replace("-----END " + PRIVATE_KEY + "-----", "");
    try {
      return KeyFactory.getInstance("EC")
          .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(base64)));
    } catch (IllegalArgumentException notBase64) {
      throw new GeneralSecurityException("not a PEM private key", notBase64);
    }
  }

  private static String write(String label, byte[] der) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(
            label, Base64.getMimeEncoder(LINE, new byte[] {'\n'}).encodeToString(der), label);
  }
}
