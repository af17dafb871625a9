package io.numaoperator.agent;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the kubelet: its unit through systemd, its settings on its command line. */
final class KubeletLocator {
  private static final String DEFAULT_ROOT = "/var/lib/kubelet";
  private static final String BUS = "/run/dbus";

  private final ServiceManager services;
  private final KubeletHost host;
  private final Processes processes;
  private final RancherConfig rancher;

  KubeletLocator(ServiceManager services, KubeletHost host, Path proc) {
    this.services = services;
    this.host = host;
    this.processes = new Processes(proc);
    this.rancher = new RancherConfig(host);
  }

  /**
   * The kubelet that runs now.
   *
   * @throws IOException when it is down or not to be found; the message says which
   */
  KubeletProcess find() throws IOException {
    var down = new ArrayList<String>();
    for (var unit : KubeletUnit.ALL) {
      var state = state(unit, down);
      if (state.isPresent() && state.get().mainPid() != 0) {
        return process(unit, state.get());
      }
    }
    // Talos, for one, has neither systemd nor a unit
    var pid = down.isEmpty() ? processes.onlyKubelet() : Optional.<Long>empty();
    if (pid.isPresent()) {
      var state = new ServiceManager.UnitState("active", "running", pid.get(), 0, "success");
      return process(new KubeletUnit("", ""), state);
    }
    throw new IOException(
        down.isEmpty()
            ? "systemd knows no kubelet unit (kubelet, k3s, rke2), and no process is a kubelet"
            : "the kubelet is down: " + String.join(", ", down));
  }

  /** A node without a bus has no systemd; one whose bus does not answer may have. */
  private Optional<ServiceManager.UnitState> state(KubeletUnit unit, List<String> down)
      throws IOException {
    if (host.list(BUS).isEmpty()) {
      return Optional.empty();
    }
    var state = services.state(unit.name());
    state.filter(found -> found.mainPid() == 0).ifPresent(s -> down.add(unit.name() + " is " + s));
    return state;
  }

  private KubeletProcess process(KubeletUnit unit, ServiceManager.UnitState state)
      throws IOException {
    CommandLine commandLine;
    try {
      commandLine = processes.commandLine(state.mainPid());
    } catch (IOException e) {
      throw new IOException("process %d of %s is gone".formatted(state.mainPid(), unit.name()), e);
    }
    if (!unit.embeds() && !commandLine.isKubelet()) {
      throw new IOException(
          "the main process of %s is %s, not a kubelet"
              .formatted(unit.name(), commandLine.program()));
    }
    var execStart = unit.name().isEmpty() ? List.<String>of() : services.execStart(unit.name());
    if (unit.embeds()) {
      commandLine = CommandLine.of("kubelet", rancher.kubeletFlags(unit.product(), execStart));
    }
    var root = commandLine.flag("root-dir").orElse(DEFAULT_ROOT);
    return new KubeletProcess(
        unit.name(),
        state.mainPid(),
        state.restarts(),
        commandLine,
        root,
        unit.dropInDirectory(commandLine, host),
        unit.servingCertificates(commandLine, root),
        unit.isPlain() ? execStart : List.of());
  }
}
