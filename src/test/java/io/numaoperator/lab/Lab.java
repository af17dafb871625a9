package io.numaoperator.lab;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A running lab, by its command line. Closing it ends all of its processes. */
final class Lab implements AutoCloseable {
  static final String IMAGE = "ghcr.io/numaoperator/numa-operator";
  private static final Path DIST = Path.of("target/dist").toAbsolutePath();

  /** How long a test waits for what takes seconds: two cores are busy, and this is no promise. */
  static final Duration PATIENCE = Duration.ofMinutes(3);

  /** For what takes minutes. */
  static final Duration LONG = Duration.ofMinutes(8);

  static {
    Awaitility.setDefaultTimeout(PATIENCE);
  }

  private final Path directory;
  private final Path numalab;
  private final KubernetesClient client;

  private Lab(Path directory, Path numalab) throws IOException {
    this.directory = directory;
    this.numalab = numalab;
    this.client =
        new KubernetesClientBuilder()
            .withHttpClientFactory(new JdkHttpClientFactory())
            .withConfig(
                Config.fromKubeconfig(
                    null, Files.readString(directory.resolve("kubeconfig")), null))
            .build();
  }

  /**
   * Starts one.
   *
   * @param flags of {@code numalab up}
   */
  static Lab up(String... flags) {
    return up(DIST, flags);
  }

  /**
   * Starts one.
   *
   * @param image what operator and agents are started from, laid out as target/dist
   * @param flags of {@code numalab up}
   */
  static Lab up(Path image, String... flags) {
    var bin = System.getProperty("lab.bin", "");
    if (bin.isEmpty()) {
      throw new IllegalStateException(
          "lab tests need -Dlab.bin, the output of src/lab/build.sh: run them by 'make test'");
    }
    if (!Files.exists(DIST.resolve("bin/numa-operator"))) {
      throw new IllegalStateException("lab tests need target/dist: run them by 'make test'");
    }
    try {
      var numalab = Path.of(bin, "numalab");
      var directory = Files.createTempDirectory("numa-lab");
      var command = new ArrayList<>(List.of("up", "--audit", "--image", IMAGE + "=" + image));
      command.addAll(Arrays.asList(flags));
      run(directory, numalab, command);
      return new Lab(directory, numalab);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Does it for each, side by side; the first that fails is told. */
  static <T> void atOnce(Collection<T> all, Consumer<T> work) {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var begun = all.stream().map(one -> threads.submit(() -> work.accept(one))).toList();
      for (var one : begun) {
        one.get();
      }
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause().getMessage(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  static void sleep(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  KubernetesClient client() {
    return client;
  }

  /** The operator as a person installs it; returns when it is ready. */
  void install() {
    kubectl("apply", "-k", "config/default");
    kubectl(
        "-n",
        "numa-operator-system",
        "rollout",
        "status",
        "deployment/numa-operator",
        "--timeout=300s");
  }

  String kubectl(String... arguments) {
    return numalab(Stream.concat(Stream.of("kubectl"), Arrays.stream(arguments)));
  }

  /** Runs a command on a node, in its namespaces and root. */
  String exec(String node, String... command) {
    return numalab(Stream.concat(Stream.of("exec", node, "--"), Arrays.stream(command)));
  }

  String numalab(String... arguments) {
    return numalab(Arrays.stream(arguments));
  }

  private String numalab(Stream<String> arguments) {
    return run(directory, numalab, arguments.toList());
  }

  /** Starts a command of numalab's that goes on. */
  Process start(Path output, String... arguments) throws IOException {
    var command = new ArrayList<>(List.of(numalab.toString()));
    command.addAll(Arrays.asList(arguments));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("NUMALAB_DIR", directory.toString());
    return builder.redirectOutput(output.toFile()).start();
  }

  /** A file of the lab's directory. */
  Path file(String name) {
    return directory.resolve(name);
  }

  /** Where a kubelet's files are, seen from the host. */
  Path kubeletFile(String node, String name) {
    return directory.resolve("nodes").resolve(node).resolve("var-lib-kubelet").resolve(name);
  }

  /** The audit log so far, one event a line; a line that is being written is left out. */
  List<JsonNode> audit() {
    var mapper = new JsonMapper();
    try (var lines = Files.lines(file("audit.log"))) {
      return lines
          .filter(line -> line.endsWith("}"))
          .map(
              line -> {
                try {
                  return mapper.readTree(line);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              })
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    client.close();
    run(directory, numalab, List.of("down", "--purge"));
  }

  private static String run(Path directory, Path numalab, List<String> arguments) {
    var command = new ArrayList<String>();
    command.add(numalab.toString());
    command.addAll(arguments);
    try {
      var output = Files.createTempFile("numalab", ".out");
      var builder = new ProcessBuilder(command);
      builder.environment().put("NUMALAB_DIR", directory.toString());
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
      builder.redirectErrorStream(true).redirectOutput(output.toFile());
      var process = builder.start();
      if (!process.waitFor(5, TimeUnit.MINUTES)) {
        process.destroyForcibly();
        throw new IllegalStateException(String.join(" ", command) + ": no end after 5 minutes");
      }
      var text = Files.readString(output, StandardCharsets.UTF_8);
      Files.delete(output);
      if (process.exitValue() != 0) {
        throw new IllegalStateException(
            "%s: exit %d: %s"
                .formatted(String.join(" ", arguments), process.exitValue(), text.strip()));
      }
      return text;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
