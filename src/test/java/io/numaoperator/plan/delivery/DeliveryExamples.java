package io.numaoperator.plan.delivery;

import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.openshift.KubeletConfig;
import io.numaoperator.api.openshift.MachineConfigPool;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.Fragments;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.delivery.KubeletDelivery.Input;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Nodes, pools and what each delivery makes of them. */
public final class DeliveryExamples {
  static final String GPU_ROLE = "node-role.kubernetes.io/worker-gpu";
  static final String WORKER_ROLE = "node-role.kubernetes.io/worker";
  static final String POOL_LABEL = "pools.operator.machineconfiguration.openshift.io/";

  private DeliveryExamples() {}

  /** One provision of each delivery, with objects where it makes any. */
  public static List<Provision> all(NumaPolicy policy) {
    return Arrays.stream(Delivery.values())
        .map(
            delivery ->
                DeliveryChoice.delivery(delivery)
                    .plan(
                        new Input(
                            "numa-operator-system",
                            policy,
                            List.of(
                                node("a", Platform.OpenShift, "4Gi"),
                                node("b", Platform.OpenShift, "4Gi")),
                            true,
                            openShift(pool("gpu", GPU_ROLE)))))
        .toList();
  }

  static KubeletFragment fragment(String each) {
    return Fragments.fragment(
        """
        cpuManagerPolicy: static
        cpuManagerPolicyOptions: {full-pcpus-only: "true", align-by-socket: "false"}
        reservedSystemCPUs: 0,8,16,24
        memoryManagerPolicy: Static
        reservedMemory:
        - {numaNode: 0, limits: {memory: %1$s}}
        - {numaNode: 1, limits: {memory: %1$s}}
        topologyManagerPolicy: single-numa-node
        topologyManagerScope: pod
        kubeReserved: {memory: 1Gi}
        systemReserved: {memory: 7068Mi}
        evictionHard: {memory.available: 100Mi}
        kubeReservedCgroup: ""
        systemReservedCgroup: ""
        enforceNodeAllocatable: [pods]
        """
            .formatted(each));
  }

  static PlannedNode node(String name, Platform platform, String each) {
    var fragment = fragment(each);
    return new PlannedNode(
        name, Optional.ofNullable(platform), fragment, DropIn.hash(fragment), Optional.empty());
  }

  static MachineConfigPool pool(String name, String role) {
    var pool = new MachineConfigPool();
    pool.setMetadata(
        new ObjectMetaBuilder()
            .withName(name)
            .addToLabels(POOL_LABEL + name, "")
            .addToLabels("made-by", "us")
            .build());
    pool.setSpec(new MachineConfigPool.Spec());
    pool.getSpec().nodeSelector = new LabelSelectorBuilder().addToMatchLabels(role, "").build();
    return pool;
  }

  static KubeletConfig config(String name, String yaml) {
    var config = new KubeletConfig();
    config.setMetadata(new ObjectMetaBuilder().withName(name).build());
    config.setSpec(new KubeletConfig.Spec());
    config.getSpec().machineConfigPoolSelector =
        new LabelSelectorBuilder().addToMatchLabels(POOL_LABEL + "gpu", "").build();
    config.getSpec().kubeletConfig = Fragments.config(yaml);
    return config;
  }

  /** Nodes a and b in pool gpu, c in pool worker. */
  static OpenShiftFacts openShift(MachineConfigPool gpu, KubeletConfig... configs) {
    return openShift(List.of(pool("worker", WORKER_ROLE), gpu), configs);
  }

  static OpenShiftFacts openShift(List<MachineConfigPool> pools, KubeletConfig... configs) {
    return new OpenShiftFacts(
        pools,
        List.of(configs),
        Map.of(
            "a", Map.of(WORKER_ROLE, "", GPU_ROLE, ""),
            "b", Map.of(WORKER_ROLE, "", GPU_ROLE, ""),
            "c", Map.of(WORKER_ROLE, "")));
  }
}
