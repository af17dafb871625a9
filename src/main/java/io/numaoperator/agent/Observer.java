package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.agent.KubeletApi.Configz;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.api.NumaNodeStateStatus.StateFiles;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.kubelet.StateFile;
import io.numaoperator.topology.Machine;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Looks at the node. What cannot be seen now stays as it was last seen, and {@code agentError} says
 * so. Not for use by several threads.
 */
final class Observer {
  private static final Duration SLOW = Duration.ofMinutes(1);

  private final NodeAccess node;
  private final KubeletLocator locator;
  private final Sysfs sysfs;
  private final PciBus pci;
  private final LastSeen seen;
  private final KubeletFiles files;
  private final MainFileEdit mainFile;
  private final OwnConfiguration own;
  private final NumaNodeStateStatus status = new NumaNodeStateStatus();
  private final Rate machineRate;
  private final Rate nodeRate;
  private Optional<TopologyReport> report = Optional.empty();
  private long configOf; // process that status.effective is of; 0 when it must be asked again

  Observer(NodeAccess node, KubeletLocator locator, Sysfs sysfs, PciBus pci, LastSeen seen) {
    this.node = node;
    this.locator = locator;
    this.sysfs = sysfs;
    this.pci = pci;
    this.seen = seen;
    this.files = new KubeletFiles(node.host());
    this.mainFile = new MainFileEdit(node.host());
    this.own = new OwnConfiguration(node.host(), new JournalStore(node.host()));
    this.machineRate = new Rate(SLOW);
    this.nodeRate = new Rate(SLOW);
    status.conditions = null; // the operator's
  }

  /** Says when something expensive is due again. */
  private static final class Rate {
    private final Duration interval;
    private Instant next = Instant.MIN;

    Rate(Duration interval) {
      this.interval = interval;
    }

    boolean due(Instant now) {
      boolean due = !now.isBefore(next);
      if (due) {
        next = now.plus(interval);
      }
      return due;
    }

    void again() {
      next = Instant.MIN;
    }
  }

  /**
   * One look. The result is valid until the next.
   *
   * @param proofPods namespace/name; asked after the kubelet, since a pod is granted before it runs
   */
  NumaNodeStateStatus look(Supplier<Set<String>> proofPods) {
    var problems = new ArrayList<String>();
    var now = node.time().now();
    attempt(problems, () -> status.bootId = node.host().bootId());
    if (machineRate.due(now)) {
      attempt(problems, this::machine);
    }
    attempt(problems, this::kubelet);
    attempt(problems, this::files);
    attempt(problems, this::configFiles);
    report = Optional.empty();
    if (running().isPresent()) {
      // the rest would only repeat that the kubelet is down
      node(now);
      attempt(problems, this::config);
      attempt(problems, this::baseline);
      attempt(problems, () -> handedOut(proofPods));
    }
    status.agentError = problems.isEmpty() ? null : shortened(String.join("; ", problems));
    return status;
  }

  private interface Action {
    void run() throws IOException;
  }

  private static void attempt(List<String> problems, Action action) {
    try {
      action.run();
    } catch (IOException | RuntimeException e) {
      problems.add(Errors.text(e));
    }
  }

  private void machine() throws IOException {
    var old = status.inventory;
    var inventory = new Inventory();
    try {
      var zones = sysfs.zones();
      var devices = pci.byZone();
      for (var zone : zones) {
        zone.pci = devices.getOrDefault(zone.id, List.of());
      }
      inventory.zoneCount = zones.size();
      inventory.zones = zones.subList(0, Math.min(zones.size(), 64));
      inventory.offlineCpus = sysfs.offlineCpus().format();
      inventory.memoryTotal = sysfs.memoryTotal();
    } catch (IOException | RuntimeException e) {
      machineRate.again();
      throw e;
    }
    if (old != null) {
      inventory.kubelet = old.kubelet;
    }
    status.inventory = inventory;
  }

  private Optional<KubeletFacts> running() {
    return Optional.ofNullable(status.inventory)
        .map(inventory -> inventory.kubelet)
        .filter(kubelet -> kubelet.pid != null);
  }

  private void kubelet() throws IOException {
    if (status.inventory == null) {
      status.inventory = new Inventory();
    }
    var old = status.inventory.kubelet;
    try {
      var found = locator.find();
      seen.kubelet(found);
      var facts = found.facts();
      facts.version = seen.node().map(NodeView::kubeletVersion).orElse(null);
      facts.platform = platform(facts);
      boolean another = old == null || old.pid == null || !old.pid.equals(facts.pid);
      if (another) {
        nodeRate.again();
        configOf = 0;
      }
      status.inventory.kubelet = facts;
    } catch (IOException e) {
      if (old != null) {
        old.pid = null;
      }
      throw e;
    }
  }

  private Platform platform(KubeletFacts kubelet) {
    var seenNow =
        new Platforms.Seen(
            Objects.requireNonNullElse(kubelet.service, ""),
            Objects.requireNonNullElse(kubelet.configFile, ""),
            seen.node());
    return Platforms.of(seenNow).orElse(null);
  }

  /** Failing is no news: what is seen here is published through the same API server. */
  private void node(Instant now) {
    if (!nodeRate.due(now)) {
      return;
    }
    try {
      var view = node.api().node();
      seen.node(view);
      status.inventory.kubelet.version = view.kubeletVersion();
      status.inventory.kubelet.platform = platform(status.inventory.kubelet);
    } catch (IOException e) {
      nodeRate.again();
    }
  }

  private void files() throws IOException {
    var kubelet = status.inventory == null ? null : status.inventory.kubelet;
    if (kubelet == null) {
      return;
    }
    status.dropInHash = ours(kubelet).orElse(null);
    kubelet.unitDropIn =
        files
            .unitDropIn(
                Objects.requireNonNullElse(kubelet.service, ""),
                Objects.requireNonNullElse(kubelet.dropInDirectory, ""))
            .orElse(null);
    var policies = new StateFiles();
    policies.cpuPolicy = policy(kubelet, StateFile.Kind.CPU);
    policies.memoryPolicy = policy(kubelet, StateFile.Kind.MEMORY);
    status.stateFiles = policies;
  }

  /** Hash of the operator's settings as they are on the disk, in whichever form. */
  private Optional<String> ours(KubeletFacts kubelet) throws IOException {
    if (kubelet.dropInDirectory != null) {
      var dropIn = node.host().read(kubelet.dropInDirectory + "/" + Names.DROP_IN_FILE);
      if (dropIn.isPresent()) {
        return dropIn.map(DropIn::hash);
      }
    }
    return kubelet.configFile == null
        ? Optional.empty()
        : mainFile.found(kubelet.configFile).map(MainFileEdit.Edit::plan);
  }

  private void configFiles() throws IOException {
    var kubelet = status.inventory == null ? null : status.inventory.kubelet;
    if (kubelet == null) {
      return;
    }
    kubelet.draDrivers = files.draDrivers(kubelet.rootDirectory);
    status.files = null;
    status.files = files.read(kubelet).map(KubeletFiles::wire).orElse(null);
  }

  private String policy(KubeletFacts kubelet, StateFile.Kind kind) throws IOException {
    return node.host()
        .read(kubelet.rootDirectory + "/" + kind.fileName())
        .flatMap(StatePolicies::recorded)
        .orElse(null);
  }

  /** A kubelet reads its configuration once, so each process is asked until it has answered. */
  private void config() throws IOException {
    long pid = status.inventory.kubelet.pid;
    if (pid == configOf) {
      return;
    }
    switch (node.kubelet().configz()) {
      case Configz.Live(var config) -> effective(pid, Source.Configz, config);
      case Configz.OnDisk(var config) -> effective(pid, Source.Files, config);
      case Configz.Denied(var why) -> throw new IOException(why);
      case Configz.Unreachable(var why) -> throw new IOException(why);
    }
  }

  private void effective(long pid, Source source, JsonNode config) {
    var effective = new EffectiveKubelet();
    effective.source = source;
    effective.pid = pid;
    effective.settings = KubeletSettings.of(config);
    effective.featureGates = KubeletSettings.featureGates(config);
    status.effective = effective;
    configOf = pid;
  }

  /** Anew at every look: the node's files are its owner's, and may change at any time. */
  private void baseline() throws IOException {
    if (status.effective != null && configOf == status.inventory.kubelet.pid) {
      status.baseline = own.settings(status.inventory.kubelet, status.effective);
    }
  }

  private void handedOut(Supplier<Set<String>> proofPods) throws IOException {
    report = Optional.empty();
    var allocatable = node.podResources().allocatable();
    var containers = node.podResources().list();
    ContainerAudit.devices(status.inventory, allocatable);
    status.containers =
        ContainerAudit.containers(
            containers, Machine.of(status.inventory), isScopePod(), proofPods.get());
    if (status.effective != null && configOf == status.inventory.kubelet.pid) {
      report =
          Optional.of(
              TopologyReport.of(
                  status.inventory,
                  status.effective.settings,
                  allocatable,
                  containers,
                  managers(containers)));
    }
  }

  /** By what is known of the running kubelet; each container by itself where it is not. */
  private boolean isScopePod() {
    return status.effective != null && "pod".equals(status.effective.settings.topologyManagerScope);
  }

  private ManagerState managers(List<PodResources.Container> containers) throws IOException {
    var host = node.host();
    var root = status.inventory.kubelet.rootDirectory + "/";
    return ManagerState.of(
        host.read(root + StateFile.Kind.CPU.fileName()),
        host.read(root + StateFile.Kind.MEMORY.fileName()),
        host.read(root + ManagerState.DEVICE_CHECKPOINT),
        LivingPods.of(
            containers, host.list(LivingPods.LOGS), host.list(root + LivingPods.DIRECTORIES)));
  }

  /** What the last look says about free resources; empty when it could not see all of it. */
  Optional<TopologyReport> report() {
    return report;
  }

  private static String shortened(String text) {
    return text.length() <= 1024 ? text : text.substring(0, 1023) + "…";
  }
}
