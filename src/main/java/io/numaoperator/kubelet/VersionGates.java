package io.numaoperator.kubelet;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What a kubelet of a version, with its feature gates, accepts. An option that a kubelet does not
 * know stops it, so this is asked before anything is written.
 *
 * @param version the kubelet's
 * @param featureGates those that its configuration sets; the rest have their defaults
 */
public record VersionGates(KubeletVersion version, Map<String, Boolean> featureGates) {
  public VersionGates {
    featureGates = Map.copyOf(featureGates);
  }

  /** Whether an option can be given. */
  public sealed interface Availability {
    /** The kubelet accepts it. */
    record Available() implements Availability {}

    /** The kubelet knows it only since Kubernetes 1.{@code minor}. */
    record KnownSince(int minor) implements Availability {}

    /** The kubelet accepts it only with this feature gate set to true. */
    record NeedsGate(String gate) implements Availability {}
  }

  /** Whether this kubelet accepts the option, whatever its value. */
  public Availability availability(KubeletOption option) {
    var maturity = option.in(version);
    if (maturity == KubeletOption.Maturity.UNKNOWN) {
      return new Availability.KnownSince(option.since());
    }
    var manager = option.manager();
    var all = manager.gatePrefix + "Options";
    if (!version.isAtLeast(manager.optionsLockedSince) && !featureGates.getOrDefault(all, true)) {
      return new Availability.NeedsGate(all);
    }
    return switch (maturity) {
      case ALPHA -> gated(manager.gatePrefix + "AlphaOptions", "AllAlpha", false);
      case BETA -> gated(manager.gatePrefix + "BetaOptions", "AllBeta", true);
      case GA, UNKNOWN -> new Availability.Available();
    };
  }

  public boolean accepts(KubeletOption option) {
    return availability(option) instanceof Availability.Available;
  }

  /** A gate that is set itself wins over AllAlpha and AllBeta, these over the default. */
  private Availability gated(String gate, String group, boolean byDefault) {
    boolean on = featureGates.getOrDefault(gate, featureGates.getOrDefault(group, byDefault));
    return on ? new Availability.Available() : new Availability.NeedsGate(gate);
  }

  /**
   * Whether drop-in files are merged as RFC 7386 says. In 1.30 null cannot delete and elements of
   * lists may mix by index; 1.31 is unchecked; 1.32 is right.
   */
  public boolean mergesDropInsSafely() {
    return version.isAtLeast(32);
  }

  /**
   * Whether the right nodes/configz is enough to read /configz (KEP-2862, gate
   * KubeletFineGrainedAuthz: alpha in 1.32, on since 1.33, GA in 1.36). Else it takes nodes/proxy,
   * which is as strong as root on the node.
   */
  public boolean servesConfigzWithoutNodesProxy() {
    return version.isAtLeast(36)
        || (version.isAtLeast(32)
            && gated(
                    "KubeletFineGrainedAuthz",
                    version.isAtLeast(33) ? "AllBeta" : "AllAlpha",
                    version.isAtLeast(33))
                instanceof Availability.Available);
  }

  /**
   * The gates that are set to false and that this version has locked on; the kubelet exits then
   * ({@code cannot set feature gate X to false, feature is locked to true}).
   */
  public List<String> lockedGates() {
    return Stream.of(KubeletOption.Manager.values())
        .filter(manager -> version.isAtLeast(manager.optionsLockedSince))
        .map(manager -> manager.gatePrefix + "Options")
        .filter(gate -> !featureGates.getOrDefault(gate, true))
        .toList();
  }

  /** Whether the gate MemoryManager may be in featureGates; since 1.36 it stops the kubelet. */
  public boolean knowsGateMemoryManager() {
    return !version.isAtLeast(36);
  }
}
