package io.numaoperator.plan;

import static io.numaoperator.plan.Policies.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy;
import java.util.List;
import org.junit.jupiter.api.Test;

class SharedSettingsTest {
  @Test
  void ofNoPolicyThereAreNone() {
    assertThat(SharedSettings.of(List.of())).isEmpty();
  }

  @Test
  void equalSettingsAreShared() {
    var settings = SharedSettings.of(List.of(policy("b", 2), policy("a", 1))).orElseThrow();
    assertThat(settings.senior()).isEqualTo("a");
    assertThat(settings.conflicts()).isEmpty();
  }

  @Test
  void theOldestPolicyWinsAndTheYoungerOneHasTheConflict() {
    var old = policy("z", 1, spec -> spec.topologyUpdater.interval = "30s");
    var young = policy("a", 2, spec -> spec.scheduler.provider = SchedulerPolicy.Provider.None);
    var settings = SharedSettings.of(List.of(young, old)).orElseThrow();
    assertThat(settings.senior()).isEqualTo("z");
    assertThat(settings.topologyUpdater().interval).isEqualTo("30s");
    assertThat(settings.scheduler().provider).isEqualTo(SchedulerPolicy.Provider.Auto);
    assertThat(settings.conflicts())
        .containsExactly(
            new SharedSettings.Conflict("a", "scheduler", "z"),
            new SharedSettings.Conflict("a", "topologyUpdater", "z"));
  }

  @Test
  void nestedSettingsCount() {
    var senior = policy("a", 1, spec -> nfd(spec.topologyUpdater, "registry.example/nfd:v0.19.0"));
    var same = policy("b", 2, spec -> nfd(spec.topologyUpdater, "registry.example/nfd:v0.19.0"));
    var other = policy("c", 3, spec -> nfd(spec.topologyUpdater, "registry.example/nfd:v0.20.0"));
    assertThat(SharedSettings.of(List.of(other, same, senior)).orElseThrow().conflicts())
        .containsExactly(new SharedSettings.Conflict("c", "topologyUpdater", "a"));
  }

  /** Else a policy that may change nothing would take what others' nodes need from them. */
  @Test
  void whoEnforcesComesBeforeWhoObserves() {
    var watching =
        policy(
            "watching",
            1,
            spec -> {
              spec.mode = Mode.Observe;
              spec.topologyUpdater.interval = "30s";
            });
    var enforcing = policy("enforcing", 2, spec -> spec.mode = Mode.Enforce);
    var settings = SharedSettings.of(List.of(watching, enforcing)).orElseThrow();
    assertThat(settings.enforced()).isTrue();
    assertThat(settings.senior()).isEqualTo("enforcing");
    assertThat(settings.conflicts())
        .containsExactly(new SharedSettings.Conflict("watching", "topologyUpdater", "enforcing"));
    var alone = SharedSettings.of(List.of(watching)).orElseThrow();
    assertThat(alone.enforced()).isFalse();
    assertThat(alone.topologyUpdater().interval).isEqualTo("30s");
  }

  private static void nfd(TopologyUpdaterPolicy updater, String image) {
    updater.provider = TopologyUpdaterPolicy.Provider.NFD;
    updater.nfd = new TopologyUpdaterPolicy.Nfd();
    updater.nfd.image = image;
  }

  @Test
  void nameDecidesBetweenPoliciesOfTheSameSecondAndUncreatedOnesAreTheYoungest() {
    var uncreated = policy("a", 1);
    uncreated.getMetadata().setCreationTimestamp(null);
    var settings =
        SharedSettings.of(List.of(uncreated, policy("c", 3), policy("b", 3))).orElseThrow();
    assertThat(settings.senior()).isEqualTo("b");
  }
}
