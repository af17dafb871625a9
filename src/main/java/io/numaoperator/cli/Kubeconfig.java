package io.numaoperator.cli;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Connects as kubectl does: by a kubeconfig file, or as the pod that this runs in. */
final class Kubeconfig implements Connector {
  @Override
  public Api connect(ClusterOptions options) {
    options.kubeconfig().ifPresent(Kubeconfig::use);
    Config config;
    try {
      config = Config.autoConfigure(options.context().orElse(null));
    } catch (KubernetesClientException | IllegalArgumentException e) {
      throw new CliException("the kubeconfig cannot be used: " + Api.reason(e), e);
    }
    options
        .context()
        .filter(
            name ->
                config.getContexts() == null
                    || config.getContexts().stream().noneMatch(c -> name.equals(c.getName())))
        .ifPresent(
            name -> {
              throw new CliException(
                  "the kubeconfig has no context \"%s\"; see: kubectl config get-contexts"
                      .formatted(name));
            });
    if (config.getCurrentContext() == null && config.getAutoOAuthToken() == null) {
      throw new CliException(
          "no cluster is known: set KUBECONFIG or --kubeconfig, or make ~/.kube/config");
    }
    return new Api(config);
  }

  /** fabric8 reads the file's name from this property. */
  private static void use(Path file) {
    if (!Files.isReadable(file)) {
      throw new CliException("cannot read the kubeconfig " + file);
    }
    System.setProperty(Config.KUBERNETES_KUBECONFIG_FILE, file.toString());
  }
}
