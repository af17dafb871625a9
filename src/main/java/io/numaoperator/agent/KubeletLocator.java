package io.numaoperator.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the kubelet: its unit through systemd, its settings on its command line. */
final class KubeletLocator {
  private static final String DEFAULT_ROOT = "/var/lib/kubelet";

  /**
   * @param root of the files of a distribution that has the kubelet inside its own process; empty
   *     for a kubelet that is one
   */
  private record Unit(String name, String root) {
    boolean embedded() {
      return !root.isEmpty();
    }
  }

  private static final List<Unit> UNITS =
      List.of(
          new Unit("kubelet.service", ""),
          new Unit("k3s.service", "/var/lib/rancher/k3s/agent"),
          new Unit("k3s-agent.service", "/var/lib/rancher/k3s/agent"),
          new Unit("rke2-server.service", "/var/lib/rancher/rke2/agent"),
          new Unit("rke2-agent.service", "/var/lib/rancher/rke2/agent"));

  private final ServiceManager services;
  private final KubeletHost host;
  private final Path proc;

  KubeletLocator(ServiceManager services, KubeletHost host, Path proc) {
    this.services = services;
    this.host = host;
    this.proc = proc;
  }

  /**
   * The kubelet that runs now.
   *
   * @throws IOException when it is down or not to be found; the message says which
   */
  KubeletProcess find() throws IOException {
    var down = new ArrayList<String>();
    for (var unit : UNITS) {
      var state = services.state(unit.name());
      if (state.isPresent() && state.get().mainPid() != 0) {
        return process(unit, state.get());
      }
      state.ifPresent(found -> down.add(unit.name() + " is " + found));
    }
    throw new IOException(
        down.isEmpty()
            ? "systemd knows no kubelet unit (kubelet, k3s, rke2)"
            : "the kubelet is down: " + String.join(", ", down));
  }

  private KubeletProcess process(Unit unit, ServiceManager.UnitState state) throws IOException {
    CommandLine commandLine;
    try {
      var file = proc.resolve(state.mainPid() + "/cmdline");
      commandLine = CommandLine.parse(Files.readAllBytes(file));
    } catch (IOException e) {
      throw new IOException("process %d of %s is gone".formatted(state.mainPid(), unit.name()), e);
    }
    if (!unit.embedded() && !commandLine.isKubelet()) {
      throw new IOException(
          "the main process of %s is %s, not a kubelet"
              .formatted(unit.name(), commandLine.program()));
    }
    var root = commandLine.flag("root-dir").orElse(DEFAULT_ROOT);
    return new KubeletProcess(
        unit.name(),
        state.mainPid(),
        state.restarts(),
        commandLine,
        root,
        dropInDirectory(unit, commandLine),
        servingCertificates(unit, commandLine, root));
  }

  /** k3s passes --config-dir inside its own process since 1.32, and RKE2 likewise. */
  private Optional<String> dropInDirectory(Unit unit, CommandLine commandLine) {
    if (unit.embedded()) {
      return Optional.of(unit.root() + "/etc/kubelet.conf.d").filter(host::isDirectory);
    }
    return commandLine.flag("config-dir").map(dir -> dir.replaceFirst("(?<=.)/+$", ""));
  }

  private static List<String> servingCertificates(Unit unit, CommandLine commandLine, String root) {
    var files = new ArrayList<String>();
    commandLine.flag("tls-cert-file").ifPresent(files::add);
    if (unit.embedded()) {
      files.add(unit.root() + "/serving-kubelet.crt");
    }
    var pki = commandLine.flag("cert-dir").orElse(root + "/pki");
    // with serverTLSBootstrap the first is in use, else the second, which the kubelet made itself
    files.add(pki + "/kubelet-server-current.pem");
    files.add(pki + "/kubelet.crt");
    return files;
  }
}
