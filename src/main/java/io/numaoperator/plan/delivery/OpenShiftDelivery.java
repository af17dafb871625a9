package io.numaoperator.plan.delivery;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.openshift.KubeletConfig;
import io.numaoperator.api.openshift.MachineConfigPool;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A KubeletConfig for one MachineConfigPool. The Machine Config Operator renders, drains, reboots
 * and reports; the pool's own maxUnavailable governs.
 *
 * <p>It is applied once it may be, and never deleted by us: that would reconfigure and reboot the
 * whole pool.
 */
final class OpenShiftDelivery implements KubeletDelivery {
  static final String PROVIDER = "openshift";

  @Override
  public Provision plan(Input input) {
    if (input.nodes().isEmpty()) {
      return Provision.Objects.none(PROVIDER);
    }
    return switch (PoolFit.of(input)) {
      case PoolFit.Misfit(var reason, var message) -> new Provision.Refused(reason, message);
      case PoolFit.Fits(var selector) -> plan(input, selector);
    };
  }

  private static Provision plan(Input input, Map<String, String> selector) {
    if (!input.enforced()) {
      return Provision.Objects.none(PROVIDER);
    }
    return input.nodes().stream()
        .flatMap(node -> node.heldBack().stream())
        .findFirst()
        .<Provision>map(why -> new Provision.NotYet("PoolHeldBack", why))
        .orElseGet(
            () -> new Provision.Objects(PROVIDER, List.of(config(input, selector)), List.of()));
  }

  private static KubeletConfig config(Input input, Map<String, String> selector) {
    var config = new KubeletConfig();
    // no owner: the garbage collector would have the pool rebooted when a policy goes
    var metadata = new Ownership(Part.KUBELET, PROVIDER, List.of()).metadata(name(input));
    metadata.getLabels().put(Ownership.RETAIN_LABEL, "true");
    config.setMetadata(metadata);
    config.setSpec(new KubeletConfig.Spec());
    config.getSpec().machineConfigPoolSelector =
        new LabelSelectorBuilder().withMatchLabels(selector).build();
    config.getSpec().kubeletConfig = settings(input.nodes().getFirst().fragment());
    return config;
  }

  /** The name of a policy's KubeletConfig. */
  static String name(Input input) {
    return "numaoperator-" + input.policy().getMetadata().getName();
  }

  /**
   * The fragment less what the Machine Config Operator sees to itself: with reservedSystemCPUs it
   * clears the cgroup and what is enforced on it, and an empty value it cannot merge (pkg/
   * controller/kubelet-config, mergo.WithOverride).
   */
  private static ObjectNode settings(KubeletFragment fragment) {
    ObjectNode settings =
        JsonMapper.builder()
            .serializationInclusion(JsonInclude.Include.NON_NULL)
            .build()
            .valueToTree(fragment);
    settings.remove(
        List.of("kubeReservedCgroup", "systemReservedCgroup", "enforceNodeAllocatable"));
    return settings;
  }

  @Override
  public Optional<Provision.Remark> awaits(Input input, PlannedNode node) {
    var pool = input.openShift().poolOf(node.name());
    return pool.flatMap(PoolStatus::degraded)
        .or(() -> PoolStatus.failure(input.openShift().configs(), name(input)))
        .or(() -> pool.map(OpenShiftDelivery::underWay));
  }

  private static Provision.Remark underWay(MachineConfigPool pool) {
    return new Provision.Remark(
        "WaitingForPool",
        "MachineConfigPool %s brings it to its machines by itself, within its own maxUnavailable%s"
            .formatted(OpenShiftFacts.name(pool), PoolStatus.progress(pool)));
  }
}
