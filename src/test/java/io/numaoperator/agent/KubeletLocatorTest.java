package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes, units and files as kubeadm, EKS, k3s, RKE2 and Talos leave them; recorded from the
 * projects' sources, not from machines that run them.
 */
class KubeletLocatorTest {
  @TempDir Path proc;
  private final FakeKubeletHost host = new FakeKubeletHost();
  private final Units units = new Units();
  private KubeletLocator locator;

  /** Stands for systemd: units that run, and their commands. */
  private static final class Units implements ServiceManager {
    final Map<String, UnitState> states = new HashMap<>();
    final Map<String, List<String>> commands = new HashMap<>();

    void run(String unit, long pid, String... command) {
      states.put(unit, new UnitState("active", "running", pid, 0, "success"));
      commands.put(unit, List.of(command));
    }

    @Override
    public Optional<UnitState> state(String unit) {
      return Optional.ofNullable(states.get(unit));
    }

    @Override
    public boolean active(String unit) {
      throw new UnsupportedOperationException("only looked at");
    }

    @Override
    public List<String> dropIns(String unit) {
      throw new UnsupportedOperationException("only looked at");
    }

    @Override
    public List<String> execStart(String unit) {
      return commands.getOrDefault(unit, List.of());
    }

    @Override
    public void stop(String unit) {
      throw new UnsupportedOperationException("only looked at");
    }

    @Override
    public void start(String unit) {
      throw new UnsupportedOperationException("only looked at");
    }

    @Override
    public void reload() {
      throw new UnsupportedOperationException("only looked at");
    }
  }

  @BeforeEach
  void locator() {
    locator = new KubeletLocator(new NestedKubelet(units, new Processes(proc)), host, proc);
  }

  private void process(long pid, long parent, String... words) throws IOException {
    var directory = Files.createDirectories(proc.resolve("" + pid));
    Files.writeString(directory.resolve("cmdline"), String.join("\0", words) + "\0");
    Files.writeString(directory.resolve("stat"), "%d (a (b) c) S %d 1 1".formatted(pid, parent));
  }

  private void file(String path, String content) {
    host.files.put(path, content.getBytes(UTF_8));
  }

  @Test
  void kubeadmsKubeletHasNoDirectoryAndCanBeGivenOne() throws IOException {
    units.run("kubelet.service", 7, "/usr/bin/kubelet", "$KUBELET_CONFIG_ARGS");
    process(7, 1, "/usr/bin/kubelet", "--config=/var/lib/kubelet/config.yaml");
    var facts = locator.find().facts();
    assertThat(facts.service).isEqualTo("kubelet.service");
    assertThat(facts.dropInDirectory).isNull();
    assertThat(facts.newDropInDirectory).isEqualTo("/etc/kubernetes/kubelet.conf.d");
  }

  @Test
  void eksHasAPlaceOfItsOwnForDropIns() throws IOException {
    units.run("kubelet.service", 7, "/usr/bin/kubelet", "$NODEADM_KUBELET_ARGS");
    process(7, 1, "/usr/bin/kubelet", "--config=/etc/kubernetes/kubelet/config.json");
    assertThat(locator.find().facts().newDropInDirectory)
        .isEqualTo("/etc/kubernetes/kubelet/config.json.d");
  }

  @Test
  void aCommandThatCannotBeExtendedIsLeftAlone() throws IOException {
    units.run("kubelet.service", 7);
    process(7, 1, "/usr/bin/kubelet");
    assertThat(locator.find().facts().newDropInDirectory).isNull();
  }

  @Test
  void k3sHidesItsFlagsInFilesAndInItsUnit() throws IOException {
    units.run("k3s.service", 9, "/usr/local/bin/k3s", "server", "--kubelet-arg", "v=2");
    process(9, 1, "/usr/local/bin/k3s server");
    file("/var/lib/rancher/k3s/agent/etc/kubelet.conf.d/00-k3s-defaults.conf", "");
    file("/etc/rancher/k3s/config.yaml", "kubelet-arg: [max-pods=50, cpu-manager-policy=static]");
    file("/etc/rancher/k3s/config.yaml.d/20.yaml", "kubelet-arg+: 'topology-manager-policy=none'");
    file("/etc/rancher/k3s/config.yaml.d/30.txt", "kubelet-arg: [reserved-cpus=0]");
    var kubelet = locator.find();
    assertThat(kubelet.facts().dropInDirectory)
        .isEqualTo("/var/lib/rancher/k3s/agent/etc/kubelet.conf.d");
    assertThat(kubelet.facts().managedByFlag)
        .containsExactly("cpuManagerPolicy", "topologyManagerPolicy");
    assertThat(kubelet.commandLine().flag("v")).contains("2");
    assertThat(kubelet.servingCertificates())
        .startsWith("/var/lib/rancher/k3s/agent/serving-kubelet.crt");
    assertThat(kubelet.facts().newDropInDirectory).isNull();
  }

  @Test
  void aLaterFileOfK3sReplacesTheKeyOrAddsToIt() throws IOException {
    units.run("k3s-agent.service", 9, "/usr/local/bin/k3s", "agent");
    process(9, 1, "/usr/local/bin/k3s agent");
    file("/etc/rancher/k3s/config.yaml", "kubelet-arg: [cpu-manager-policy=static]");
    file("/etc/rancher/k3s/config.yaml.d/50.yaml", "kubelet-arg: [--reserved-cpus=0]");
    assertThat(locator.find().facts().managedByFlag).containsExactly("reservedSystemCPUs");
    file("/etc/rancher/k3s/config.yaml", "a: [");
    assertThatThrownBy(locator::find)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("/etc/rancher/k3s/config.yaml is not YAML");
  }

  @Test
  void rke2StartsItsKubeletAsAProcess() throws IOException {
    units.run("rke2-agent.service", 20, "/usr/local/bin/rke2", "agent");
    process(20, 1, "/usr/local/bin/rke2", "agent");
    process(21, 20, "containerd");
    process(
        22,
        20,
        "kubelet",
        "--config-dir=/var/lib/rancher/rke2/agent/etc/kubelet.conf.d",
        "--kube-reserved=memory=1Gi");
    process(30, 21, "/usr/bin/kubelet", "--in-a-pod");
    var facts = locator.find().facts();
    assertThat(facts.pid).isEqualTo(22);
    assertThat(facts.managedByFlag).containsExactly("kubeReserved");
    assertThat(facts.dropInDirectory).isEqualTo("/var/lib/rancher/rke2/agent/etc/kubelet.conf.d");
    Files.delete(proc.resolve("22/cmdline"));
    assertThatThrownBy(locator::find).hasMessageContaining("the kubelet is down: rke2-agent");
  }

  @Test
  void aKubeletWithoutSystemdIsFoundByItsProcess() throws IOException {
    host.files.remove("/run/dbus/system_bus_socket");
    units.run("kubelet.service", 1, "never asked");
    process(40, 39, "/usr/local/bin/kubelet", "--config=/etc/kubernetes/kubelet.yaml");
    var facts = locator.find().facts();
    assertThat(facts.service).isNull();
    assertThat(facts.pid).isEqualTo(40);
    process(41, 40, "/usr/bin/kubelet");
    assertThatThrownBy(locator::find).hasMessage("several processes are kubelets: [40, 41]");
  }

  @Test
  void noKubeletAtAllIsTold() {
    assertThatThrownBy(locator::find)
        .hasMessage(
            "systemd knows no kubelet unit (kubelet, k3s, rke2), and no process is a kubelet");
  }
}
