package io.numaoperator.plan;

import static io.numaoperator.plan.Policies.cluster;
import static io.numaoperator.plan.Policies.policy;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.plan.agent.AgentPlan;
import io.numaoperator.plan.delivery.DeliveryExamples;
import io.numaoperator.plan.device.DevicePluginProvider;
import io.numaoperator.plan.device.DevicePluginProviders;
import io.numaoperator.plan.scheduler.SchedulerProvider;
import io.numaoperator.plan.scheduler.SchedulerProviders;
import io.numaoperator.plan.scheduler.Seen;
import io.numaoperator.plan.updater.TopologyUpdaterProvider;
import io.numaoperator.plan.updater.TopologyUpdaterProviders;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What every provider makes, for tests of what holds for all objects: a new provider is in here by
 * its enum constant alone.
 */
public final class AllPlans {
  private AllPlans() {}

  public static List<HasMetadata> objects() {
    var facts = cluster(34);
    var policies =
        List.of(
            policy("gpu", 1, AllPlans::withReplicasAndNamespaces),
            policy("hami", 2, AllPlans::withHami));
    var updaters =
        Arrays.stream(TopologyUpdaterPolicy.Provider.values())
            .map(TopologyUpdaterProviders::of)
            .map(
                updater ->
                    updater.plan(
                        new TopologyUpdaterProvider.Input(
                            facts, policies, policies.getFirst().getSpec().topologyUpdater)))
            .toList();
    var devicePlugins =
        Arrays.stream(DevicePluginPolicy.Provider.values()).map(AllPlans::devicePlugin).toList();
    var schedulers =
        Arrays.stream(SchedulerPolicy.Provider.values())
            .map(SchedulerProviders::of)
            .map(
                scheduler ->
                    scheduler.plan(
                        new SchedulerProvider.Input(
                            facts,
                            policies,
                            policies.getFirst().getSpec().scheduler,
                            Seen.topologies("r1"))))
            .toList();
    var provisions = new ArrayList<Provision>();
    provisions.add(AgentPlan.objects(facts, policies));
    provisions.addAll(updaters);
    provisions.addAll(devicePlugins);
    provisions.addAll(schedulers);
    provisions.addAll(DeliveryExamples.all(policies.getFirst()));
    return provisions.stream()
        .filter(Provision.Objects.class::isInstance)
        .flatMap(provision -> ((Provision.Objects) provision).objects().stream())
        .toList();
  }

  private static Provision devicePlugin(DevicePluginPolicy.Provider provider) {
    var policy = policy("devices", 3, spec -> spec.devicePlugin.provider = provider);
    return DevicePluginProviders.of(provider)
        .plan(
            new DevicePluginProvider.Input(
                cluster(34),
                List.of(new DevicePluginProvider.NodePool(policy, Set.of("gpu-1"))),
                Map.of(),
                Map.of(),
                Map.of(),
                List.of()))
        .provision();
  }

  private static void withReplicasAndNamespaces(NumaPolicySpec spec) {
    spec.scheduler.replicas = 3;
    spec.scheduler.kai = new SchedulerPolicy.Kai();
    spec.scheduler.kai.defaultQueues = true;
    spec.scheduler.assignNamespaces = SchedulerPolicy.AssignNamespaces.Labelled;
  }

  private static void withHami(NumaPolicySpec spec) {
    spec.devicePlugin.provider = DevicePluginPolicy.Provider.HAMi;
    spec.devicePlugin.hami = new DevicePluginPolicy.Hami();
  }
}
