package io.numaoperator.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code kubectl numa}. */
@Command(
    name = "kubectl numa",
    mixinStandardHelpOptions = true,
    versionProvider = KubectlNuma.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    description = "Looks at the NUMA alignment of a cluster that the NUMA Operator manages.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done, and what was asked about is well",
      "1:done, and it is not: a policy or node is not ready, a pod is pending, rejected or across"
          + " NUMA nodes, a plan is refused or differs from the cluster",
      "2:the command was not understood",
      "3:the cluster did not answer, refused, or does not have what was asked for",
      "4:a fault of this program; with NUMA_DEBUG=1 it says where"
    })
public final class KubectlNuma implements Callable<Integer> {
  @Spec private CommandSpec spec;

  private KubectlNuma() {}

  /** The whole command line. */
  public static void main(String... args) {
    Logger.getLogger("").setLevel(Level.OFF);
    System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
    System.setProperty("slf4j.internal.verbosity", "ERROR");
    var out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    var err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    var terminal = Terminal.of(out, err, Boolean.getBoolean(Terminal.PROPERTY), System.getenv());
    System.exit(run(terminal, args));
  }

  /** Not even an Error shows a stack trace to somebody who wants to know how their pod is. */
  private static int run(Terminal terminal, String... args) {
    try {
      return commandLine(terminal, new Kubeconfig()).execute(args);
    } catch (LinkageError | StackOverflowError | OutOfMemoryError failure) {
      return failed(terminal, failure);
    }
  }

  static CommandLine commandLine(Terminal terminal, Connector connector) {
    var ansi = terminal.paint().colour() ? Ansi.ON : Ansi.OFF;
    return new CommandLine(new KubectlNuma())
        .addSubcommand(new CommandLine.HelpCommand())
        .addSubcommand(new StatusCommand(terminal, connector))
        .addSubcommand(new MapCommand(terminal, connector))
        .addSubcommand(new ExplainCommand(terminal, connector))
        .addSubcommand(new RenderCommand(terminal, connector))
        .addSubcommand(new GatherCommand(terminal, connector))
        .addSubcommand(new ProbeCommand(terminal, connector))
        .setOut(terminal.out())
        .setErr(terminal.err())
        .setColorScheme(CommandLine.Help.defaultColorScheme(ansi))
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setUsageHelpAutoWidth(false)
        .setParameterExceptionHandler(KubectlNuma::notUnderstood)
        .setExecutionExceptionHandler((failure, command, parsed) -> failed(terminal, failure));
  }

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return Exit.USAGE;
  }

  private static int notUnderstood(ParameterException fault, String... args) {
    var command = fault.getCommandLine();
    command
        .getErr()
        .printf(
            "kubectl numa: %s%nsee: %s --help%n",
            fault.getMessage(), command.getCommandSpec().qualifiedName());
    return Exit.USAGE;
  }

  private static int failed(Terminal terminal, Throwable failure) {
    if (failure instanceof CliException told) {
      terminal.err().println("kubectl numa: " + told.getMessage());
      return told.exit();
    }
    terminal.err().println("kubectl numa: a fault of this program, please report it: " + failure);
    if ("1".equals(System.getenv("NUMA_DEBUG"))) {
      failure.printStackTrace(terminal.err());
    }
    return Exit.FAULT;
  }

  /** As the jar's manifest has it. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      var version = KubectlNuma.class.getPackage().getImplementationVersion();
      return new String[] {"kubectl numa " + (version == null ? "(not built)" : version)};
    }
  }
}
