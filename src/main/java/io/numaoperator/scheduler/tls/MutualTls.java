package io.numaoperator.scheduler.tls;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * TLS where each side shows a certificate of our authority. What is shown and trusted is asked for
 * at each handshake, so that renewed certificates need no restart.
 */
public final class MutualTls {
  private static final String ALIAS = "own";

  private MutualTls() {}

  /**
   * What one side shows and trusts.
   *
   * @param authority certificate in PEM that the other side's is checked with
   */
  public record Material(Identity own, String authority) {}

  /**
   * A context for either side.
   *
   * @throws GeneralSecurityException if the JDK has no TLS
   */
  public static SSLContext context(Supplier<Material> material) throws GeneralSecurityException {
    var context = SSLContext.getInstance("TLS");
    context.init(
        new KeyManager[] {new Own(material)}, new TrustManager[] {new Trusted(material)}, null);
    return context;
  }

  private static final class Own extends X509ExtendedKeyManager {
    private final Supplier<Material> material;

    Own(Supplier<Material> material) {
      this.material = material;
    }

    @Override
    public String[] getClientAliases(String keyType, Principal[] issuers) {
      return new String[] {ALIAS};
    }

    @Override
    public String chooseClientAlias(String[] keyTypes, Principal[] issuers, Socket socket) {
      return ALIAS;
    }

    @Override
    public String chooseEngineClientAlias(
        String[] keyTypes, Principal[] issuers, SSLEngine engine) {
      return ALIAS;
    }

    @Override
    public String[] getServerAliases(String keyType, Principal[] issuers) {
      return new String[] {ALIAS};
    }

    @Override
    public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
      return keyType.startsWith("EC") ? ALIAS : null;
    }

    @Override
    public String chooseEngineServerAlias(String keyType, Principal[] issuers, SSLEngine engine) {
      return keyType.startsWith("EC") ? ALIAS : null;
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
      try {
        return new X509Certificate[] {material.get().own().parsed()};
      } catch (GeneralSecurityException unusable) {
        return null;
      }
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
      try {
        return material.get().own().privateKey();
      } catch (GeneralSecurityException unusable) {
        return null;
      }
    }
  }

  private static final class Trusted extends X509ExtendedTrustManager {
    private final Supplier<Material> material;

    Trusted(Supplier<Material> material) {
      this.material = material;
    }

    private X509ExtendedTrustManager manager() throws CertificateException {
      try {
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setCertificateEntry("authority", Pem.certificate(material.get().authority()));
        var factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(store);
        return Stream.of(factory.getTrustManagers())
            .map(X509ExtendedTrustManager.class::cast)
            .findFirst()
            .orElseThrow();
      } catch (GeneralSecurityException | IOException unusable) {
        throw new CertificateException("the authority's certificate cannot be used", unusable);
      }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      manager().checkClientTrusted(chain, type);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      manager().checkClientTrusted(chain, type, socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      manager().checkClientTrusted(chain, type, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      manager().checkServerTrusted(chain, type);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      manager().checkServerTrusted(chain, type, socket);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      manager().checkServerTrusted(chain, type, engine);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      try {
        return List.of(Pem.certificate(material.get().authority())).toArray(X509Certificate[]::new);
      } catch (GeneralSecurityException unusable) {
        return new X509Certificate[0];
      }
    }
  }
}
