package io.numaoperator.cli;

import io.numaoperator.cli.text.ClusterMapText;
import io.numaoperator.cli.text.NodeMapText;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
    name = "map",
    description = {
      "One node drawn: its NUMA nodes with CPUs, GPUs and memory, and who holds them;",
      "or all nodes, a line for each NUMA node."
    })
final class MapCommand implements Callable<Integer> {
  private final Terminal terminal;
  private final Connector connector;

  @Mixin private ClusterOptions cluster;

  @Parameters(arity = "0..1", paramLabel = "NODE", description = "A node; else all of them.")
  private String node;

  MapCommand(Terminal terminal, Connector connector) {
    this.terminal = terminal;
    this.connector = connector;
  }

  @Override
  public Integer call() {
    try (var api = connector.connect(cluster)) {
      var reader = new ClusterReader(api);
      terminal.print(
          node == null
              ? ClusterMapText.of(reader.maps(), terminal.paint(), terminal.width())
              : NodeMapText.of(
                  reader.map(node.replaceFirst("^(node|nodes|no)/", "")),
                  terminal.paint(),
                  terminal.width()));
      return Exit.WELL;
    }
  }
}
