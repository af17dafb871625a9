package io.numaoperator.plan.agent;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Names;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.ContentHash;
import io.numaoperator.plan.NodePlacement;
import io.numaoperator.plan.Ownership;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The agent's pod. What it may touch of its node is exactly {@link #directories}. */
final class AgentDaemonSet {
  private static final String HOST_ROOT = "/host";
  private static final String TMP = "tmp";

  /**
   * A directory of the node, seen by the agent below /host.
   *
   * @param propagation mountPropagation; empty for none
   */
  private record HostDirectory(
      String name, String path, String type, boolean readOnly, String propagation) {
    Volume volume() {
      return new VolumeBuilder()
          .withName(name)
          .withNewHostPath()
          .withPath(path)
          .withType(type)
          .endHostPath()
          .build();
    }

    VolumeMount mount() {
      var mount = new VolumeMountBuilder().withName(name).withMountPath(HOST_ROOT + path);
      if (readOnly) {
        mount.withReadOnly(true);
      }
      if (!propagation.isEmpty()) {
        mount.withMountPropagation(propagation);
      }
      return mount.build();
    }
  }

  private static final List<HostDirectory> HOST =
      List.of(
          // configuration, state files, pod-resources/kubelet.sock. HostToContainer: pods' volumes
          // that the host unmounts must not stay mounted in here, or their devices stay busy
          new HostDirectory("kubelet", "/var/lib/kubelet", "Directory", false, "HostToContainer"),
          // drop-in directory
          new HostDirectory("kubernetes", "/etc/kubernetes", "DirectoryOrCreate", false, ""),
          // the guard's timer and its drop-in of the kubelet's unit. OrCreate here and for D-Bus: a
          // node without systemd is not changed, but still observed
          new HostDirectory("systemd", "/etc/systemd/system", "DirectoryOrCreate", false, ""),
          // the directory, not the socket: a restarted D-Bus makes a new socket
          new HostDirectory("dbus", "/run/dbus", "DirectoryOrCreate", false, ""),
          new HostDirectory("sys", "/sys", "Directory", true, ""),
          // journal of attempts, backups
          new HostDirectory("journal", "/var/lib/numaoperator", "DirectoryOrCreate", false, ""),
          // the kubelet's own lines
          new HostDirectory("log", "/var/log", "Directory", true, ""));

  /** The node's directories beside those of k3s and RKE2, which only nodes of theirs have. */
  private static List<HostDirectory> directories(ClusterFacts facts) {
    return Stream.concat(
            HOST.stream(), facts.rancher().stream().flatMap(AgentDaemonSet::directoriesOf))
        .toList();
  }

  private static Stream<HostDirectory> directoriesOf(String product) {
    return Stream.of(
        // the kubelet's flags
        new HostDirectory(product, "/etc/rancher/" + product, "DirectoryOrCreate", true, ""),
        // drop-in directory, serving certificate, RKE2's kubelet log
        new HostDirectory(
            product + "-agent",
            "/var/lib/rancher/" + product + "/agent",
            "DirectoryOrCreate",
            false,
            "HostToContainer"));
  }

  private AgentDaemonSet() {}

  static DaemonSet of(Ownership ownership, ClusterFacts facts, Affinity affinity) {
    return new DaemonSetBuilder()
        .withMetadata(ownership.metadata(facts.namespace(), AgentPlan.NAME))
        .withNewSpec()
        .withNewSelector()
        .withMatchLabels(ownership.selector(AgentPlan.NAME))
        .endSelector()
        // an agent in the middle of an attempt is never replaced from outside: AgentReplacement
        .withNewUpdateStrategy()
        .withType("OnDelete")
        .endUpdateStrategy()
        .withNewTemplate()
        .withMetadata(
            ownership.podTemplate(AgentPlan.NAME, Map.of(Names.AGENT_ANNOTATION, hash(facts))))
        .withSpec(podSpec(facts, affinity))
        .endTemplate()
        .endSpec()
        .build();
  }

  /** Of all that makes an agent but the choice of its nodes, which changes with the policies. */
  static String hash(ClusterFacts facts) {
    return ContentHash.of(Serialization.asYaml(podSpec(facts, new Affinity())));
  }

  private static PodSpec podSpec(ClusterFacts facts, Affinity affinity) {
    var volumes = new ArrayList<>(directories(facts).stream().map(HostDirectory::volume).toList());
    volumes.add(new VolumeBuilder().withName(TMP).withNewEmptyDir().endEmptyDir().build());
    return new PodSpecBuilder()
        .withServiceAccountName(AgentPlan.NAME)
        .withAutomountServiceAccountToken(true)
        .withEnableServiceLinks(false)
        .withPriorityClassName("system-node-critical")
        // the kubelet's command line and whether it is still the same process
        .withHostPID(true)
        // the kubelet on the node's own address; no pod network while the kubelet is down
        .withHostNetwork(true)
        .withDnsPolicy("ClusterFirstWithHostNet")
        .withAffinity(affinity)
        .withTolerations(NodePlacement.everywhere())
        .withNewSecurityContext()
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .withContainers(container(facts))
        .withVolumes(volumes)
        .build();
  }

  private static Container container(ClusterFacts facts) {
    var mounts = new ArrayList<>(directories(facts).stream().map(HostDirectory::mount).toList());
    mounts.add(new VolumeMountBuilder().withName(TMP).withMountPath("/tmp").build());
    return new ContainerBuilder()
        .withName("agent")
        .withImage(facts.operatorImage())
        .withCommand("numa-operator", "agent")
        .addNewEnv()
        .withName("NODE_NAME")
        .withNewValueFrom()
        .withNewFieldRef()
        .withFieldPath("spec.nodeName")
        .endFieldRef()
        .endValueFrom()
        .endEnv()
        .addNewEnv()
        .withName("HOST_ROOT")
        .withValue(HOST_ROOT)
        .endEnv()
        // Burstable: a Guaranteed agent could itself hold exclusive CPUs, and no CPU limit keeps a
        // rollback from being throttled. No liveness probe: a kill in mid-attempt helps nobody.
        .withNewResources()
        .addToRequests("cpu", new Quantity("10m"))
        .addToRequests("memory", new Quantity("64Mi"))
        .addToLimits("memory", new Quantity("160Mi"))
        .endResources()
        .withReadinessProbe(alive())
        .withSecurityContext(securityContext())
        .withTerminationMessagePolicy("FallbackToLogsOnError")
        .withVolumeMounts(mounts)
        .build();
  }

  /**
   * An agent that hangs looks like one whose node does not change: it is ready only while its sign
   * of life (agent.Heartbeat, every 5 s) is fresh. The shell's own means only, since this runs on
   * every node all the time.
   */
  private static Probe alive() {
    return new ProbeBuilder()
        .withNewExec()
        .withCommand(
            "sh",
            "-c",
            "read up idle < /proc/uptime && read beat < /tmp/numa-agent-alive"
                + " && [ $((${up%%.*} - beat)) -le 20 ]")
        .endExec()
        .withPeriodSeconds(5)
        .withTimeoutSeconds(5)
        .withFailureThreshold(1)
        .build();
  }

  /**
   * Root without a capability. All that it reads and writes is root's own, so the owner's mode bits
   * do: no DAC_OVERRIDE, and no DAC_READ_SEARCH (open_by_handle_at reaches the whole disk). Of
   * other processes it reads /proc/PID/cmdline and stat, which everyone may: no SYS_PTRACE. systemd
   * takes orders from uid 0 over D-Bus (sd_bus_query_sender_privilege compares the uid).
   *
   * <p>spc_t and Unconfined are for the host's directories under SELinux and for D-Bus, which the
   * default AppArmor profile mediates away; both mean nothing on hosts without them.
   */
  private static SecurityContext securityContext() {
    return new SecurityContextBuilder()
        .withRunAsUser(0L)
        .withReadOnlyRootFilesystem(true)
        .withAllowPrivilegeEscalation(false)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .withNewSeLinuxOptions()
        .withType("spc_t")
        .endSeLinuxOptions()
        .withNewAppArmorProfile()
        .withType("Unconfined")
        .endAppArmorProfile()
        .build();
  }
}
