package io.numaoperator.operator;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.numaoperator.api.NumaNodeStateStatus;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** All metrics of our own, by name; docs/metrics.md says what they mean. */
@ApplicationScoped
class Meters {
  private final MeterRegistry registry;
  private final Map<String, MultiGauge> gauges = new ConcurrentHashMap<>();

  @Inject
  Meters(MeterRegistry registry) {
    this.registry = registry;
  }

  /**
   * One value of a gauge.
   *
   * @param metric its name
   * @param labels in pairs
   */
  record Sample(String metric, double value, List<String> labels) {
    static Sample of(String metric, double value, String... labels) {
      return new Sample(metric, value, List.of(labels));
    }
  }

  /** An attempt ended. */
  void attempted(NumaNodeStateStatus.Result result) {
    registry.counter("numaoperator.kubelet.attempts", "result", result.name()).increment();
  }

  /** Somebody undid what was applied. */
  void drifted(String policy) {
    registry.counter("numaoperator.kubelet.drifts", "policy", policy).increment();
  }

  /** A kubelet rejected a pod. */
  void rejected(String node, String reason) {
    registry.counter("numaoperator.pods.rejected", "node", node, "reason", reason).increment();
  }

  /**
   * HAMi moved a pod, or could not.
   *
   * @param result the reason of HAMi's Event
   */
  void refitted(String node, String result) {
    registry.counter("numaoperator.hami.refits", "node", node, "result", result).increment();
  }

  /** An Event says why; so long after it happened. */
  void explained(Duration after) {
    Timer.builder("numaoperator.rejection.explained")
        .serviceLevelObjectives(
            Duration.ofSeconds(1),
            Duration.ofSeconds(2),
            Duration.ofSeconds(5),
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            Duration.ofSeconds(60))
        .register(registry)
        .record(after.isNegative() ? Duration.ZERO : after);
  }

  /** All gauges as they are now; what is not among them is gone. */
  void set(List<Sample> samples) {
    var rows = new ConcurrentHashMap<String, List<Row<?>>>();
    for (var sample : samples) {
      rows.computeIfAbsent(sample.metric(), m -> new ArrayList<>())
          .add(Row.of(Tags.of(sample.labels().toArray(String[]::new)), sample.value()));
    }
    rows.keySet()
        .forEach(
            metric ->
                gauges.computeIfAbsent(metric, m -> MultiGauge.builder(m).register(registry)));
    gauges.forEach((metric, gauge) -> gauge.register(rows.getOrDefault(metric, List.of()), true));
  }
}
