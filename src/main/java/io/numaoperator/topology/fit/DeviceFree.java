package io.numaoperator.topology.fit;

import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

/**
 * Devices of one resource that are on the same zones.
 *
 * @param resource the extended resource's name
 * @param zones the zones that each of them is on; empty for devices without topology
 * @param total how many there are, unhealthy ones included
 * @param free how many are healthy and nobody's
 */
public record DeviceFree(String resource, Set<Integer> zones, int total, int free) {
  /**
   * @throws IllegalArgumentException if a count is negative
   */
  public DeviceFree {
    if (total < 0 || free < 0) {
      throw new IllegalArgumentException("%s: a negative count of devices".formatted(resource));
    }
    zones = Collections.unmodifiableSet(new TreeSet<>(zones));
  }
}
