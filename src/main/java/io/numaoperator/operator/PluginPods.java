package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.plan.device.RunningPlugin;
import io.numaoperator.plan.device.RunningPlugin.Kind;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** The pods of GPU device plugins, in whichever namespace: one a GPU node, mostly. */
@ApplicationScoped
class PluginPods {
  private final Map<Kind, Store<Pod>> pods = new EnumMap<>(Kind.class);

  @Inject
  PluginPods(KubernetesClient client) {
    for (var kind : Kind.values()) {
      pods.put(
          kind, Store.ofPods(client.pods().inAnyNamespace().withLabel(kind.label(), kind.value())));
    }
  }

  @PreDestroy
  void close() {
    pods.values().forEach(Store::close);
  }

  void onChange(Runnable action) {
    pods.values().forEach(store -> store.onChange(PluginPods::differ, pod -> action.run()));
  }

  static boolean differ(Pod old, Pod pod) {
    return !Objects.equals(old.getSpec().getNodeName(), pod.getSpec().getNodeName())
        || !RunningPlugin.of(Kind.HAMi, old).equals(RunningPlugin.of(Kind.HAMi, pod));
  }

  /** Node → the plugins on it. */
  Map<String, List<RunningPlugin>> byNode() {
    var plugins = new HashMap<String, List<RunningPlugin>>();
    for (var kind : Kind.values()) {
      plugins(kind)
          .filter(pod -> pod.getSpec().getNodeName() != null)
          .forEach(
              pod ->
                  plugins
                      .computeIfAbsent(pod.getSpec().getNodeName(), name -> new ArrayList<>())
                      .add(RunningPlugin.of(kind, pod)));
    }
    return plugins;
  }

  List<Pod> on(String node, Kind kind) {
    return pods.get(kind).onNode(node).filter(RunningPlugin::isPlugin).toList();
  }

  /** The plugins on a node. */
  List<RunningPlugin> on(String node) {
    return Stream.of(Kind.values())
        .flatMap(kind -> on(node, kind).stream().map(pod -> RunningPlugin.of(kind, pod)))
        .toList();
  }

  private Stream<Pod> plugins(Kind kind) {
    return pods.get(kind).list().filter(RunningPlugin::isPlugin);
  }
}
