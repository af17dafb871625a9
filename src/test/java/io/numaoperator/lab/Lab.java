package io.numaoperator.lab;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.rbac.AuditSummary;
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
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A running lab, by its command line. Closing it ends all of its processes. */
public final class Lab implements AutoCloseable {
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
  private final String test = testClass();

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
  public static Lab up(String... flags) {
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

  /** The test that wants the lab, or the resource of a Quarkus test. */
  private static String testClass() {
    return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
        .walk(
            frames ->
                frames
                    .map(frame -> frame.getDeclaringClass().getSimpleName())
                    .filter(name -> name.endsWith("Test") || name.equals("ControlPlane"))
                    .findFirst())
        .orElse("Lab");
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

  public KubernetesClient client() {
    return client;
  }

  /** The operator as a person installs it; returns when it is ready. */
  public void install() {
    kubectl("apply", "-k", "config/default");
    kubectl(
        "-n",
        "numa-operator-system",
        "rollout",
        "status",
        "deployment/numa-operator",
        "--timeout=300s");
  }

  // ---- the operator's objects

  /** The sample policy, with a window that a test can wait for. */
  public static NumaPolicy sample() {
    try {
      var policy =
          Serialization.unmarshal(
              Files.readString(Path.of("config/samples/gpu-nodes.yaml")), NumaPolicy.class);
      policy.getSpec().rollout.verification.window = "5s";
      return policy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Changes a policy; tried again when the operator wrote the status meanwhile. */
  void edit(String policy, Consumer<NumaPolicy> change) {
    await()
        .ignoreExceptionsMatching(e -> e.getMessage().contains("has been modified"))
        .until(
            () ->
                client
                        .resources(NumaPolicy.class)
                        .withName(policy)
                        .edit(
                            found -> {
                              change.accept(found);
                              return found;
                            })
                    != null);
  }

  Optional<NumaNodeState> state(String node) {
    return Optional.ofNullable(client.resources(NumaNodeState.class).withName(node).get());
  }

  Optional<Condition> condition(String node, String type) {
    return state(node).flatMap(s -> find(s.getStatus().conditions, type));
  }

  /** Of the policy's spec as it is now. */
  public Optional<Condition> policyCondition(String policy, String type) {
    return Optional.ofNullable(client.resources(NumaPolicy.class).withName(policy).get())
        .filter(p -> p.getStatus() != null)
        .filter(p -> p.getMetadata().getGeneration().equals(p.getStatus().observedGeneration))
        .flatMap(p -> find(p.getStatus().conditions, type));
  }

  private static Optional<Condition> find(List<Condition> conditions, String type) {
    return conditions.stream().filter(c -> c.type.equals(type)).findFirst();
  }

  void awaitNode(String node, String type, Predicate<Condition> as) {
    await(node + " " + type)
        .atMost(LONG)
        .pollInterval(Duration.ofMillis(500))
        .ignoreExceptions()
        .until(() -> condition(node, type), c -> c.isPresent() && as.test(c.get()));
  }

  void awaitPolicy(String policy, String type, Predicate<Condition> as) {
    await(policy + " " + type)
        .atMost(LONG)
        .pollInterval(Duration.ofMillis(500))
        .ignoreExceptions()
        .until(() -> policyCondition(policy, type), c -> c.isPresent() && as.test(c.get()));
  }

  /** The Events about an object in namespace default, and those about one in none. */
  static List<Event> events(KubernetesClient client, String about) {
    return client
        .v1()
        .events()
        .inNamespace("default")
        .withField("involvedObject.name", about)
        .list()
        .getItems();
  }

  public static boolean isTrue(Condition c) {
    return c.status == Condition.Status.True;
  }

  boolean isCordoned(String node) {
    return Boolean.TRUE.equals(client.nodes().withName(node).get().getSpec().getUnschedulable());
  }

  // ---- commands

  public String kubectl(String... arguments) {
    return numalab(Stream.concat(Stream.of("kubectl"), Arrays.stream(arguments)));
  }

  /** Runs a command on a node, in its namespaces and root. */
  public String exec(String node, String... command) {
    return numalab(Stream.concat(Stream.of("exec", node, "--"), Arrays.stream(command)));
  }

  public String numalab(String... arguments) {
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
  public Path file(String name) {
    return directory.resolve(name);
  }

  /** Where a kubelet's files are, seen from the host. */
  public Path kubeletFile(String node, String name) {
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

  /** What was asked for under our ServiceAccounts is kept for RolesAreUsedTest. */
  @Override
  public void close() {
    client.close();
    AuditSummary.keep(test, directory.getFileName().toString(), file("audit.log"));
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
