package io.numaoperator.lab;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.SchedulerPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Nodes whose agents can be held at a step (io.numaoperator.agent.HeldAgent), and whose kubelets
 * can be made to refuse their next configuration, whatever it is.
 *
 * <p>The latter by a wrapper around the kubelet, which stands for a configuration manager that adds
 * a flag of its own wherever it sees files that it does not know. It also notes each start.
 */
final class HeldNodes {
  static final String POLICY = "held";
  private static final Path DIST = Path.of("target/dist").toAbsolutePath();
  private static final String HOOK = "/var/lib/kubelet/hook";

  /** What a kubelet is configured with, in eight digits. */
  private static final String CONFIGURATION =
      "cat /var/lib/kubelet/config.yaml /etc/kubernetes/kubelet.conf.d/%s 2>/dev/null"
              .formatted(Names.DROP_IN_FILE)
          + " | sha256sum | cut -c1-8";

  private static final String WRAPPER =
      """
      #!/bin/sh
      now=$(CONFIGURATION)
      echo "$now" >> HOOK/starts
      if [ -e HOOK/refuse ] && [ "$now" != "$(cat HOOK/refuse)" ]; then
        set -- "$@" --reserved-cpus=none
      fi
      exec /usr/local/sbin/kubelet "$@"
      """
          .replace("CONFIGURATION", CONFIGURATION)
          .replace("HOOK", HOOK);

  /** The kubelet's own words about the wrapper's flag. */
  static final String REFUSAL = "unable to parse reservedSystemCPUs (--reserved-cpus) none";

  private final Lab lab;

  private HeldNodes(Lab lab) {
    this.lab = lab;
  }

  /** Starts a lab of them. */
  static HeldNodes up(String... flags) {
    try {
      return new HeldNodes(Lab.up(image(), flags));
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The product's image, with HeldAgent where its agent is started. */
  private static Path image() throws IOException, InterruptedException {
    var image = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "held");
    Files.setPosixFilePermissions(image, PosixFilePermissions.fromString("rwxr-xr-x"));
    new ProcessBuilder("cp", "-rl", DIST + "/.", image.toString()).inheritIO().start().waitFor();
    var agent = "io/numaoperator/agent";
    var classes = Files.createDirectories(image.resolve("quarkus-app/held/" + agent));
    for (var name : List.of("HeldAgent.class", "HeldAgent$Disk.class")) {
      Files.copy(Path.of("target/test-classes", agent, name), classes.resolve(name));
    }
    replace(image.resolve("agent.classpath"), "\\z", "held\n");
    replace(image.resolve("bin/numa-operator"), "\\.AgentMain", ".HeldAgent");
    return image;
  }

  /** In a new file: the old one is a link into the product's image. */
  private static void replace(Path file, String pattern, String by) throws IOException {
    var permissions = Files.getPosixFilePermissions(file);
    var text = Files.readString(file);
    Files.delete(file);
    Files.writeString(file, text.replaceFirst(pattern, by));
    Files.setPosixFilePermissions(file, permissions);
  }

  /**
   * From its next start on the kubelet says that it is of Kubernetes 1.31. It is the lab's own with
   * another version in it, and stands for an old one in that alone: what the operator and the agent
   * do differently there they decide by what the Node says.
   */
  void growOld(String node) {
    lab.exec(
        node,
        "sh",
        "-c",
        "LC_ALL=C sed 's/v1\\.36\\.[0-9]/v1.31.9/g' /usr/local/lib/numalab/numalab > /tmp/kubelet;"
            + " chmod 755 /tmp/kubelet; mv /tmp/kubelet /usr/local/sbin/kubelet;"
            // what 1.31 serves without being asked stands behind this gate by now
            + " printf 'featureGates: {KubeletPodResourcesGet: true}\\n'"
            + " >> /var/lib/kubelet/config.yaml");
  }

  Lab lab() {
    return lab;
  }

  /** Makes nodes these, selected by {@link #policy}, and installs the operator. */
  void install(List<String> nodes) {
    Lab.atOnce(
        nodes,
        node -> {
          wrap(node);
          lab.kubectl("label", "node", node, "pool=" + POLICY);
        });
    lab.install();
  }

  /** Over all of them at once. */
  static NumaPolicy policy() {
    var policy = Lab.sample();
    policy.getMetadata().setName(POLICY);
    var spec = policy.getSpec();
    spec.nodeSelector.matchLabels = Map.of("pool", POLICY);
    spec.scheduler.provider = SchedulerPolicy.Provider.None;
    spec.rollout.maxUnavailable = new IntOrString("100%");
    spec.rollout.pauseOnFailure = false;
    spec.rollout.verification.proofPod = false; // ProofLabTest interrupts proofs
    return policy;
  }

  /** Puts the wrapper there; the kubelet that runs goes on. */
  private void wrap(String node) {
    write(node, "kubelet", WRAPPER);
    lab.exec(
        node,
        "sh",
        "-c",
        "cp -P /usr/bin/kubelet /usr/local/sbin/kubelet; rm /usr/bin/kubelet;"
            + " cp HOOK/kubelet /usr/bin/kubelet; chmod 755 /usr/bin/kubelet"
                .replace("HOOK", HOOK));
  }

  // ---- steps

  /** The node's agent is to stay at these points; what was seen of it before is forgotten. */
  void watch(String node, String... points) {
    write(node, "history", "");
    write(node, "held", "");
    write(node, "starts", "");
    hold(node, points);
  }

  /** At these points and no others, from now on. */
  void hold(String node, String... points) {
    write(node, "hold", String.join("\n", points));
  }

  /** The last point that the agent was held at. */
  String held(String node) {
    return read(node, "held");
  }

  /** The points that the journal came to, behind their attempts, in their order. */
  List<String> history(String node) {
    return read(node, "history").lines().toList();
  }

  /** Ends the agent's process at once. */
  void killAgent(String node) {
    kill(node, "KILL", "[H]eldAgent");
  }

  /** Sends a signal to the processes whose command lines match. */
  void kill(String node, String signal, String pattern) {
    lab.exec(node, "pkill", "-" + signal, "-f", pattern);
  }

  // ---- kubelets

  /** The kubelet is to start with the files of now only. */
  void refuseChanges(String node) {
    write(node, "refuse", configuration(node));
  }

  /** The kubelet is to start with any files again. */
  void takeChanges(String node) {
    try {
      Files.deleteIfExists(file(node, "refuse"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the files of a kubelet say, as the starts note it. */
  String configuration(String node) {
    return lab.exec(node, "sh", "-c", CONFIGURATION).strip();
  }

  /** With which files the kubelet was started, start by start. */
  List<String> starts(String node) {
    return read(node, "starts").lines().toList();
  }

  // ---- files

  private Path file(String node, String name) {
    return lab.kubeletFile(node, "hook").resolve(name);
  }

  private String read(String node, String name) {
    try {
      return Files.exists(file(node, name)) ? Files.readString(file(node, name)) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whole or not at all: the agent reads it at any moment. */
  private void write(String node, String name, String content) {
    try {
      var file = file(node, name);
      Files.createDirectories(file.getParent());
      var temporary = Files.writeString(file.resolveSibling("." + name), content);
      Files.move(
          temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether these are some of the points, in this order and none of them twice. */
  static boolean inOrder(List<String> found, String... points) {
    int last = -1;
    for (var point : found) {
      int at = Arrays.asList(points).indexOf(point);
      if (at <= last) {
        return false;
      }
      last = at;
    }
    return true;
  }
}
