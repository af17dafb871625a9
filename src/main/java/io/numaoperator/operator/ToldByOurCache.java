package io.numaoperator.operator;

import io.javaoperatorsdk.operator.processing.event.source.filter.OnUpdateFilter;
import io.numaoperator.api.NumaNodeState;

/** JOSDK tells of states that come; that one changed is told when {@link ClusterCache} has it. */
public final class ToldByOurCache implements OnUpdateFilter<NumaNodeState> {
  @Override
  public boolean accept(NumaNodeState state, NumaNodeState old) {
    return false;
  }
}
