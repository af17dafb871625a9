package io.numaoperator.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.cli.text.RenderText;
import io.numaoperator.kubelet.KubeletVersion;
import io.numaoperator.view.Inventory;
import io.numaoperator.view.ObjectDiff;
import io.numaoperator.view.Renderer;
import io.numaoperator.view.Rendering;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "render",
    description = {
      "Every object that the operator would apply for a policy, and each node's kubelet settings, by"
          + " the operator's own plans; nothing is changed.",
      "With --inventory no cluster is asked. Exits with 1 when something is refused or unknown, or"
          + " differs from the cluster (--diff)."
    })
final class RenderCommand implements Callable<Integer> {
  private final Terminal terminal;
  private final Connector connector;

  @Mixin private ClusterOptions cluster;

  @Option(
      names = {"-f", "--filename"},
      required = true,
      paramLabel = "FILE",
      description = "NumaPolicies; - is standard input. They are taken for all that there are.")
  private Path policies;

  @Option(
      names = "--inventory",
      paramLabel = "FILE|DIR",
      description =
          "Nodes, NumaNodeStates and NodeResourceTopologies as kubectl get -o yaml has them, or an"
              + " unpacked gather; else the cluster is asked for them.")
  private Path inventory;

  @Option(
      names = "--diff",
      description = "Print what applying them would change in the cluster, instead of the objects.")
  private boolean diff;

  @Option(
      names = "--kubernetes-version",
      paramLabel = "VERSION",
      description =
          "The API server's, for example v1.36.3; else the cluster's, or with --inventory the newest"
              + " kubelet's.")
  private String version;

  @Option(
      names = "--operator-namespace",
      paramLabel = "NAME",
      description = "Where the operator runs; default ${DEFAULT-VALUE}.")
  private String namespace = Operator.NAMESPACE;

  @Option(
      names = "--operator-image",
      paramLabel = "IMAGE",
      description = "The image of operator and agents; default ${DEFAULT-VALUE}.")
  private String image = Operator.IMAGE;

  RenderCommand(Terminal terminal, Connector connector) {
    this.terminal = terminal;
    this.connector = connector;
  }

  @Override
  public Integer call() {
    var files = new Documents(System.in);
    var wanted = files.policies(policies);
    if (inventory != null && !diff) {
      return print(rendering(wanted, files.inventory(inventory), Optional.empty()));
    }
    try (var api = connector.connect(cluster)) {
      var reader = new ClusterReader(api);
      var seen = inventory == null ? reader.inventory() : files.inventory(inventory);
      var rendering = rendering(wanted, seen, Optional.of(reader));
      return diff ? diff(rendering, reader) : print(rendering);
    }
  }

  private Rendering rendering(
      List<NumaPolicy> wanted, Inventory seen, Optional<ClusterReader> reader) {
    var server =
        Optional.ofNullable(version)
            .or(() -> reader.map(ClusterReader::serverVersion))
            .or(() -> newestKubelet(seen))
            .orElseThrow(
                () -> CliException.usage("no Kubernetes version is known: --kubernetes-version"));
    try {
      return Renderer.of(new Renderer.Settings(namespace, image, server), wanted, seen);
    } catch (IllegalArgumentException e) {
      throw CliException.usage(e.getMessage());
    }
  }

  private static Optional<String> newestKubelet(Inventory seen) {
    return seen.kubeletVersions().stream()
        .flatMap(v -> KubeletVersion.parse(v).map(k -> new Known(v, k)).stream())
        .max(Comparator.comparing(Known::parsed))
        .map(Known::text);
  }

  private record Known(String text, KubeletVersion parsed) {}

  private int print(Rendering rendering) {
    terminal.print(RenderText.of(rendering, Serialization::asYaml));
    return rendering.isWhole() ? Exit.WELL : Exit.NOT_WELL;
  }

  private int diff(Rendering rendering, ClusterReader reader) {
    var diffs = new ArrayList<ObjectDiff>();
    var mapper = new ObjectMapper();
    for (var object : rendering.objects()) {
      var name = name(object);
      diffs.add(
          reader
              .live(object)
              .map(live -> ObjectDiff.of(name, mapper.valueToTree(object), live))
              .orElseGet(() -> ObjectDiff.missing(name)));
    }
    terminal.print(RenderText.diff(diffs, rendering, terminal.paint()));
    return rendering.isWhole() && diffs.stream().allMatch(ObjectDiff::isSame)
        ? Exit.WELL
        : Exit.NOT_WELL;
  }

  private static String name(HasMetadata object) {
    var namespace = object.getMetadata().getNamespace();
    return object.getKind()
        + " "
        + (namespace == null ? "" : namespace + "/")
        + object.getMetadata().getName();
  }
}
