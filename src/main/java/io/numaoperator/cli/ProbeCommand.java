package io.numaoperator.cli;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.numaoperator.cli.text.ProbeText;
import io.numaoperator.topology.bandwidth.BandwidthReport;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "probe",
    description = {
      "Measures on a node how fast the CPUs of each NUMA node read the memory of each, and so what a"
          + " misplaced pod loses there.",
      "The only command that makes something: a Job in your namespace, which it removes again. For"
          + " some seconds it takes what memory bandwidth others leave it, or compete for: not for a"
          + " node that is at work.",
      "Exits with 1 when a pair could not be measured."
    })
final class ProbeCommand implements Callable<Integer> {
  private static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final int LEAST_MIB = 64;
  private static final int MOST_MIB = 1 << 20;

  private final Terminal terminal;
  private final Connector connector;

  @Spec private CommandSpec spec;
  @Mixin private ClusterOptions cluster;

  @Parameters(paramLabel = "NODE", description = "The node.")
  private String node;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = "One of: ${COMPLETION-CANDIDATES}.")
  private Format format = Format.table;

  @Option(
      names = "--memory",
      paramLabel = "QUANTITY",
      description = "How much is read; four times the caches or more. Default ${DEFAULT-VALUE}.")
  private String memory = "1Gi";

  @Option(
      names = "--repeats",
      paramLabel = "N",
      description = "How often each pair is measured. Default ${DEFAULT-VALUE}.")
  private int repeats = 5;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description =
          "At most so many cores of each NUMA node read at once. Default ${DEFAULT-VALUE}.")
  private int threads = 16;

  @Option(
      names = "--image",
      paramLabel = "IMAGE",
      description = "Default: the one that the operator runs.")
  private String image;

  @Option(
      names = "--operator-namespace",
      paramLabel = "NAME",
      description = "Where the operator runs; default ${DEFAULT-VALUE}.")
  private String operatorNamespace = Operator.NAMESPACE;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "How long it waits for the result. Default ${DEFAULT-VALUE}.")
  private int timeout = 180;

  /** The names are what is typed. */
  enum Format {
    table,
    json
  }

  ProbeCommand(Terminal terminal, Connector connector) {
    this.terminal = terminal;
    this.connector = connector;
  }

  @Override
  public Integer call() throws InterruptedException {
    int mib = mib();
    if (repeats < 1 || repeats > 1000 || threads < 1 || threads > mib || timeout < 1) {
      throw wrong("--repeats, --threads and --timeout are numbers from 1");
    }
    var name = node.replaceFirst("^(node|nodes|no)/", "");
    try (var api = connector.connect(cluster)) {
      if (api.get("api/v1/nodes/" + Api.encoded(name), Node.class).isEmpty()) {
        throw new CliException("there is no node \"%s\"".formatted(name));
      }
      var job = new ProbeJob(name, image(api), mib, repeats, threads, timeout).make();
      var run =
          new ProbeRun(
              api,
              cluster.namespace().orElseGet(api::namespace),
              INTERVAL,
              line -> terminal.err().println("kubectl numa: " + line));
      var report = BandwidthReport.of(run.of(job, Duration.ofSeconds(timeout)));
      terminal.print(
          switch (format) {
            case table -> ProbeText.of(name, report, terminal.paint());
            case json -> ProbeData.json(name, report);
          });
      return report.isWhole() ? Exit.WELL : Exit.NOT_WELL;
    }
  }

  private int mib() {
    try {
      long mib = Quantity.getAmountInBytes(Quantity.parse(memory)).longValueExact() >> 20;
      if (mib >= LEAST_MIB && mib <= MOST_MIB) {
        return (int) mib;
      }
    } catch (IllegalArgumentException | ArithmeticException notAQuantity) {
      // told below
    }
    throw wrong("--memory is a quantity from 64Mi to 1Ti, for example 1Gi");
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /** The operator's own, which the nodes have or can get. */
  private String image(Api api) {
    return image != null
        ? image
        : api.get(
                "apis/apps/v1/namespaces/%s/deployments/numa-operator"
                    .formatted(Api.encoded(operatorNamespace)),
                Deployment.class)
            .flatMap(d -> d.getSpec().getTemplate().getSpec().getContainers().stream().findFirst())
            .map(Container::getImage)
            .orElse(Operator.IMAGE);
  }
}
