package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.CustomResource;
import io.numaoperator.api.kai.KaiStatus;
import io.numaoperator.api.kai.SchedulingShard;
import io.numaoperator.readiness.KaiSightings.Report;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Reads KAI's objects for what they say of it. */
final class KaiReports {
  private KaiReports() {}

  static Report of(CustomResource<?, KaiStatus> object) {
    var conditions =
        Optional.ofNullable(object.getStatus())
            .flatMap(status -> Optional.ofNullable(status.conditions))
            .orElse(List.of());
    return new Report(
        object.getKind() + " " + object.getMetadata().getName(),
        conditions.stream()
            .map(
                c ->
                    new Report.Said(
                        c.type,
                        "True".equals(c.status),
                        Objects.equals(c.observedGeneration, object.getMetadata().getGeneration()),
                        Objects.requireNonNullElse(c.message, "")))
            .toList());
  }

  static boolean plugsNumaIn(SchedulingShard shard) {
    return Optional.ofNullable(shard.getSpec())
        .flatMap(spec -> Optional.ofNullable(spec.plugins))
        .flatMap(plugins -> Optional.ofNullable(plugins.get("numa")))
        .map(plugin -> !Boolean.FALSE.equals(plugin.enabled))
        .orElse(false);
  }

  static boolean isOf(Pod pod, String app) {
    return pod.getMetadata().getDeletionTimestamp() == null
        && app.equals(pod.getMetadata().getLabels().get("app"));
  }
}
