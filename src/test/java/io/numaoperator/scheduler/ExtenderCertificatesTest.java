package io.numaoperator.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ExtenderCertificatesTest {
  private final Secrets secrets = new Secrets();

  /** Stands for the API server's Secrets. */
  private static final class Secrets implements ExtenderCertificates.SecretStore {
    final Map<String, Stored> all = new HashMap<>();
    Runnable meanwhile = () -> {};
    int writes;

    @Override
    public Optional<Stored> get(String name) {
      return Optional.ofNullable(all.get(name));
    }

    @Override
    public boolean put(String name, Map<String, String> data, Optional<String> version) {
      var before = meanwhile;
      meanwhile = () -> {};
      before.run();
      if (!get(name).map(Stored::version).equals(version)) {
        return false;
      }
      all.put(name, new Stored(data, Integer.toString(++writes)));
      return true;
    }

    @Override
    public void delete(String name) {
      all.remove(name);
    }
  }

  private ExtenderCertificates at(Duration later) {
    return new ExtenderCertificates(
        secrets,
        "client",
        "numa-extender.ns.svc",
        Clock.fixed(Given.NOW.plus(later), ZoneOffset.UTC));
  }

  @Test
  void makesWhatIsMissingOnceAndForAll() throws Exception {
    var first = at(Duration.ZERO);
    assertThatThrownBy(first::material).isInstanceOf(IllegalStateException.class);
    first.ensure();
    assertThat(secrets.all)
        .containsOnlyKeys("numa-extender-authority", "numa-extender-server", "client");
    assertThat(secrets.all.get("client").data()).containsOnlyKeys("tls.crt", "tls.key", "ca.crt");
    assertThat(secrets.all.get("client").data().get("ca.crt"))
        .isEqualTo(first.material().authority());
    var successor = at(Duration.ofDays(1));
    successor.ensure();
    assertThat(successor.material()).isEqualTo(first.material());
    assertThat(secrets.writes).isEqualTo(3);
  }

  @Test
  void renewsWhatExpiresSoonWithTheSameAuthority() throws Exception {
    var first = at(Duration.ZERO);
    first.ensure();
    var later = at(Duration.ofDays(300));
    later.ensure();
    assertThat(later.material()).isEqualTo(first.material());
    later = at(Duration.ofDays(310));
    later.ensure();
    assertThat(later.material().own()).isNotEqualTo(first.material().own());
    assertThat(later.material().authority()).isEqualTo(first.material().authority());
    assertThat(secrets.writes).isEqualTo(5);
  }

  @Test
  void nothingIsLeftOfThemAndTheNextAreOthers() throws Exception {
    var certificates = at(Duration.ZERO);
    certificates.ensure();
    var before = certificates.material();
    certificates.forget();
    assertThat(secrets.all).isEmpty();
    assertThatThrownBy(certificates::material).isInstanceOf(IllegalStateException.class);
    certificates.ensure();
    assertThat(certificates.material().authority()).isNotEqualTo(before.authority());
    assertThat(secrets.all).hasSize(3);
  }

  @Test
  void anotherAuthorityMeansOtherCertificates() throws Exception {
    var first = at(Duration.ZERO);
    first.ensure();
    secrets.all.remove("numa-extender-authority");
    var second = at(Duration.ZERO);
    second.ensure();
    assertThat(second.material().authority()).isNotEqualTo(first.material().authority());
    assertThat(secrets.all.get("client").data().get("ca.crt"))
        .isEqualTo(second.material().authority());
  }

  @Test
  void twoReplicasAtOnceEndUpWithTheSame() throws Exception {
    var other = at(Duration.ZERO);
    secrets.meanwhile =
        () -> {
          try {
            other.ensure();
          } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
          }
        };
    var one = at(Duration.ZERO);
    one.ensure();
    assertThat(one.material()).isEqualTo(other.material());
  }
}
