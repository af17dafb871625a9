package io.numaoperator.agent;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.kubelet.StateFile;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The policy names in the managers' state files. */
final class StatePolicies {
  private StatePolicies() {}

  /** The policy that a state file names; empty when it cannot be read. */
  static Optional<String> recorded(byte[] file) {
    return switch (StateFile.parse(file)) {
      case StateFile.Recorded(var policy) -> Optional.of(policy);
      case StateFile.Corrupt(var why) -> Optional.empty();
    };
  }

  /**
   * What the files must name, by path. A file that is written anew says what the kubelet's other
   * files ask for, where we ask for nothing: nobody's to judge.
   *
   * @param wanted what the kubelet should run with
   * @param before what it ran with, which holds where wanted says nothing
   * @param anew the files that were cleared
   */
  static Map<String, String> expected(
      Journal.Granted granted,
      KubeletFragment wanted,
      KubeletFragment before,
      Collection<String> anew) {
    var policies = new TreeMap<String, String>();
    Policy cpu = new Policy(granted.cpuState(), wanted.cpuManagerPolicy, before.cpuManagerPolicy);
    Policy memory =
        new Policy(granted.memoryState(), wanted.memoryManagerPolicy, before.memoryManagerPolicy);
    for (var policy : List.of(cpu, memory)) {
      policy.expected(anew).ifPresent(name -> policies.put(policy.path(), name));
    }
    return policies;
  }

  private record Policy(String path, String wanted, String before) {
    Optional<String> expected(Collection<String> anew) {
      return Optional.ofNullable(wanted)
          .or(() -> anew.contains(path) ? Optional.empty() : Optional.ofNullable(before));
    }
  }
}
