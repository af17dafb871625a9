package io.numaoperator.cli;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "gather",
    description = {
      "Writes one tar.gz to send to who helps: policies, node states, NodeResourceTopologies, Nodes,"
          + " Events, and the operator's pods with their logs.",
      "Secrets are not read. Look into it before you send it: names of nodes, pods and images are in"
          + " it. Exits with 1 when something could not be had; missing.txt says what."
    })
final class GatherCommand implements Callable<Integer> {
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

  private final Terminal terminal;
  private final Connector connector;

  @Mixin private ClusterOptions cluster;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "The file to make; else numa-gather-TIME.tar.gz here.")
  private Path output;

  @Option(
      names = "--operator-namespace",
      paramLabel = "NAME",
      description = "Where the operator runs; default ${DEFAULT-VALUE}.")
  private String namespace = Operator.NAMESPACE;

  GatherCommand(Terminal terminal, Connector connector) {
    this.terminal = terminal;
    this.connector = connector;
  }

  @Override
  public Integer call() {
    var now = Instant.now();
    var root = "numa-gather-" + STAMP.format(now);
    var file = output == null ? Path.of(root + ".tar.gz") : output;
    try (var api = connector.connect(cluster)) {
      new ClusterReader(api).policies(); // no empty file where there is no cluster
      var missing = write(api, now, root, file);
      terminal.print(file + "\n");
      missing.forEach(line -> terminal.err().println("kubectl numa: missing: " + line));
      return missing.isEmpty() ? Exit.WELL : Exit.NOT_WELL;
    } catch (FileAlreadyExistsException e) {
      throw CliException.usage(file + " is there already");
    } catch (IOException e) {
      throw new CliException("cannot write %s: %s".formatted(file, Api.reason(e)), e);
    }
  }

  private List<String> write(Api api, Instant now, String root, Path file) throws IOException {
    try (var tar =
        new Tar(Files.newOutputStream(file, StandardOpenOption.CREATE_NEW), now.getEpochSecond())) {
      return new Gathering(api, namespace, tar, root).run();
    }
  }
}
