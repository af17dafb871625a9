package io.numaoperator.plan.kubelet;

import io.numaoperator.kubelet.KubeletOption;
import io.numaoperator.kubelet.VersionGates;
import io.numaoperator.kubelet.VersionGates.Availability.Available;
import io.numaoperator.kubelet.VersionGates.Availability.KnownSince;
import io.numaoperator.kubelet.VersionGates.Availability.NeedsGate;
import java.util.Map;
import java.util.TreeMap;

/** Options of a manager's policy, written only where this kubelet accepts them. */
final class Options {
  private final VersionGates gates;
  private final Map<String, String> values = new TreeMap<>();

  Options(VersionGates gates) {
    this.gates = gates;
  }

  /**
   * Takes over what the policy says; null leaves the option to the main file. One that is off in
   * the policy and unknown to the kubelet is off already.
   *
   * @param field the policy's field, for the message
   */
  void set(KubeletOption option, Boolean value, String field) throws RefusedException {
    if (value == null) {
      return;
    }
    if (value) {
      demand(option, field);
      values.put(option.optionName(), "true");
    } else {
      switchOff(option);
    }
  }

  /** Writes an option with a number. */
  void set(KubeletOption option, int value, String field) throws RefusedException {
    demand(option, field);
    values.put(option.optionName(), Integer.toString(value));
  }

  /** Writes false, if the kubelet knows the option: it may be on in the main file. */
  void switchOff(KubeletOption option) {
    if (gates.accepts(option)) {
      values.put(option.optionName(), "false");
    }
  }

  boolean isOn(KubeletOption option) {
    return "true".equals(values.get(option.optionName()));
  }

  /** By the kubelet's names; null when there are none, as on the wire. */
  Map<String, String> orNull() {
    return values.isEmpty() ? null : values;
  }

  private void demand(KubeletOption option, String field) throws RefusedException {
    switch (gates.availability(option)) {
      case Available accepted -> {}
      case KnownSince since ->
          throw new RefusedException(
              "UnsupportedOption",
              "%s (%s) needs Kubernetes 1.%d; this kubelet is %s. Remove it, or upgrade the node.",
              field,
              option.optionName(),
              since.minor(),
              gates.version());
      case NeedsGate gate ->
          throw new RefusedException(
              "UnsupportedOption",
              "%s (%s) needs the feature gate %s in Kubernetes %s, and this kubelet has it off. Set"
                  + " it to true in the kubelet's own configuration, or remove the option: the"
                  + " operator does not manage feature gates.",
              field,
              option.optionName(),
              gate.gate(),
              gates.version());
    }
  }
}
