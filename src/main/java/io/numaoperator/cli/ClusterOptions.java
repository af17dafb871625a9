package io.numaoperator.cli;

import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Which cluster: kubectl's own options. */
final class ClusterOptions {
  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      description = "The kubeconfig file; else what KUBECONFIG names, else ~/.kube/config.")
  private Path kubeconfig;

  @Option(
      names = "--context",
      paramLabel = "NAME",
      description = "The context in it; else its current one.")
  private String context;

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "NAME",
      description = "The namespace of a pod; else the context's.")
  private String namespace;

  Optional<Path> kubeconfig() {
    return Optional.ofNullable(kubeconfig);
  }

  Optional<String> context() {
    return Optional.ofNullable(context);
  }

  Optional<String> namespace() {
    return Optional.ofNullable(namespace);
  }
}
