package io.numaoperator.plan.device;

import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.nvidia.ClusterPolicy;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.Provision;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;

/** One device plugin that the operator can configure. */
public interface DevicePluginProvider {
  /** Beside those that the operator made, the ConfigMaps that {@link #plan} wants to see. */
  SortedSet<ConfigMapRef> reads(Input input);

  /** What to apply for it, and what the plugin of each node is to load. */
  DevicePlan plan(Input input);

  /**
   * What it is planned from.
   *
   * @param pools the policies that use this provider
   * @param owned data of each ConfigMap that the operator made for this provider (it carries our
   *     part and provider labels)
   * @param foreign data of each ConfigMap of {@link #reads} that exists and is not ours
   * @param nodes what is known of the cluster's nodes, by name
   * @param clusterPolicies the GPU Operator's
   */
  record Input(
      ClusterFacts facts,
      List<NodePool> pools,
      Map<ConfigMapRef, Map<String, String>> owned,
      Map<ConfigMapRef, Map<String, String>> foreign,
      Map<String, NodeDevices> nodes,
      List<ClusterPolicy> clusterPolicies) {
    public Input {
      pools = List.copyOf(pools);
      owned = Map.copyOf(owned);
      foreign = Map.copyOf(foreign);
      nodes = Map.copyOf(nodes);
      clusterPolicies = List.copyOf(clusterPolicies);
    }

    NodeDevices node(String name) {
      return nodes.getOrDefault(name, NodeDevices.UNKNOWN);
    }
  }

  /** A policy and the nodes that it has. */
  record NodePool(NumaPolicy policy, Set<String> nodes) {
    public NodePool {
      nodes = Set.copyOf(nodes);
    }
  }

  /**
   * The outcome.
   *
   * @param wishes by node; a node of a pool that is not in it is left as it is
   * @param unused of the objects, those ConfigMaps that no policy and no plugin that runs needs;
   *     they go once no DaemonSet mounts them
   * @param clusterPolicy to be applied with exactly these fields; without a spec what we had
   *     applied is given up
   */
  record DevicePlan(
      Provision provision,
      Map<String, Wish> wishes,
      Set<ConfigMapRef> unused,
      Optional<ClusterPolicy> clusterPolicy) {
    public DevicePlan {
      wishes = Map.copyOf(wishes);
      unused = Set.copyOf(unused);
    }

    /**
     * This one to be told, and to be made what another one makes: that of the policies which may
     * change anything. What is refused for one is made for none.
     */
    public DevicePlan making(DevicePlan enforced) {
      var none = new HashSet<>(unused);
      none.retainAll(enforced.unused());
      return new DevicePlan(
          provision instanceof Provision.Objects told
                  && enforced.provision() instanceof Provision.Objects made
              ? new Provision.Objects(told.provider(), made.objects(), remarks(told, made))
              : provision instanceof Provision.Objects ? enforced.provision() : provision,
          wishes,
          none,
          clusterPolicy);
    }

    /** A plugin that is pointed to a ConfigMap which is not there does not start. */
    private static List<Provision.Remark> remarks(Provision.Objects told, Provision.Objects made) {
      var there = made.objects().stream().map(ConfigMapRef::of).toList();
      var missing =
          told.objects().stream()
              .map(ConfigMapRef::of)
              .filter(ref -> !there.contains(ref))
              .toList();
      return told.remarks().stream()
          .map(
              remark ->
                  missing.stream()
                      .filter(ref -> remark.message().contains(ref.name()))
                      .findFirst()
                      .map(ref -> later(remark, ref))
                      .orElse(remark))
          .toList();
    }

    private static Provision.Remark later(Provision.Remark remark, ConfigMapRef ref) {
      return new Provision.Remark(
          remark.reason(),
          "not before mode Enforce, which makes ConfigMap %s: %s".formatted(ref, remark.message()));
    }

    static DevicePlan of(Provision provision) {
      return new DevicePlan(provision, Map.of(), Set.of(), Optional.empty());
    }
  }
}
