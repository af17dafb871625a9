package io.numaoperator.agent;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.kubelet.StateFile;
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
   * What the files must name, by path.
   *
   * @param wanted what the kubelet should run with
   * @param before what it ran with, which holds where wanted says nothing
   */
  static Map<String, String> expected(
      Journal.Granted granted, KubeletFragment wanted, KubeletFragment before) {
    var policies = new TreeMap<String, String>();
    put(policies, granted.cpuState(), wanted.cpuManagerPolicy, before.cpuManagerPolicy);
    put(policies, granted.memoryState(), wanted.memoryManagerPolicy, before.memoryManagerPolicy);
    return policies;
  }

  private static void put(Map<String, String> policies, String path, String wanted, String before) {
    var policy = wanted == null ? before : wanted;
    if (policy != null) {
      policies.put(path, policy);
    }
  }
}
