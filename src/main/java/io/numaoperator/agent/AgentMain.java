package io.numaoperator.agent;

import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The agent's process. Without arguments it runs until it is ended, which may happen at any moment:
 * the next one goes on from the journal. {@code podresources} prints what the kubelet has handed
 * out.
 *
 * <p>Environment: NODE_NAME; HOST_ROOT, where the node's files are mounted (default /host; / on the
 * node itself).
 */
public final class AgentMain {
  /** What the readiness probe of the DaemonSet reads (plan.agent.AgentDaemonSet). */
  private static final String HEARTBEAT = "/tmp/numa-agent-alive";

  private AgentMain() {}

  public static void main(String... args) throws InterruptedException {
    start(host -> host, args);
  }

  /**
   * @param files what attempts are carried out on, from the node's files; a test holds them there
   */
  static void start(UnaryOperator<KubeletHost> files, String... args) throws InterruptedException {
    saveMemory();
    var root = Path.of(Optional.ofNullable(System.getenv("HOST_ROOT")).orElse("/host"));
    try {
      if (args.length == 0) {
        run(root, files);
      } else if (args.length == 1 && args[0].equals("podresources")) {
        podResources(root);
      } else {
        System.err.println("usage: agent [podresources]");
        System.exit(2);
      }
    } catch (IOException | IllegalArgumentException e) {
      System.err.println("agent: " + Errors.text(e));
      System.exit(1);
    }
  }

  /**
   * Libraries' settings that are read when their classes are loaded: no logging framework, and no
   * arenas of off-heap memory for an exchange of some kilobytes every few seconds. What the command
   * line sets stays.
   */
  private static void saveMemory() {
    var settings =
        Map.of(
            "slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider",
            "slf4j.internal.verbosity", "WARN",
            "io.netty.noUnsafe", "true",
            "io.netty.allocator.type", "unpooled",
            "io.netty.noPreferDirect", "true",
            "jdk.virtualThreadScheduler.parallelism", "1");
    // Netty's and gRPC's; they warn of a socket option at every connection to the kubelet
    Logger.getLogger("").setLevel(Level.SEVERE);
    settings.forEach(
        (name, value) -> {
          if (System.getProperty(name) == null) {
            System.setProperty(name, value);
          }
        });
  }

  private static void run(Path root, UnaryOperator<KubeletHost> files)
      throws IOException, InterruptedException {
    var nodeName = System.getenv("NODE_NAME");
    if (nodeName == null || nodeName.isEmpty()) {
      throw new IllegalArgumentException("NODE_NAME is not set");
    }
    var log = new Log(System.out);
    var proc = Path.of("/proc");
    var host = new LocalHost(root, proc);
    Files.createDirectories(host.local(JournalStore.BACKUPS));
    try (var lock = lock(host)) {
      var seen = new LastSeen();
      var sys = host.local("/sys");
      var systemd = new Systemd(host.local("/run/dbus/system_bus_socket"));
      var services = new NestedKubelet(systemd, new Processes(proc));
      var pinned = new PinnedCertificate(host, seen::servingCertificates);
      var node =
          new NodeAccess(
              files.apply(host),
              services,
              new PodResourcesClient(() -> host.local(seen.podResourcesSocket())),
              new ConfigReader(
                  new ConfigzClient(seen, pinned, token()), host, seen, new Processes(proc)),
              new KubernetesApi(Config.autoConfigure(null), nodeName),
              Time.system());
      var locator = new KubeletLocator(services, host, proc);
      var observer = new Observer(node, locator, new Sysfs(sys, proc), new PciBus(sys), seen);
      log.info("agent of node " + nodeName);
      var heartbeat = new Heartbeat(Path.of(HEARTBEAT), proc.resolve("uptime"));
      new Agent(
              nodeName,
              node,
              () -> host.local(seen.rootDirectory()),
              observer,
              seen,
              heartbeat,
              log)
          .run();
    }
  }

  /** While one agent's pod replaces another there may be two: only one may touch the kubelet. */
  private static FileChannel lock(LocalHost host) throws IOException {
    var file = host.local(JournalStore.DIRECTORY + "/lock");
    var channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    channel.lock(); // waits for the other to end; held until this process ends
    return channel;
  }

  private static Supplier<String> token() {
    var file =
        Path.of(
            Optional.ofNullable(System.getenv("TOKEN_FILE"))
                .orElse("/var/run/secrets/kubernetes.io/serviceaccount/token"));
    return () -> {
      try {
        return Files.readString(file).strip();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    };
  }

  private static void podResources(Path root) throws IOException {
    var host = new LocalHost(root, Path.of("/proc"));
    var socket = host.local(new LastSeen().podResourcesSocket());
    var sysfs = new Sysfs(host.local("/sys"), Path.of("/proc"));
    try (var client = new PodResourcesClient(() -> socket)) {
      System.out.print(PodResourcesTable.of(client.list(), sysfs.zones(), sysfs.memoryTotal()));
    }
  }
}
