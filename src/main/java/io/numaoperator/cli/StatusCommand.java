package io.numaoperator.cli;

import io.numaoperator.cli.text.StatusText;
import io.numaoperator.view.ClusterStatus;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "status",
    description = {
      "Policies and nodes: are they ready, why not, what comes next.",
      "Exits with 0 when all of them are ready, with 1 when one is not."
    })
final class StatusCommand implements Callable<Integer> {
  private static final Duration INTERVAL = Duration.ofSeconds(2);
  private static final String HOME_AND_CLEAR = "\u001b[H\u001b[2J";

  private final Terminal terminal;
  private final Connector connector;

  @Mixin private ClusterOptions cluster;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = "One of: ${COMPLETION-CANDIDATES}. wide cuts nothing.")
  private Format format = Format.table;

  @Option(
      names = {"-w", "--watch"},
      description = "Print again whenever something changes, until interrupted.")
  private boolean watch;

  /** The names are what is typed. */
  enum Format {
    table,
    wide,
    json,
    yaml
  }

  StatusCommand(Terminal terminal, Connector connector) {
    this.terminal = terminal;
    this.connector = connector;
  }

  @Override
  public Integer call() throws InterruptedException {
    try (var api = connector.connect(cluster)) {
      var reader = new ClusterReader(api);
      var status = reader.status();
      terminal.print(text(status));
      if (watch) {
        watch(reader, status);
      }
      return status.isReady() && !status.policies().isEmpty() ? Exit.WELL : Exit.NOT_WELL;
    }
  }

  /** Ends by an interrupt only; an API server that is away for a while is told and waited for. */
  private void watch(ClusterReader reader, ClusterStatus first) throws InterruptedException {
    var shown = text(first);
    while (!Thread.interrupted()) {
      Thread.sleep(INTERVAL);
      var now = look(reader).orElse(shown);
      if (!now.equals(shown)) {
        terminal.print((terminal.interactive() ? HOME_AND_CLEAR : "\n") + now);
        shown = now;
      }
    }
  }

  private Optional<String> look(ClusterReader reader) {
    try {
      return Optional.of(text(reader.status()));
    } catch (CliException away) {
      terminal.err().println("kubectl numa: " + away.getMessage());
      return Optional.empty();
    }
  }

  private String text(ClusterStatus status) {
    return switch (format) {
      case table -> StatusText.of(status, false, terminal.paint(), terminal.width());
      case wide -> StatusText.of(status, true, terminal.paint(), terminal.width());
      case json -> StatusData.json(status);
      case yaml -> StatusData.yaml(status);
    };
  }
}
