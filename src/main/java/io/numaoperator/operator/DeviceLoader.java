package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.plan.device.DeviceMark;
import io.numaoperator.plan.device.DeviceMark.State;
import io.numaoperator.plan.device.RunningPlugin.Kind;
import io.numaoperator.rollout.Action;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.Optional;

/**
 * Has a node's device plugin load its settings: NVIDIA's by the node's label, HAMi's by a new pod,
 * since it reads its file at its start only. The pod goes by the Eviction API; its DaemonSet makes
 * another one.
 */
@ApplicationScoped
class DeviceLoader {
  private final Writer writer;
  private final PluginPods plugins;
  private final Evictor evictor;

  @Inject
  DeviceLoader(Writer writer, PluginPods plugins, Evictor evictor) {
    this.writer = writer;
    this.plugins = plugins;
    this.evictor = evictor;
  }

  void load(Node node, DeviceStanding standing, Action.LoadDevices action) {
    var mark = standing.begin(action.hash(), Instant.now());
    if (mark.provider() == Provider.HAMi) {
      // the time is of before: so the next pod is never older than the mark
      var refused =
          evictor.evict(plugins.on(action.node(), Kind.HAMi), Optional.empty()).entrySet();
      refused.stream()
          .findFirst()
          .ifPresent(
              answer -> {
                throw new KubernetesClientException(
                    "evicting %s: %s".formatted(answer.getKey(), answer.getValue()));
              });
      writer.devices(node, Optional.of(mark));
    } else {
      writer.devices(node, Optional.of(mark), standing.label(mark));
    }
  }

  void loaded(Node node, DeviceStanding standing, Action.DevicesLoaded action) {
    var mark = standing.seen().mark().orElseThrow();
    if (action.back()) {
      var nothing = mark.hash().equals(DeviceMark.NOTHING);
      writer.devices(node, nothing ? Optional.empty() : Optional.of(mark.as(State.Loaded)));
    } else if (mark.provider() == Provider.HAMi || mark.hash().equals(DeviceMark.NOTHING)) {
      writer.devices(node, Optional.of(mark.as(State.Failed)));
    } else {
      var was = Optional.of(mark.was()).filter(label -> !label.isEmpty());
      writer.devices(node, Optional.of(mark.as(State.Failed)), was);
    }
  }
}
