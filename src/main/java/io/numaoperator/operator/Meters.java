package io.numaoperator.operator;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import io.numaoperator.api.NumaNodeStateStatus;
import io.prometheus.client.Collector;
import io.prometheus.client.Collector.MetricFamilySamples;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/** All metrics of our own, by name; docs/metrics.md says what they mean. */
@ApplicationScoped
class Meters {
  private final PrometheusMeterRegistry registry;

  @Inject
  Meters(PrometheusMeterRegistry registry) {
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

  /**
   * The gauges are counted when somebody asks for them, and none is kept: a fleet of thousands has
   * a hundred thousand.
   *
   * @param samples all gauges as they are at that moment
   */
  void gauges(Supplier<List<Sample>> samples) {
    registry
        .getPrometheusRegistry()
        .register(
            new Collector() {
              @Override
              public List<MetricFamilySamples> collect() {
                return families(samples.get());
              }
            });
  }

  /** Of two with the same labels the last one counts: a scrape with both is refused whole. */
  private List<MetricFamilySamples> families(List<Sample> samples) {
    var byName = new LinkedHashMap<String, Map<List<String>, Sample>>();
    samples.forEach(
        sample ->
            byName
                .computeIfAbsent(sample.metric(), name -> new LinkedHashMap<>())
                .put(sample.labels(), sample));
    return byName.entrySet().stream()
        .map(
            family -> {
              var name =
                  registry.config().namingConvention().name(family.getKey(), Meter.Type.GAUGE);
              return new MetricFamilySamples(
                  name,
                  Collector.Type.GAUGE,
                  "see docs/metrics.md",
                  family.getValue().values().stream().map(sample -> line(name, sample)).toList());
            })
        .toList();
  }

  private static MetricFamilySamples.Sample line(String name, Sample sample) {
    var labels = new TreeMap<String, String>();
    for (int i = 0; i < sample.labels().size(); i += 2) {
      labels.put(sample.labels().get(i), sample.labels().get(i + 1));
    }
    return new MetricFamilySamples.Sample(
        name, List.copyOf(labels.keySet()), List.copyOf(labels.values()), sample.value());
  }
}
