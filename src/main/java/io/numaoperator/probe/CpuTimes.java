package io.numaoperator.probe;

import io.numaoperator.topology.CpuSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What each CPU has done since the machine's start (/proc/stat, proc(5)), in ticks of 10 ms.
 *
 * @param all the time that passed, by CPU
 * @param idle of it, waiting for disks included
 */
record CpuTimes(Map<Integer, Long> all, Map<Integer, Long> idle) {
  private static final Pattern CPU = Pattern.compile("cpu(\\d+) (.*)");
  private static final int COUNTED = 8; // user to steal; guest time is in user
  private static final int IDLE = 3;
  private static final int WAITING = 4;

  static CpuTimes parse(String stat) {
    var all = new TreeMap<Integer, Long>();
    var idle = new TreeMap<Integer, Long>();
    for (var line : stat.lines().toList()) {
      var match = CPU.matcher(line);
      if (match.matches()) {
        var ticks = match.group(2).strip().split(" +", -1);
        long sum = 0;
        for (int i = 0; i < Math.min(COUNTED, ticks.length); i++) {
          sum += Long.parseLong(ticks[i]);
        }
        int cpu = Integer.parseInt(match.group(1));
        all.put(cpu, sum);
        idle.put(cpu, Long.parseLong(ticks[IDLE]) + Long.parseLong(ticks[WAITING]));
      }
    }
    return new CpuTimes(all, idle);
  }

  /** Which part of these CPUs' time was used since then, 0 to 1; 0 where that is not known. */
  double busySince(CpuTimes before, CpuSet cpus) {
    long passed = 0;
    long unused = 0;
    for (int cpu : cpus.stream().toArray()) {
      if (all.containsKey(cpu) && before.all.containsKey(cpu)) {
        passed += all.get(cpu) - before.all.get(cpu);
        unused += idle.get(cpu) - before.idle.get(cpu);
      }
    }
    return passed <= 0 ? 0 : Math.clamp(1 - (double) unused / passed, 0, 1);
  }
}
