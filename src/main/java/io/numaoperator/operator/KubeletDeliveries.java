package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.SharedSettings;
import io.numaoperator.plan.delivery.DeliveryChoice;
import io.numaoperator.plan.delivery.KubeletDelivery;
import io.numaoperator.plan.delivery.PlannedNode;
import io.numaoperator.readiness.Verdict;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Kubelets that somebody else than the agent configures: applies what the deliveries want for each
 * policy's nodes.
 */
@ApplicationScoped
class KubeletDeliveries {
  private final ClusterCache cache;
  private final ManagedObjects objects;
  private final OpenShift openShift;
  private final DevicePlugins devicePlugins;
  private final OperatorSettings settings;
  private final Plans plans = new Plans();
  private final AgentUpdates agents;

  @Inject
  KubeletDeliveries(
      ClusterCache cache,
      ManagedObjects objects,
      OpenShift openShift,
      DevicePlugins devicePlugins,
      OperatorSettings settings,
      AgentUpdates agents) {
    this.agents = agents;
    this.devicePlugins = devicePlugins;
    this.cache = cache;
    this.objects = objects;
    this.openShift = openShift;
    this.settings = settings;
    cache
        .states()
        .onChange(
            (old, state) -> false,
            state -> {
              if (cache.states().get(state.getMetadata().getName()).isEmpty()) {
                plans.forget(state.getMetadata().getName());
              }
            });
  }

  void onChange(Runnable action) {
    openShift.onChange(action);
  }

  /** What every node of a pass is assessed with. */
  ClusterView view(SchedulerState scheduler) {
    return ClusterView.of(
        cache,
        agents.wanted(),
        scheduler,
        settings.namespace(),
        openShift.facts(),
        devicePlugins.view(),
        plans);
  }

  /**
   * Of all policies, since what none of them wants goes.
   *
   * @return what keeps the kubelets of this policy from being configured
   */
  Optional<Verdict> apply(NumaPolicy policy, ClusterView cluster) {
    var wanted = new ArrayList<HasMetadata>();
    Optional<Verdict> problem = Optional.empty();
    for (var one : cache.livePolicies()) {
      for (var provision : provisions(one, cluster)) {
        if (provision instanceof Provision.Objects planned) {
          wanted.addAll(SharedSettings.enforces(one) ? planned.objects() : there(planned));
        } else if (isSame(one, policy)) {
          problem = problem.or(() -> Problems.of(provision));
        }
      }
    }
    try {
      objects.apply(Part.KUBELET, wanted);
    } catch (ManagedObjects.NotOursException notOurs) {
      return Optional.of(Verdict.no("NotOurs", notOurs.getMessage()));
    } catch (KubernetesClientException refused) {
      return Optional.of(
          Verdict.no("ApplyFailed", "the API server refused an object: " + refused.getMessage()));
    }
    return problem;
  }

  /** In mode Observe what is there stays as it is. */
  private List<? extends HasMetadata> there(Provision.Objects planned) {
    return planned.objects().stream().flatMap(object -> objects.find(object).stream()).toList();
  }

  private List<Provision> provisions(NumaPolicy policy, ClusterView cluster) {
    boolean concerned =
        cache.statesOf(policy.getMetadata().getName()).stream()
            .anyMatch(state -> PlanStanding.delivery(policy, state) != Delivery.Agent);
    var nodes =
        concerned ? PolicyReconciler.assess(policy, cache, cluster) : List.<NodeAssessment>of();
    return Arrays.stream(Delivery.values())
        .map(delivery -> provision(policy, cluster, delivery, nodes))
        .flatMap(Optional::stream)
        .toList();
  }

  private Optional<Provision> provision(
      NumaPolicy policy, ClusterView cluster, Delivery delivery, List<NodeAssessment> nodes) {
    var its = nodes.stream().filter(node -> node.standing().delivery() == delivery).toList();
    if (its.isEmpty()) {
      return Optional.empty();
    }
    var planned = its.stream().flatMap(node -> node.delivered().stream()).toList();
    return Optional.of(DeliveryChoice.delivery(delivery).plan(input(policy, cluster, planned)));
  }

  private KubeletDelivery.Input input(
      NumaPolicy policy, ClusterView cluster, List<PlannedNode> nodes) {
    return new KubeletDelivery.Input(
        settings.namespace(),
        policy,
        nodes,
        policy.getSpec().mode == Mode.Enforce && !PolicyReconciler.isPaused(policy),
        cluster.openShift());
  }

  private static boolean isSame(NumaPolicy one, NumaPolicy other) {
    return one.getMetadata().getName().equals(other.getMetadata().getName());
  }
}
