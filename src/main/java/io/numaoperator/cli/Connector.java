package io.numaoperator.cli;

/** Reaches a cluster. */
interface Connector {
  /**
   * @throws CliException if it is not known where that is
   */
  Api connect(ClusterOptions options);
}
