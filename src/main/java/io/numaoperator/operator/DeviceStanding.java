package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.device.DeviceMark;
import io.numaoperator.plan.device.DeviceMark.State;
import io.numaoperator.plan.device.NodeDevices;
import io.numaoperator.plan.device.NvidiaConfig;
import io.numaoperator.plan.device.RunningPlugin;
import io.numaoperator.plan.device.Wish;
import io.numaoperator.readiness.DeviceEvidence;
import io.numaoperator.rollout.Devices;
import io.numaoperator.rollout.RolloutSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * How a node's device plugin stands to what it is to load.
 *
 * @param window how long the devices must be there again before that is believed
 */
record DeviceStanding(
    Node node, Provider provider, Wish wish, NodeDevices seen, DeviceView view, Duration window) {

  static DeviceStanding of(NumaPolicy policy, Node node, DeviceView view) {
    return new DeviceStanding(
        node,
        policy.getSpec().devicePlugin.provider,
        view.wish(policy, node.getMetadata().getName()),
        view.seen(node, true),
        view,
        RolloutSettings.window(policy.getSpec().rollout));
  }

  DeviceEvidence evidence() {
    return new DeviceEvidence(wish, seen, view.accounts().apply(node.getMetadata().getName()));
  }

  Devices devices(Instant now) {
    var mark = seen.mark();
    if (mark.filter(m -> m.state() == State.Loading).isPresent()) {
      return loading(mark.get(), now);
    }
    return switch (wish) {
      case Wish.Unknown unknown -> asWanted(mark);
      case Wish.Nothing nothing -> withoutOurs(mark);
      case Wish.Load load -> load(load, mark);
    };
  }

  private Devices withoutOurs(Optional<DeviceMark> mark) {
    if (mark.filter(m -> m.state() == State.Failed && m.hash().equals(DeviceMark.NOTHING))
        .isPresent()) {
      return new Devices.Failed(DeviceMark.NOTHING);
    }
    return mark.isPresent() || hasOurLabel()
        ? new Devices.Change(DeviceMark.NOTHING, Instant.EPOCH)
        : asWanted(mark);
  }

  private static Devices asWanted(Optional<DeviceMark> mark) {
    return new Devices.AsWanted(mark.map(DeviceMark::since));
  }

  private Devices load(Wish.Load load, Optional<DeviceMark> mark) {
    if (mark.filter(m -> m.provider() != provider).isPresent()) {
      return withoutOurs(mark); // the former provider's goes first
    }
    if (mark.filter(m -> m.state() == State.Failed && m.hash().equals(load.hash())).isPresent()) {
      return new Devices.Failed(load.hash());
    }
    return isLoaded(load, mark) || !load.reachable()
        ? asWanted(mark)
        : new Devices.Change(load.hash(), view.found().getOrDefault(load.from(), Instant.EPOCH));
  }

  private boolean isLoaded(Wish.Load load, Optional<DeviceMark> mark) {
    return load.label().isPresent()
        ? seen.label().equals(load.label())
        : mark.filter(m -> m.state() == State.Loaded && m.hash().equals(load.hash())).isPresent();
  }

  private boolean hasOurLabel() {
    return seen.label().filter(NvidiaConfig::isOurs).isPresent();
  }

  /** Between the plugin's end and its registration the node still shows its devices of before. */
  private Devices loading(DeviceMark mark, Instant now) {
    var settles = mark.since().plus(window);
    return new Devices.Loading(mark.hash(), !now.isBefore(settles) && isBack(mark), settles);
  }

  private boolean isBack(DeviceMark mark) {
    var kind = kind(mark.provider());
    var plugins = seen.plugins().stream().filter(plugin -> plugin.kind() == kind).toList();
    if (plugins.isEmpty()) {
      return mark.hash().equals(DeviceMark.NOTHING);
    }
    return plugins.stream()
            .allMatch(
                plugin ->
                    plugin.ready()
                        && (kind != RunningPlugin.Kind.HAMi
                            || !plugin.created().isBefore(mark.since())))
        && Nodes.hasGpus(node);
  }

  static RunningPlugin.Kind kind(Provider provider) {
    return switch (provider) {
      case HAMi -> RunningPlugin.Kind.HAMi;
      case GPUOperator -> RunningPlugin.Kind.GPUOperator;
      case NVIDIA, None -> RunningPlugin.Kind.NVIDIA;
    };
  }

  /** What is written when the plugin is told to load. */
  DeviceMark begin(String hash, Instant now) {
    var former = seen.mark();
    return hash.equals(DeviceMark.NOTHING)
        ? new DeviceMark(
            former.map(DeviceMark::provider).orElse(Provider.NVIDIA),
            State.Loading,
            hash,
            now,
            former.map(DeviceMark::was).orElse(""))
        : new DeviceMark(provider, State.Loading, hash, now, was());
  }

  private String was() {
    return seen.label()
        .filter(label -> !NvidiaConfig.isOurs(label))
        .or(() -> seen.mark().map(DeviceMark::was))
        .orElse("");
  }

  /** The label that goes with a mark; empty: none. */
  Optional<String> label(DeviceMark mark) {
    return wish instanceof Wish.Load load && load.hash().equals(mark.hash())
        ? load.label()
        : Optional.of(mark.was()).filter(was -> !was.isEmpty());
  }
}
