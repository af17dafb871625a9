package io.numaoperator.scheduler;

import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.NodeFree;
import io.numaoperator.topology.fit.PodRequest;

/** Asks what a node's kubelet would say to a pod: {@link Fit#of}, or what remembers it. */
interface FitModel {
  Fit of(NodeFree free, PodRequest request);
}
