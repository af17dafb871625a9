package io.numaoperator.scheduler;

import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.NodeFree;
import java.util.ArrayList;
import java.util.List;

/**
 * How well a pod's zones on a node are used, from 0 to 10: the tighter the better, so that large
 * free zones stay whole for large pods. A placement across more zones than needed (best-effort) is
 * worse than any that is not.
 */
final class Score {
  static final int MAX = 10;
  private static final int UNALIGNED_MAX = 3;
  private static final int ALIGNED_MIN = 4;

  private Score() {}

  static int of(Verdict verdict) {
    return switch (verdict) {
      case Verdict.Suits(Fit.Fits fit, NodeFree before) when fit.preferred() ->
          ALIGNED_MIN + (int) Math.round((MAX - ALIGNED_MIN) * (1 - leftOver(fit, before)));
      case Verdict.Suits(Fit.Fits fit, NodeFree _) ->
          Math.max(0, UNALIGNED_MAX + 2 - fit.zones().size());
      case Verdict.Indifferent _, Verdict.NotNow _, Verdict.Never _ -> 0;
    };
  }

  /**
   * Of what the pod takes, the share that the zones it takes it from have left. Of zones that it
   * does not touch nothing is counted.
   */
  private static double leftOver(Fit.Fits fit, NodeFree before) {
    var shares = new ArrayList<Double>();
    var after = fit.after();
    for (int i = 0; i < before.zones().size(); i++) {
      var was = before.zones().get(i);
      var is = after.zones().get(i);
      if (is.freeCpus() < was.freeCpus()) {
        shares.add(share(is.freeCpus(), was.allocatableCpus()));
      }
      was.memory()
          .forEach(
              (type, memory) -> {
                long left = is.memory().get(type).free();
                if (left < memory.free()) {
                  shares.add(share(left, memory.allocatable()));
                }
              });
    }
    for (int i = 0; i < before.devices().size(); i++) {
      var was = before.devices().get(i);
      var is = after.devices().get(i);
      if (is.free() < was.free()) {
        // a device weighs as much as CPU and memory together: it is what zones are short of
        shares.addAll(List.of(share(is.free(), was.total()), share(is.free(), was.total())));
      }
    }
    return shares.stream().mapToDouble(Double::doubleValue).average().orElse(1);
  }

  private static double share(long left, long all) {
    return all == 0 ? 0 : Math.min(1, (double) left / all);
  }
}
