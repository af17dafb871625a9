package io.numaoperator.topology.fit;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a container or pod wants of a resource, and what each zone could give: for messages.
 *
 * @param amount CPUs, bytes or devices
 * @param free by zone; a zone without the resource may be left out
 * @param fewestZones how many zones it takes on an empty node
 * @param elsewhere zones that have enough and still cannot serve it, and why
 */
record Need(
    String resource,
    long amount,
    Map<Integer, Long> free,
    int fewestZones,
    Map<Integer, String> elsewhere) {
  Need {
    free = Collections.unmodifiableMap(new TreeMap<>(free));
    elsewhere = Collections.unmodifiableMap(new TreeMap<>(elsewhere));
  }

  long freeOn(int zone) {
    return free.getOrDefault(zone, 0L);
  }
}
