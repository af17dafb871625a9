package io.numaoperator.plan;

import static io.numaoperator.plan.Policies.cluster;
import static io.numaoperator.plan.Policies.policy;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.scheduler.SchedulerProvider;
import io.numaoperator.plan.scheduler.SchedulerProviders;
import io.numaoperator.plan.scheduler.Seen;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The images that the operator puts into pods when a policy names none. */
public final class PlannedImages {
  /** The oldest minor of Kubernetes that the operator is made for, and the newest that it knows. */
  private static final int OLDEST = 30;

  private static final int NEWEST = 36;

  private PlannedImages() {}

  /** In every provider's objects, over all clusters that they are made for. */
  public static Set<String> all() {
    return Stream.concat(
            AllPlans.objects().stream(),
            IntStream.rangeClosed(OLDEST, NEWEST).boxed().flatMap(PlannedImages::schedulers))
        .flatMap(PlannedImages::containers)
        .map(Container::getImage)
        .collect(TreeSet::new, Set::add, Set::addAll);
  }

  private static Stream<HasMetadata> schedulers(int minor) {
    var policies = List.of(policy("gpu", 1));
    return Stream.of(SchedulerPolicy.Provider.values())
        .map(SchedulerProviders::of)
        .map(
            scheduler ->
                scheduler.plan(
                    new SchedulerProvider.Input(
                        cluster(minor),
                        policies,
                        policies.getFirst().getSpec().scheduler,
                        Seen.topologies("r1"))))
        .filter(Provision.Objects.class::isInstance)
        .flatMap(provision -> ((Provision.Objects) provision).objects().stream());
  }

  private static Stream<Container> containers(HasMetadata object) {
    var pod =
        switch (object) {
          case DaemonSet daemons -> daemons.getSpec().getTemplate().getSpec();
          case Deployment deployment -> deployment.getSpec().getTemplate().getSpec();
          default -> null;
        };
    return pod == null
        ? Stream.of()
        : Stream.concat(pod.getInitContainers().stream(), pod.getContainers().stream());
  }
}
