package io.numaoperator.scheduler;

import io.numaoperator.scheduler.tls.Certificates;
import io.numaoperator.scheduler.tls.Certificates.Use;
import io.numaoperator.scheduler.tls.Identity;
import io.numaoperator.scheduler.tls.MutualTls;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * The certificates of extender and kube-scheduler, in Secrets of the operator's namespace: an
 * authority for ten years, whose key signs a certificate for each side every year. Call {@link
 * #ensure} at the start and now and then; replicas may do so at once.
 */
public final class ExtenderCertificates {
  /** Secret with the authority. Its key never leaves it. */
  public static final String AUTHORITY_SECRET = "numa-extender-authority";

  /** Secret with what the extender shows. */
  public static final String SERVER_SECRET = "numa-extender-server";

  private static final String AUTHORITY = "ca.crt";
  private static final String CERTIFICATE = "tls.crt";
  private static final String KEY = "tls.key";
  private static final Duration AUTHORITY_VALIDITY = Duration.ofDays(3650);
  private static final Duration VALIDITY = Duration.ofDays(365);

  /** A certificate with less left is replaced. */
  private static final Duration RENEW_BEFORE = Duration.ofDays(60);

  private static final int ATTEMPTS = 5;

  private final SecretStore secrets;
  private final String clientSecret;
  private final String host;
  private final Clock clock;
  private final AtomicReference<Optional<MutualTls.Material>> current =
      new AtomicReference<>(Optional.empty());

  /** Secrets with versions. */
  public interface SecretStore {
    Optional<Stored> get(String name);

    /**
     * Writes one, if it still has that version, or is still absent.
     *
     * @return false if somebody else wrote meanwhile
     */
    boolean put(String name, Map<String, String> data, Optional<String> version);

    /** Nothing when it is absent meanwhile. */
    void delete(String name);

    /** A Secret as it was read. */
    record Stored(Map<String, String> data, String version) {}
  }

  /**
   * @param clientSecret Secret that kube-scheduler mounts
   * @param host what kube-scheduler calls the extender
   */
  public ExtenderCertificates(SecretStore secrets, String clientSecret, String host, Clock clock) {
    this.secrets = secrets;
    this.clientSecret = clientSecret;
    this.host = host;
    this.clock = clock;
  }

  /**
   * Makes what is missing or will expire soon, and reads what the extender shows.
   *
   * @throws GeneralSecurityException if the JDK cannot do what is needed
   */
  public void ensure() throws GeneralSecurityException {
    var authority =
        identity(
            AUTHORITY_SECRET,
            Optional.empty(),
            () -> Certificates.authority("numa-extender", clock.instant(), AUTHORITY_VALIDITY));
    var server =
        identity(
            SERVER_SECRET,
            Optional.of(authority),
            () ->
                Certificates.issue(
                    authority,
                    Use.SERVER,
                    "numa-extender",
                    List.of(host),
                    clock.instant(),
                    VALIDITY));
    identity(
        clientSecret,
        Optional.of(authority),
        () ->
            Certificates.issue(
                authority, Use.CLIENT, "numa-scheduler", List.of(), clock.instant(), VALIDITY));
    current.set(Optional.of(new MutualTls.Material(server, authority.certificate())));
  }

  /** Nobody asks the extender any more: a key that nobody needs is one that nobody can lose. */
  public void forget() {
    Stream.of(clientSecret, SERVER_SECRET, AUTHORITY_SECRET)
        .filter(name -> secrets.get(name).isPresent()) // a new leader writes nothing for nothing
        .forEach(secrets::delete);
    current.set(Optional.empty());
  }

  /**
   * What the extender shows and trusts.
   *
   * @throws IllegalStateException before {@link #ensure} succeeded
   */
  public MutualTls.Material material() {
    return current
        .get()
        .orElseThrow(() -> new IllegalStateException("there are no certificates yet"));
  }

  private interface Maker {
    Identity make() throws GeneralSecurityException;
  }

  private Identity identity(String secret, Optional<Identity> authority, Maker maker)
      throws GeneralSecurityException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      var stored = secrets.get(secret);
      var usable = stored.flatMap(s -> usable(s.data(), authority));
      if (usable.isPresent()) {
        return usable.get();
      }
      var made = maker.make();
      var data =
          Map.of(
              CERTIFICATE,
              made.certificate(),
              KEY,
              made.key(),
              AUTHORITY,
              authority.orElse(made).certificate());
      if (secrets.put(secret, data, stored.map(SecretStore.Stored::version))) {
        return made;
      }
    }
    throw new GeneralSecurityException("Secret " + secret + " is written by somebody else");
  }

  private Optional<Identity> usable(Map<String, String> data, Optional<Identity> authority) {
    var identity = new Identity(data.getOrDefault(CERTIFICATE, ""), data.getOrDefault(KEY, ""));
    boolean ours = authority.map(a -> a.certificate().equals(data.get(AUTHORITY))).orElse(true);
    return ours && !identity.due(clock.instant(), RENEW_BEFORE)
        ? Optional.of(identity)
        : Optional.empty();
  }
}
