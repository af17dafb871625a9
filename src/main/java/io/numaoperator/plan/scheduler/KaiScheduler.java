package io.numaoperator.plan.scheduler;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.kai.KaiConfig;
import io.numaoperator.api.kai.KaiQueue;
import io.numaoperator.api.kai.SchedulingShard;
import io.numaoperator.plan.NodePlacement;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * KAI Scheduler, v0.16 or newer, which its owner installs: the operator turns its numa plugin on in
 * one shard and says where the placement exporter runs. In objects of others it sets these fields
 * alone, in objects of a Helm release none.
 */
public final class KaiScheduler implements SchedulerProvider {
  static final String PROVIDER = "kai";
  static final String PLUGIN = "numa";
  private static final String CHART = "oci://ghcr.io/kai-scheduler/kai-scheduler/kai-scheduler";
  private static final String INSTALL =
      "helm upgrade --install kai-scheduler " + CHART + " -n kai-scheduler --create-namespace";
  private static final String DEFAULT_SHARD = "default";
  private static final String PARENT_QUEUE = "numa-parent";
  private static final String QUEUE = "numa";

  /** The name under which it schedules. */
  public static String nameOf(KaiFacts kai) {
    return kai.config()
        .flatMap(config -> Optional.ofNullable(config.getSpec()))
        .flatMap(spec -> Optional.ofNullable(spec.global))
        .flatMap(global -> Optional.ofNullable(global.schedulerName))
        .orElse("kai-scheduler");
  }

  /** Where its pods run. */
  public static String namespaceOf(KaiFacts kai) {
    return kai.config()
        .flatMap(config -> Optional.ofNullable(config.getSpec()))
        .flatMap(spec -> Optional.ofNullable(spec.namespace))
        .orElse("kai-scheduler");
  }

  /** The policy's settings, or their defaults. */
  public static SchedulerPolicy.Kai settings(SchedulerPolicy setting) {
    return Optional.ofNullable(setting.kai).orElseGet(SchedulerPolicy.Kai::new);
  }

  @Override
  public Provision plan(Input input) {
    return switch (input.seen().kai().installation()) {
      case Absent ->
          new Provision.Refused(
              "KaiNotInstalled", "KAI Scheduler is not installed; its owner runs: " + INSTALL);
      case WithoutNuma ->
          new Provision.Refused(
              "KaiTooOld",
              "this KAI Scheduler is older than v0.16 and sees no NUMA nodes; its owner runs: "
                  + INSTALL
                  + " --reuse-values");
      case WithNuma ->
          isShardKnown(input) ? new Draft(input).provision() : noShard(input.setting());
    };
  }

  /**
   * The default shard is made where there is none; what another one is for only its owner knows.
   */
  private static boolean isShardKnown(Input input) {
    var name = settings(input.setting()).shard;
    return name.equals(DEFAULT_SHARD) || input.seen().kai().shard(name).isPresent();
  }

  private static Provision noShard(SchedulerPolicy setting) {
    return new Provision.Refused(
        "ShardNotFound",
        "there is no SchedulingShard %s: its owner makes it, or scheduler.kai.shard names another"
            .formatted(settings(setting).shard));
  }

  /** What is put together for one plan. */
  private static final class Draft {
    private final Input input;
    private final Ownership ownership;
    private final List<HasMetadata> objects = new ArrayList<>();
    private final List<HasMetadata> contributions = new ArrayList<>();
    private final List<Provision.Remark> remarks = new ArrayList<>();

    Draft(Input input) {
      this.input = input;
      this.ownership = Ownership.of(Part.SCHEDULER, PROVIDER, input.policies());
    }

    Provision provision() {
      var settings = settings(input.setting());
      var kai = input.seen().kai();
      var config = new KaiConfig();
      config.setSpec(configSpec(settings));
      place(config, KaiConfig.NAME, kai.config().map(HasMetadata.class::cast));
      var shard = new SchedulingShard();
      shard.setSpec(shardSpec(settings));
      place(shard, settings.shard, kai.shard(settings.shard).map(HasMetadata.class::cast));
      if (Boolean.TRUE.equals(settings.defaultQueues)) {
        queue(PARENT_QUEUE, Optional.empty());
        queue(QUEUE, Optional.of(PARENT_QUEUE));
      }
      return new Provision.Objects(PROVIDER, objects, contributions, remarks);
    }

    /** Made where there is none; our fields in what others made; a command where it is Helm's. */
    private void place(HasMetadata wanted, String name, Optional<HasMetadata> there) {
      if (there.isEmpty() || Ownership.isOurs(there.get())) {
        wanted.setMetadata(ownership.metadata(name));
        objects.add(wanted);
      } else if (!Ownership.isHelms(there.get())) {
        wanted.setMetadata(new ObjectMetaBuilder().withName(name).build());
        contributions.add(wanted);
      } else if (!HelmRelease.says(there.get(), wanted)) {
        remarks.add(
            new Provision.Remark(
                "KaiIsHelms",
                "%s %s belongs to a Helm release and is not written by others; its owner runs: %s"
                    .formatted(wanted.getKind(), name, HelmRelease.command(CHART, wanted))));
      }
    }

    private void queue(String name, Optional<String> parent) {
      var known = input.seen().kai().queues().stream();
      if (known.anyMatch(q -> q.getMetadata().getName().equals(name) && !Ownership.isOurs(q))) {
        return;
      }
      var queue = new KaiQueue();
      queue.setMetadata(ownership.metadata(name));
      var share = KaiQueue.Share.free();
      queue.setSpec(
          new KaiQueue.Spec(parent.orElse(null), new KaiQueue.Resources(share, share, share)));
      objects.add(queue);
    }

    private KaiConfig.Spec configSpec(SchedulerPolicy.Kai settings) {
      var exporter = new KaiConfig.Exporter();
      exporter.service = new KaiConfig.Service();
      // without a word it runs where nfd-worker found several NUMA nodes: nowhere without
      // nfd-worker
      exporter.service.enabled = true;
      exporter.nodeSelector = exporterNodes(settings, input.policies());
      exporter.tolerations = List.of(NodePlacement.everywhere());
      var spec = new KaiConfig.Spec();
      spec.numaPlacementExporter = exporter;
      return spec;
    }

    private SchedulingShard.Spec shardSpec(SchedulerPolicy.Kai settings) {
      var plugin = new SchedulingShard.Plugin();
      plugin.enabled = true;
      plugin.arguments = new TreeMap<>();
      plugin.arguments.put(
          "reconstructAvailable",
          String.valueOf(!Boolean.FALSE.equals(settings.reconstructAvailable)));
      var ignored = KaiIgnored.resources(input.policies());
      if (!ignored.isEmpty()) {
        plugin.arguments.put("ignoreList", String.join(",", ignored));
      }
      var spec = new SchedulingShard.Spec();
      spec.plugins = new TreeMap<>(Map.of(PLUGIN, plugin));
      return spec;
    }
  }

  /** One set of labels; where policies or expressions need more than that, every Linux node. */
  private static Map<String, String> exporterNodes(
      SchedulerPolicy.Kai settings, List<NumaPolicy> policies) {
    if (settings.exporterNodeSelector != null && !settings.exporterNodeSelector.isEmpty()) {
      return new TreeMap<>(settings.exporterNodeSelector);
    }
    var selectors = policies.stream().map(policy -> policy.getSpec().nodeSelector).toList();
    boolean one =
        selectors.size() == 1
            && !selectors.getFirst().matchLabels.isEmpty()
            && selectors.getFirst().matchExpressions.isEmpty();
    return new TreeMap<>(
        one ? selectors.getFirst().matchLabels : Map.of("kubernetes.io/os", "linux"));
  }
}
