package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trusts exactly the certificate that lies on this node's disk as the kubelet's. Kubelets mostly
 * sign their own, which no authority vouches for; and the file names the peer better than a host
 * name would, so none is checked. The files are read at each handshake: certificates are rotated.
 */
final class PinnedCertificate extends X509ExtendedTrustManager {
  private static final Pattern PEM =
      Pattern.compile(
          "-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----", Pattern.DOTALL);

  private final KubeletHost host;
  private final Supplier<List<String>> files;

  /**
   * @param files where it may be, the likeliest first
   */
  PinnedCertificate(KubeletHost host, Supplier<List<String>> files) {
    this.host = host;
    this.files = files;
  }

  private void check(X509Certificate[] chain) throws CertificateException {
    for (var file : files.get()) {
      var pinned = leaf(file);
      if (pinned.isPresent() && Arrays.equals(pinned.get(), chain[0].getEncoded())) {
        return;
      }
    }
    throw new CertificateException(
        "the server's certificate is none of " + String.join(", ", files.get()));
  }

  private Optional<byte[]> leaf(String file) {
    try {
      return host.read(file)
          .map(bytes -> PEM.matcher(new String(bytes, US_ASCII)))
          .filter(match -> match.find())
          .map(match -> Base64.getMimeDecoder().decode(match.group(1)));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    check(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    throw new CertificateException("no clients here");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    throw new CertificateException("no clients here");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    throw new CertificateException("no clients here");
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }
}
