package io.numaoperator.probe;

import java.util.OptionalDouble;
import java.util.regex.Pattern;

/** Reads /proc/PID/numa_maps: on which NUMA node the pages of a mapping are (numa(7)). */
final class NumaMaps {
  private static final Pattern PAGES = Pattern.compile(" N(\\d+)=(\\d+)");

  private NumaMaps() {}

  /**
   * Which part of a mapping's pages is on a NUMA node, 0 to 1.
   *
   * @param address in the mapping; the kernel may have joined it with its neighbour
   * @return empty when the mapping has no pages, or is not there
   */
  static OptionalDouble share(String maps, long address, int zone) {
    var mapping = "";
    for (var line : maps.lines().toList()) {
      if (Long.compareUnsigned(start(line), address) > 0) {
        break; // they are in the order of their addresses
      }
      mapping = line;
    }
    long there = 0;
    long all = 0;
    for (var pages = PAGES.matcher(mapping); pages.find(); ) {
      long count = Long.parseLong(pages.group(2));
      all += count;
      there += Integer.parseInt(pages.group(1)) == zone ? count : 0;
    }
    return all == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) there / all);
  }

  private static long start(String line) {
    return Long.parseUnsignedLong(line.substring(0, line.indexOf(' ')), 16);
  }
}
