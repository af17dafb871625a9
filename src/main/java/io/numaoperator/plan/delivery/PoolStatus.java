package io.numaoperator.plan.delivery;

import io.numaoperator.api.openshift.KubeletConfig;
import io.numaoperator.api.openshift.MachineConfigPool;
import io.numaoperator.api.openshift.PoolCondition;
import io.numaoperator.plan.Provision.Remark;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** What the Machine Config Operator says of a pool and of a KubeletConfig. */
final class PoolStatus {
  private PoolStatus() {}

  static Optional<Remark> degraded(MachineConfigPool pool) {
    var conditions = pool.getStatus() == null ? null : pool.getStatus().conditions;
    return Objects.requireNonNullElse(conditions, List.<PoolCondition>of()).stream()
        .filter(c -> "Degraded".equals(c.type) && "True".equals(c.status))
        .findFirst()
        .map(
            c ->
                new Remark(
                    "PoolDegraded",
                    "MachineConfigPool %s is degraded: %s"
                        .formatted(
                            OpenShiftFacts.name(pool),
                            Objects.requireNonNullElse(c.message, "no message"))));
  }

  /** Its conditions are a history: only the last one is about now. */
  static Optional<Remark> failure(List<KubeletConfig> configs, String name) {
    return configs.stream()
        .filter(config -> config.getMetadata().getName().equals(name))
        .filter(config -> config.getStatus() != null && config.getStatus().conditions != null)
        .flatMap(config -> config.getStatus().conditions.stream().reduce((a, b) -> b).stream())
        .filter(last -> "Failure".equals(last.type))
        .findFirst()
        .map(
            last ->
                new Remark(
                    "KubeletConfigFailed",
                    "the Machine Config Operator does not take KubeletConfig %s: %s"
                        .formatted(name, last.message)));
  }

  /** Behind a sentence; empty where nothing is known. */
  static String progress(MachineConfigPool pool) {
    if (pool.getSpec() != null && Boolean.TRUE.equals(pool.getSpec().paused)) {
      return "; it is paused";
    }
    var status = pool.getStatus();
    return status == null || status.machineCount == null
        ? ""
        : "; %d of %d machines are up to date"
            .formatted(
                Objects.requireNonNullElse(status.updatedMachineCount, 0), status.machineCount);
  }
}
