package io.numaoperator.scheduler.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.numaoperator.scheduler.tls.Certificates.Use;
import java.security.GeneralSecurityException;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CertificatesTest {
  private static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");
  private static final Duration YEAR = Duration.ofDays(365);
  private static final String DNS = "numa-extender.numa-operator-system.svc";

  private final Identity authority =
      Certificates.authority("numa-extender", NOW, YEAR.multipliedBy(30));

  CertificatesTest() throws GeneralSecurityException {}

  private static void validate(Identity leaf, Identity authority, Instant when)
      throws GeneralSecurityException {
    var parameters = new PKIXParameters(Set.of(new TrustAnchor(authority.parsed(), null)));
    parameters.setRevocationEnabled(false);
    parameters.setDate(Date.from(when));
    CertPathValidator.getInstance("PKIX")
        .validate(
            CertificateFactory.getInstance("X.509").generateCertPath(List.of(leaf.parsed())),
            parameters);
  }

  @Test
  void aServersCertificateIsWhatClientsExpect() throws Exception {
    var server = Certificates.issue(authority, Use.SERVER, "server", List.of(DNS), NOW, YEAR);
    validate(server, authority, NOW);
    var certificate = server.parsed();
    assertThat(certificate.getVersion()).isEqualTo(3);
    assertThat(certificate.getSubjectAlternativeNames()).containsExactly(List.of(2, DNS));
    assertThat(certificate.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1");
    assertThat(certificate.getKeyUsage()).startsWith(true, false).endsWith(false);
    assertThat(certificate.getBasicConstraints()).isEqualTo(-1);
    assertThat(server.expires()).isEqualTo(NOW.plus(YEAR));
    assertThat(certificate.getSerialNumber().signum()).isEqualTo(1);
  }

  @Test
  void anAuthorityMayOnlyIssueLeaves() throws Exception {
    var certificate = authority.parsed();
    assertThat(certificate.getBasicConstraints()).isZero();
    assertThat(certificate.getKeyUsage()[5]).isTrue();
    assertThat(certificate.getKeyUsage()[0]).isFalse();
    // beyond 2049 the date is written in another way
    assertThat(authority.expires()).isEqualTo(NOW.plus(YEAR.multipliedBy(30)));
  }

  @Test
  void anotherAuthorityOrAnotherTimeIsNotAccepted() throws Exception {
    var client = Certificates.issue(authority, Use.CLIENT, "client", List.of(), NOW, YEAR);
    validate(client, authority, NOW);
    var other = Certificates.authority("numa-extender", NOW, YEAR);
    assertThatThrownBy(() -> validate(client, other, NOW))
        .isInstanceOf(CertPathValidatorException.class);
    assertThatThrownBy(() -> validate(client, authority, NOW.plus(YEAR).plusSeconds(1)))
        .isInstanceOf(CertPathValidatorException.class);
  }

  @Test
  void isDueInTimeAndWhenUnusable() throws Exception {
    var client = Certificates.issue(authority, Use.CLIENT, "client", List.of(), NOW, YEAR);
    var month = Duration.ofDays(30);
    assertThat(client.due(NOW, month)).isFalse();
    assertThat(client.due(NOW.plus(YEAR).minus(month).plusSeconds(1), month)).isTrue();
    assertThat(new Identity("", client.key()).due(NOW, month)).isTrue();
    assertThat(new Identity(client.certificate(), "").due(NOW, month)).isTrue();
  }

  @Test
  void theKeyIsNotPrinted() throws Exception {
    var client = Certificates.issue(authority, Use.CLIENT, "client", List.of(), NOW, YEAR);
    assertThat(client.toString()).doesNotContain("PRIVATE");
  }
}
