package io.numaoperator.operator;

import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetricsV2;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/**
 * JOSDK's metrics. quarkus-operator-sdk 7.7.3 makes its own bean before Micrometer has bound its
 * registries, so that one would count into nothing for good; the composite registry that is
 * injected here passes meters on to registries that come later.
 */
@Singleton
class OperatorMetrics {
  @Produces
  @Singleton
  Metrics metrics(MeterRegistry registry) {
    return MicrometerMetricsV2.newBuilder(registry).build();
  }
}
