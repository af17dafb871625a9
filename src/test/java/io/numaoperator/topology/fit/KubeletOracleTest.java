package io.numaoperator.topology.fit;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.topology.fit.Fit.DoesNotFit;
import io.numaoperator.topology.fit.Fit.Fits;
import io.numaoperator.topology.fit.Fit.NotAligned;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The model against what the kubelet's own code said. */
class KubeletOracleTest {
  private static final int CASES = 3000;

  private final List<KubeletCases> cases =
      KubeletCases.read(
          KubeletOracleTest.class.getResourceAsStream("/fit/kubelet-1.36.3.jsonl.gz"));

  @Test
  void nothingFitsThatTheKubeletRejects() {
    var wrong = new ArrayList<String>();
    int rejected = 0;
    for (var c : cases) {
      if (!c.admitted()) {
        rejected++;
        if (Fit.of(c.node(), c.pod()) instanceof Fits fits) {
          wrong.add("%s%n   %s".formatted(c, fits));
        }
      }
    }
    assertThat(rejected).isGreaterThan(CASES / 4);
    assertThat(wrong).isEmpty();
  }

  @Test
  void everythingFitsThatTheKubeletAdmits() {
    var wrong = new ArrayList<String>();
    int admitted = 0;
    for (var c : cases) {
      if (c.admitted()) {
        admitted++;
        if (Fit.of(c.node(), c.pod()) instanceof DoesNotFit no) {
          wrong.add("%s%n   %s".formatted(c, no));
        }
      }
    }
    assertThat(admitted).isGreaterThan(CASES / 4);
    assertThat(wrong).isEmpty();
  }

  @Test
  void notAlignedIsRejectedOnlyForWhatTheDefaultSchedulerCounts() {
    var wrong = new ArrayList<String>();
    for (var c : cases) {
      if (Fit.of(c.node(), c.pod()) instanceof NotAligned
          && !c.admitted()
          && !c.reason().contains("requested number of devices unavailable")) {
        wrong.add(c.toString());
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void choosesTheZonesThatTheKubeletChooses() {
    var wrong = new ArrayList<String>();
    int checked = 0;
    for (var c : cases) {
      if (c.admitted() && certain(c) && Fit.of(c.node(), c.pod()) instanceof Fits fits) {
        for (var place : fits.containers()) {
          checked++;
          var real = c.affinity().getOrDefault(place.container(), Set.of());
          if (!real.equals(place.zones())) {
            wrong.add("%s%n   %s, not %s".formatted(c, place, real));
          }
        }
      }
    }
    assertThat(checked).isGreaterThan(CASES / 3);
    assertThat(wrong).isEmpty();
  }

  @Test
  void leavesNoMoreThanTheKubeletLeaves() {
    var wrong = new ArrayList<String>();
    int exact = 0;
    int all = 0;
    for (var c : cases) {
      if (c.admitted() && certain(c) && Fit.of(c.node(), c.pod()) instanceof Fits fits) {
        all++;
        exact += fits.after().equals(c.after()) ? 1 : 0;
        if (!within(fits.after(), c.after())) {
          wrong.add("%s%n   %s".formatted(c, fits.after()));
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(exact).isGreaterThan(all * 3 / 4);
  }

  private static boolean within(NodeFree said, NodeFree real) {
    boolean zones =
        IntStream.range(0, real.zones().size())
            .allMatch(
                i ->
                    said.zones().get(i).freeCpus() <= real.zones().get(i).freeCpus()
                        && said.zones().get(i).memory().equals(real.zones().get(i).memory())
                        && said.zones()
                            .get(i)
                            .memoryGroup()
                            .equals(real.zones().get(i).memoryGroup()));
    return zones
        && IntStream.range(0, real.devices().size())
            .allMatch(i -> said.devices().get(i).free() <= real.devices().get(i).free());
  }

  /**
   * Whether the kubelet's choice for one container can be known when it looks at the next: which
   * devices of several zones it takes, and which CPUs of several zones, is more than counts say.
   */
  private static boolean certain(KubeletCases c) {
    boolean strict =
        c.node().rules().policy() == Policy.SingleNumaNode
            || c.node().rules().policy() == Policy.Restricted;
    return (strict || c.pod().containers().size() == 1)
        && c.node().devices().stream().noneMatch(device -> device.zones().size() > 1);
  }
}
