package io.numaoperator.plan.scheduler;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.Access;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The scheduler-plugins' kube-scheduler, beside the cluster's own and under its own name. */
final class NodeResourceTopologyMatch implements SchedulerProvider {
  static final String NAME = "numa-scheduler";
  static final String PROVIDER = "noderesourcetopologymatch";

  @Override
  public Provision plan(Input input) {
    if (hamiOnly(input)) {
      return new Provision.Refused(
          "HAMiSchedulesItsOwnPods",
          "NodeResourceTopologyMatch rejects every pod that requests a resource absent from the"
              + " node's allocatable, and HAMi's nvidia.com/gpumem and nvidia.com/gpucores are (HAMi's"
              + " Helm value mockDevicePlugin.enabled would put them there): HAMi's own scheduler"
              + " places its pods; use scheduler.provider None or External");
    }
    var plugin = settings(input.setting());
    var image =
        Optional.ofNullable(plugin.image)
            .or(() -> SchedulerRelease.imageFor(input.facts().server()));
    if (image.isEmpty()) {
      return new Provision.Refused(
          SchedulerRelease.NONE_FITS,
          "no release of scheduler-plugins runs against Kubernetes %s (released: 1.32 to 1.35); set"
                  .formatted(input.facts().server())
              + " scheduler.nodeResourceTopologyMatch.image to one that does, or use another"
              + " provider");
    }
    var minor = SchedulerRelease.minorOf(image.get());
    if (minor.isPresent() && !SchedulerRelease.isWithinSkew(minor.get(), input.facts().server())) {
      return new Provision.Refused(
          "ImageOutsideSkew",
          "%s is built from Kubernetes 1.%d: a kube-scheduler runs against an API server of its own"
                  .formatted(image.get(), minor.get())
              + " minor or the next one, and this one is %s; take another image or leave it out"
                  .formatted(input.facts().server()));
    }
    return new Provision.Objects(PROVIDER, objects(input, plugin, image.get()), remarks(input));
  }

  private static List<HasMetadata> objects(
      Input input, SchedulerPolicy.NodeResourceTopologyMatch plugin, String image) {
    var ownership = Ownership.of(Part.SCHEDULER, PROVIDER, input.policies());
    var namespace = input.facts().namespace();
    var access = new SchedulerAccess(new Access(ownership, namespace, NAME));
    var config = SchedulerConfig.yaml(input.facts(), input.setting(), plugin);
    var workload =
        new SchedulerWorkload(ownership, namespace, input.setting().replicas, Optional.empty());
    var objects = new ArrayList<HasMetadata>();
    objects.add(access.serviceAccount());
    objects.addAll(access.topologyReader());
    objects.addAll(access.kubeScheduler());
    objects.add(workload.configMap(config));
    // started before the first object it would never see that node (scheduler-plugins#967)
    input
        .seen()
        .topologyRevision()
        .ifPresent(
            revision -> {
              objects.add(
                  workload.deployment(
                      image, config, Map.of(TopologyRevision.ANNOTATION, revision)));
              workload.disruptionBudget().ifPresent(objects::add);
            });
    return objects;
  }

  /** Seen in cache/overreserve.go of v0.34.7: the cache is filled when the process starts. */
  private static List<Provision.Remark> remarks(Input input) {
    if (input.seen().topologyRevision().isEmpty()) {
      return List.of(
          new Provision.Remark(
              "AwaitingTopology",
              "the scheduler is started when there is a NodeResourceTopology: started before, it"
                  + " would bind blindly; look at TopologyPublished"));
    }
    return input.setting().replicas > 1
        ? List.of(
            new Provision.Remark(
                "StandbySchedulersHoldOldTopology",
                "a standby scheduler keeps the topology that it read at its own start: after a"
                    + " failover the first pods may be placed by old numbers; one replica is"
                    + " safer"))
        : List.of();
  }

  private static boolean hamiOnly(Input input) {
    return !input.facts().vgpuResourcesAllocatable()
        && !input.policies().isEmpty()
        && input.policies().stream()
            .allMatch(
                policy ->
                    policy.getSpec().devicePlugin.provider == DevicePluginPolicy.Provider.HAMi);
  }

  static SchedulerPolicy.NodeResourceTopologyMatch settings(SchedulerPolicy setting) {
    return setting.nodeResourceTopologyMatch == null
        ? new SchedulerPolicy.NodeResourceTopologyMatch()
        : setting.nodeResourceTopologyMatch;
  }
}
