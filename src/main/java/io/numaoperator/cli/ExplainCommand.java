package io.numaoperator.cli;

import io.numaoperator.cli.text.ExplainText;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "explain",
    description = {
      "Why a pod is pending, was rejected, or runs across NUMA nodes; and which nodes could take it"
          + " now, zone by zone.",
      "Exits with 0 when the pod runs and is not across NUMA nodes, or succeeded; else with 1."
    })
final class ExplainCommand implements Callable<Integer> {
  private final Terminal terminal;
  private final Connector connector;

  @Spec private CommandSpec spec;
  @Mixin private ClusterOptions cluster;

  @Parameters(paramLabel = "pod/NAME", description = "The pod, also without pod/.")
  private String pod;

  @Option(names = "--all", description = "List every node, not only the first ten.")
  private boolean all;

  ExplainCommand(Terminal terminal, Connector connector) {
    this.terminal = terminal;
    this.connector = connector;
  }

  @Override
  public Integer call() {
    var name = pod.replaceFirst("^(pod|pods|po)/", "");
    if (name.isEmpty() || name.contains("/")) {
      throw new ParameterException(
          spec.commandLine(),
          "\"%s\" is no pod: give pod/NAME, and its namespace by -n".formatted(pod));
    }
    try (var api = connector.connect(cluster)) {
      var namespace = cluster.namespace().orElseGet(api::namespace);
      var explanation = new ClusterReader(api).explain(namespace, name);
      terminal.print(ExplainText.of(explanation, all, terminal.paint()));
      return explanation.well() ? Exit.WELL : Exit.NOT_WELL;
    }
  }
}
