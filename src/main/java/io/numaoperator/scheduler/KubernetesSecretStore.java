package io.numaoperator.scheduler;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.Names;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Secrets of one namespace. */
public final class KubernetesSecretStore implements ExtenderCertificates.SecretStore {
  private static final String TYPE = "kubernetes.io/tls";

  private final KubernetesClient client;
  private final String namespace;

  public KubernetesSecretStore(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  @Override
  public Optional<Stored> get(String name) {
    return Optional.ofNullable(client.secrets().inNamespace(namespace).withName(name).get())
        .map(secret -> new Stored(text(secret), secret.getMetadata().getResourceVersion()));
  }

  private static Map<String, String> text(Secret secret) {
    var text = new HashMap<String, String>();
    if (secret.getData() != null) {
      secret
          .getData()
          .forEach(
              (key, value) ->
                  text.put(
                      key,
                      new String(Base64.getDecoder().decode(value), StandardCharsets.US_ASCII)));
    }
    return text;
  }

  @Override
  public void delete(String name) {
    client.secrets().inNamespace(namespace).withName(name).delete();
  }

  @Override
  public boolean put(String name, Map<String, String> data, Optional<String> version) {
    var secret =
        new SecretBuilder()
            .withNewMetadata()
            .withNamespace(namespace)
            .withName(name)
            .addToLabels("app.kubernetes.io/part-of", Names.OPERATOR_FIELD_MANAGER)
            .endMetadata()
            .withType(TYPE)
            .withStringData(data)
            .build();
    try {
      if (version.isEmpty()) {
        client.secrets().resource(secret).create();
      } else {
        client.secrets().resource(secret).lockResourceVersion(version.get()).update();
      }
      return true;
    } catch (KubernetesClientException refused) {
      if (refused.getCode() == HttpURLConnection.HTTP_CONFLICT
          || refused.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return false;
      }
      throw refused;
    }
  }
}
