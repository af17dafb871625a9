package io.numaoperator.scheduler.tls;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.security.auth.x500.X500Principal;

/** Makes certificates: X.509 v3, P-256, ECDSA with SHA-256 (RFC 5280, RFC 5758). */
public final class Certificates {
  /** For clocks that are not quite together. */
  private static final Duration LEEWAY = Duration.ofMinutes(5);

  private static final String ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";
  private static final String SUBJECT_KEY_IDENTIFIER = "2.5.29.14";
  private static final String KEY_USAGE = "2.5.29.15";
  private static final String SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";
  private static final String BASIC_CONSTRAINTS = "2.5.29.19";
  private static final String AUTHORITY_KEY_IDENTIFIER = "2.5.29.35";
  private static final String EXTENDED_KEY_USAGE = "2.5.29.37";
  private static final int DNS_NAME = 2;

  private Certificates() {}

  /** What a certificate is for. */
  public enum Use {
    SERVER("1.3.6.1.5.5.7.3.1"),
    CLIENT("1.3.6.1.5.5.7.3.2");

    private final String oid;

    Use(String oid) {
      this.oid = oid;
    }
  }

  /**
   * A new authority.
   *
   * @throws GeneralSecurityException if the JDK cannot do elliptic curves
   */
  public static Identity authority(String name, Instant now, Duration validity)
      throws GeneralSecurityException {
    var keys = keys();
    var subject = new X500Principal("CN=" + name);
    return identity(
        keys,
        certificate(
            subject,
            subject,
            keys,
            now,
            validity,
            keys.getPrivate(),
            List.of(
                critical(BASIC_CONSTRAINTS, Der.sequence(Der.yes(), Der.integer(BigInteger.ZERO))),
                // keyCertSign and cRLSign
                critical(KEY_USAGE, Der.bits(new byte[] {0x06}, 1)),
                extension(SUBJECT_KEY_IDENTIFIER, Der.octets(keyIdentifier(keys))))));
  }

  /**
   * A certificate from an authority.
   *
   * @param dnsNames what a server is called; empty for a client
   * @throws GeneralSecurityException if the authority is not usable
   */
  public static Identity issue(
      Identity authority,
      Use use,
      String name,
      List<String> dnsNames,
      Instant now,
      Duration validity)
      throws GeneralSecurityException {
    var keys = keys();
    var issuer = authority.parsed();
    var extensions =
        new ArrayList<>(
            List.of(
                critical(BASIC_CONSTRAINTS, Der.sequence()),
                // digitalSignature
                critical(KEY_USAGE, Der.bits(new byte[] {(byte) 0x80}, 7)),
                extension(EXTENDED_KEY_USAGE, Der.sequence(Der.oid(use.oid))),
                extension(SUBJECT_KEY_IDENTIFIER, Der.octets(keyIdentifier(keys))),
                extension(
                    AUTHORITY_KEY_IDENTIFIER,
                    Der.sequence(
                        Der.implicit(0, keyIdentifier(issuer.getPublicKey().getEncoded()))))));
    if (!dnsNames.isEmpty()) {
      extensions.add(
          extension(
              SUBJECT_ALTERNATIVE_NAME,
              Der.sequence(
                  dnsNames.stream()
                      .map(dns -> Der.implicit(DNS_NAME, Der.ascii(dns)))
                      .toArray(byte[][]::new))));
    }
    return identity(
        keys,
        certificate(
            new X500Principal("CN=" + name),
            issuer.getSubjectX500Principal(),
            keys,
            now,
            validity,
            authority.privateKey(),
            extensions));
  }

  private static byte[] certificate(
      X500Principal subject,
      X500Principal issuer,
      KeyPair keys,
      Instant now,
      Duration validity,
      PrivateKey signer,
      List<byte[]> extensions)
      throws GeneralSecurityException {
    var algorithm = Der.sequence(Der.oid(ECDSA_WITH_SHA256));
    var content =
        Der.sequence(
            // version 3
            Der.explicit(0, Der.integer(BigInteger.TWO)),
            // positive, and not zero
            Der.integer(new BigInteger(127, new SecureRandom()).add(BigInteger.ONE)),
            algorithm,
            issuer.getEncoded(),
            Der.sequence(Der.time(now.minus(LEEWAY)), Der.time(now.plus(validity))),
            subject.getEncoded(),
            keys.getPublic().getEncoded(),
            Der.explicit(3, Der.sequence(extensions.toArray(byte[][]::new))));
    var signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(signer);
    signature.update(content);
    return Der.sequence(content, algorithm, Der.bits(signature.sign(), 0));
  }

  private static byte[] critical(String oid, byte[] value) {
    return Der.sequence(Der.oid(oid), Der.yes(), Der.octets(value));
  }

  private static byte[] extension(String oid, byte[] value) {
    return Der.sequence(Der.oid(oid), Der.octets(value));
  }

  private static KeyPair keys() throws GeneralSecurityException {
    var generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    return generator.generateKeyPair();
  }

  private static byte[] keyIdentifier(KeyPair keys) throws GeneralSecurityException {
    return keyIdentifier(keys.getPublic().getEncoded());
  }

  /** RFC 7093, method 4, cut to 160 bits. */
  private static byte[] keyIdentifier(byte[] publicKey) throws GeneralSecurityException {
    return Arrays.copyOf(MessageDigest.getInstance("SHA-256").digest(publicKey), 20);
  }

  private static Identity identity(KeyPair keys, byte[] certificate) {
    return new Identity(Pem.certificate(certificate), Pem.key(keys.getPrivate()));
  }
}
