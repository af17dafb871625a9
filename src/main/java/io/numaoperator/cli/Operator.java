package io.numaoperator.cli;

/** What config/manager sets, where nobody says otherwise. */
final class Operator {
  static final String NAMESPACE = "numa-operator-system";
  static final String IMAGE = "ghcr.io/numaoperator/numa-operator:0.1.0";

  private Operator() {}
}
