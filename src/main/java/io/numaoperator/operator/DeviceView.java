package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.device.ConfigMapRef;
import io.numaoperator.plan.device.NodeDevices;
import io.numaoperator.plan.device.RunningPlugin;
import io.numaoperator.plan.device.Wish;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What the device plugins of all nodes are to load, by the last plan, and what runs now.
 *
 * @param planned whether there was a plan yet
 * @param refused providers that could not be planned: what their nodes have stays
 * @param plugins those that run on a node
 * @param accounts of a node, where HAMi accounts for other GPUs than the kubelet gave
 * @param found since when a plugin surely finds what is in each ConfigMap
 */
record DeviceView(
    boolean planned,
    Map<String, Wish> wishes,
    Set<Provider> refused,
    Map<ConfigMapRef, Instant> found,
    Function<String, List<RunningPlugin>> plugins,
    Function<String, List<String>> accounts) {
  static final DeviceView NONE =
      new DeviceView(false, Map.of(), Set.of(), Map.of(), node -> List.of(), node -> List.of());

  /** The nodes for which the last plan is another; empty when it is the same. */
  Optional<Predicate<String>> differsFrom(DeviceView former) {
    if (planned != former.planned
        || !refused.equals(former.refused)
        || !found.equals(former.found)) {
      return Optional.of(node -> true);
    }
    return wishes.equals(former.wishes)
        ? Optional.empty()
        : Optional.of(node -> !Objects.equals(wishes.get(node), former.wishes.get(node)));
  }

  Wish wish(NumaPolicy policy, String node) {
    var provider = policy.getSpec().devicePlugin.provider;
    return !planned || (refused.contains(provider) && !Restoration.isUnderWay(policy))
        ? new Wish.Unknown()
        : wishes.getOrDefault(node, new Wish.Nothing());
  }

  NodeDevices seen(Node node, boolean hasPolicy) {
    return Nodes.devices(node, hasPolicy, plugins.apply(node.getMetadata().getName()));
  }
}
