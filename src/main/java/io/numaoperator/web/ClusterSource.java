package io.numaoperator.web;

import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.nrt.NodeResourceTopology;
import java.util.List;

/** The objects that the page shows, as of now. */
public interface ClusterSource {
  List<NumaPolicy> policies();

  List<NumaNodeState> states();

  List<NodeResourceTopology> topologies();
}
