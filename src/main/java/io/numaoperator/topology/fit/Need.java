package io.numaoperator.topology.fit;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a container or pod wants of a resource, and what each zone could give.
 *
 * @param amount CPUs, bytes or devices
 * @param free by zone; a zone without the resource may be left out
 * @param fewestZones how many zones it takes on an empty node
 * @param elsewhere zones that have enough and still cannot serve it, and why
 */
public record Need(
    String resource,
    long amount,
    Map<Integer, Long> free,
    int fewestZones,
    Map<Integer, String> elsewhere) {
  public Need {
    free = Collections.unmodifiableMap(new TreeMap<>(free));
    elsewhere = Collections.unmodifiableMap(new TreeMap<>(elsewhere));
  }

  /** 0 where the zone has none of it. */
  public long freeOn(int zone) {
    return free.getOrDefault(zone, 0L);
  }

  /** Whether this zone alone could serve it. */
  public boolean isServedBy(int zone) {
    return freeOn(zone) >= amount && !elsewhere.containsKey(zone);
  }
}
