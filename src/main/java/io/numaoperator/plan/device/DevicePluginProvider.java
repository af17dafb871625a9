package io.numaoperator.plan.device;

import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.Provision;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;

/** One device plugin that the operator can configure. */
public interface DevicePluginProvider {
  /**
   * The ConfigMaps that {@link #plan} wants to see for these policies, beside those that the
   * operator made; see {@link Input#foreign}.
   */
  SortedSet<ConfigMapRef> reads(List<NumaPolicy> policies);

  /** What to apply for it. */
  Provision plan(Input input);

  /**
   * What it is planned from.
   *
   * @param pools the policies that use this provider
   * @param owned config.json of each ConfigMap that the operator made for this provider (it carries
   *     our part and provider labels)
   * @param foreign config.json of each ConfigMap of {@link #reads} that exists and is not ours;
   *     empty text where it has none
   */
  record Input(
      ClusterFacts facts,
      List<NodePool> pools,
      Map<ConfigMapRef, String> owned,
      Map<ConfigMapRef, String> foreign) {
    public Input {
      pools = List.copyOf(pools);
      owned = Map.copyOf(owned);
      foreign = Map.copyOf(foreign);
    }
  }

  /** A policy and the nodes that it has. */
  record NodePool(NumaPolicy policy, Set<String> nodes) {
    public NodePool {
      nodes = Set.copyOf(nodes);
    }
  }
}
