package io.numaoperator.lab;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** See {@link AsAdmin}. */
@Singleton
class AdminClient {
  static final String KUBECONFIG = "lab.kubeconfig";

  @Produces
  @Singleton
  @AsAdmin
  KubernetesClient client(@ConfigProperty(name = KUBECONFIG) Optional<String> kubeconfig)
      throws IOException {
    return new KubernetesClientBuilder()
        .withConfig(
            Config.fromKubeconfig(null, Files.readString(Path.of(kubeconfig.orElseThrow())), null))
        .build();
  }

  void close(@Disposes @AsAdmin KubernetesClient client) {
    client.close();
  }
}
