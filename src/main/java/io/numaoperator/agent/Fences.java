package io.numaoperator.agent;

import java.io.IOException;
import java.util.Optional;

/** What must hold for the kubelet to be stopped; looked at until it is. */
final class Fences {
  private final NodeAccess node;

  Fences(NodeAccess node) {
    this.node = node;
  }

  /**
   * The first that does not hold, as a sentence.
   *
   * @throws IOException when the API server or the kubelet cannot be asked: no answer is not a yes
   */
  Optional<String> violation(Journal.Granted granted) throws IOException {
    if (!node.host().bootId().equals(granted.bootId())) {
      return Optional.of("the node was rebooted since the grant was given");
    }
    if (granted.needsDirectory() && !node.host().isDirectory(granted.dropInDirectory())) {
      return Optional.of(
          "the kubelet's drop-in directory " + granted.dropInDirectory() + " does not exist");
    }
    var view = node.api().node();
    if (!view.unschedulable()) {
      return Optional.of("the node is not cordoned");
    }
    if (!view.cordonedFor().equals(Optional.of(granted.cordon()))) {
      return Optional.of(
          "the node is cordoned for "
              + view.cordonedFor().orElse("something else")
              + ", not for "
              + granted.cordon());
    }
    for (var container : node.podResources().list()) {
      if (container.holdsExclusive()) {
        return Optional.of(
            "container %s of pod %s/%s holds %s"
                .formatted(
                    container.name(), container.namespace(), container.pod(), what(container)));
      }
    }
    return Optional.empty();
  }

  private static String what(PodResources.Container container) {
    if (!container.devices().isEmpty()) {
      return "devices";
    }
    return container.cpus().isEmpty() ? "pinned memory" : "exclusive CPUs";
  }
}
