package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.agent.KubeletApi.Configz;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Judges a started kubelet by evidence from the node. There are two ways to fail: before the
 * kubelet listens, and after it has said READY=1, when the container manager refuses its state
 * files (facts: kubelet.md §0.3). So one good look proves nothing; see {@link Watch}.
 */
final class Verifier {
  private final NodeAccess node;
  private final KubeletLog log;

  Verifier(NodeAccess node) {
    this.node = node;
    this.log = new KubeletLog(node.host());
  }

  /**
   * What a kubelet must look like.
   *
   * @param complaints what is wrong with a configuration, empty when nothing is
   * @param policies the policy name that a state file must have, by its path
   * @param devices how many devices of each resource it must at least hand out
   */
  record Wanted(
      Function<JsonNode, List<String>> complaints,
      Map<String, String> policies,
      Map<String, Integer> devices) {}

  /** Looks at everything. */
  Check look(Journal.Granted granted, Phase.Start start, Phase.Run run, Wanted wanted) {
    var unit = unit(granted.unit(), start, run);
    if (unit instanceof Check.Failed) {
      return unit;
    }
    return unit.and(config(wanted))
        .and(stateFiles(wanted.policies()))
        .and(devices(wanted.devices()))
        .and(ready(start));
  }

  /** Looks only at whether the process that was started still runs: needs nobody else. */
  Check unit(String unit, Phase.Start start, Phase.Run run) {
    Optional<ServiceManager.UnitState> found;
    try {
      found = node.services().state(unit);
    } catch (IOException e) {
      return new Check.Waiting("systemd cannot be asked: " + e.getMessage());
    }
    if (found.isEmpty()) {
      return new Check.Failed("systemd does not know " + unit);
    }
    var state = found.get();
    boolean same = state.mainPid() == run.pid() && state.restarts() == run.restarts();
    if (same && state.running()) {
      return new Check.Healthy();
    }
    // the kubelet's last words are written while it ends
    if (state.ending() || (same && state.starting())) {
      return new Check.Waiting(unit + " is " + state);
    }
    return new Check.Failed(
        "the kubelet did not stay up: %s is %s: %s"
            .formatted(unit, state, log.errorSince(start, unit)));
  }

  private Check config(Wanted wanted) {
    return switch (node.kubelet().configz()) {
      case Configz.Unreachable(var why) -> new Check.Waiting("/configz: " + why);
      case Configz.Denied(var why) -> new Check.Unknown("/configz: " + why);
      case Configz.Live(var config) -> config(config, wanted);
      case Configz.OnDisk(var config) -> config(config, wanted);
    };
  }

  private static Check config(JsonNode config, Wanted wanted) {
    var complaints = wanted.complaints().apply(config);
    return complaints.isEmpty()
        ? new Check.Healthy()
        : new Check.Failed(
            "the running kubelet's configuration is not as wanted: "
                + String.join("; ", complaints));
  }

  private Check stateFiles(Map<String, String> policies) {
    Check all = new Check.Healthy();
    for (var policy : policies.entrySet()) {
      all = all.and(stateFile(policy.getKey(), policy.getValue()));
    }
    return all;
  }

  private Check stateFile(String path, String policy) {
    try {
      var found = node.host().read(path).flatMap(StatePolicies::recorded);
      return found.isPresent() && found.get().equalsIgnoreCase(policy)
          ? new Check.Healthy()
          : new Check.Waiting(
              "%s has policy %s, not %s".formatted(path, found.orElse("(none yet)"), policy));
    } catch (IOException e) {
      return new Check.Waiting(path + " cannot be read: " + e.getMessage());
    }
  }

  private Check devices(Map<String, Integer> wanted) {
    Map<String, Integer> counts;
    try {
      counts = node.podResources().allocatable().counts();
    } catch (IOException e) {
      return new Check.Waiting("PodResources: " + e.getMessage());
    }
    for (var resource : wanted.entrySet()) {
      int count = counts.getOrDefault(resource.getKey(), 0);
      if (count < resource.getValue()) {
        return new Check.Waiting(
            "%d of %d %s devices are back"
                .formatted(count, resource.getValue(), resource.getKey()));
      }
    }
    return new Check.Healthy();
  }

  /** The node's own clock wrote both times; the API keeps whole seconds. */
  private Check ready(Phase.Start start) {
    try {
      var view = node.api().node();
      var started = Instant.ofEpochMilli(start.at()).truncatedTo(ChronoUnit.SECONDS);
      if (view.heartbeat().isBefore(started)) {
        return new Check.Waiting("the kubelet has not reported to the API server");
      }
      return view.notReady()
          .<Check>map(why -> new Check.Waiting("the node is not Ready: " + why))
          .orElseGet(Check.Healthy::new);
    } catch (IOException e) {
      return new Check.Unknown("the API server cannot be asked: " + e.getMessage());
    }
  }

  /**
   * The time that a kubelet has: it must be stable for the window, and what needs time may take a
   * grace beyond it. After the API server was away it may take longer.
   */
  static final class Watch {
    static final Duration GRACE = Duration.ofSeconds(60);

    /**
     * A kubelet that loses the API server while it starts tries to write its CSINode after 0.03,
     * 0.24, 1.9, 15.4 and 122.9 s, each up to a tenth longer, and is not Ready before (kubernetes,
     * pkg/volume/csi/csi_plugin.go, initializeCSINode); it reports that at its next 10 s.
     */
    static final Duration GRACE_AFTER_OUTAGE = Duration.ofSeconds(150);

    private static final Duration AWAY = Duration.ofSeconds(10);

    private final Instant stableFrom;
    private Instant deadline;

    Watch(Phase.Start start, Duration window, Instant now) {
      this.stableFrom = Instant.ofEpochMilli(start.at()).plus(window);
      this.deadline = stableFrom.plus(GRACE);
      // an agent that was away itself gives the kubelet a fair look, and may not know of an outage
      extend(
          now.plus(
              now.isAfter(Instant.ofEpochMilli(start.at()).plus(AWAY))
                  ? GRACE_AFTER_OUTAGE
                  : GRACE));
    }

    /** Nobody could ask the API server. */
    void outage(Instant now) {
      extend(now.plus(GRACE_AFTER_OUTAGE));
    }

    private void extend(Instant least) {
      if (deadline.isBefore(least)) {
        deadline = least;
      }
    }

    boolean windowPassed(Instant now) {
      return !now.isBefore(stableFrom);
    }

    boolean overdue(Instant now) {
      return !now.isBefore(deadline);
    }
  }
}
