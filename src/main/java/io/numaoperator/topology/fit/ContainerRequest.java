package io.numaoperator.topology.fit;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a container asks for.
 *
 * @param milliCpus its CPU request in thousandths
 * @param memory requests in bytes by resource name: "memory", "hugepages-2Mi"…
 * @param devices limits of extended resources; the kubelet takes no other
 */
public record ContainerRequest(
    String name, Kind kind, long milliCpus, Map<String, Long> memory, Map<String, Long> devices) {
  public ContainerRequest {
    memory = Collections.unmodifiableMap(new TreeMap<>(memory));
    devices = Collections.unmodifiableMap(new TreeMap<>(devices));
  }

  /**
   * Whole CPUs; 0 when it asks for a fraction: such a container runs in the shared pool
   * (cpumanager/policy_static.go, guaranteedCPUs).
   */
  int wholeCpus() {
    return milliCpus % 1000 == 0 ? (int) Math.min(milliCpus / 1000, Integer.MAX_VALUE) : 0;
  }

  /** What a container is in its pod. */
  public enum Kind {
    /** Runs to its end before the others start; what it held is used again by those after it. */
    Init,
    /** An init container with restartPolicy Always: keeps what it has. */
    Sidecar,
    App
  }
}
