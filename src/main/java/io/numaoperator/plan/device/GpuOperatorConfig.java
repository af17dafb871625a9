package io.numaoperator.plan.device;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.api.nvidia.ClusterPolicy;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Provision.Remark;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The one field of a ClusterPolicy that the operator sets: spec.devicePlugin.config.name. Never
 * where Helm owns the object, and never over another name; the GPU Operator's DaemonSets are its
 * own.
 */
final class GpuOperatorConfig {
  private GpuOperatorConfig() {}

  /**
   * @param apply to be applied; without a spec what we had applied is given up
   */
  record Decision(Optional<ClusterPolicy> apply, List<Remark> remarks) {}

  static Decision decide(
      Provider provider, DevicePluginProvider.Input input, Map<String, Wish> wishes) {
    if (provider != Provider.GPUOperator) {
      return new Decision(Optional.empty(), List.of());
    }
    var remarks = new ArrayList<Remark>();
    for (var pool : input.pools()) {
      var site = NvidiaSite.of(pool.policy());
      boolean wanted =
          pool.nodes().stream().anyMatch(node -> wishes.get(node) instanceof Wish.Load);
      var found = find(input, site);
      if (found.isEmpty()) {
        remarks.add(
            new Remark(
                "NoClusterPolicy",
                "there is no ClusterPolicy %s: install the GPU Operator, or name its ClusterPolicy in devicePlugin.gpuOperator.clusterPolicy"
                    .formatted(site.clusterPolicy().orElse(""))));
      } else if (wanted && !isOurs(found.get(), site)) {
        var obstacle = obstacle(found.get(), site);
        if (obstacle.isPresent()) {
          remarks.add(obstacle.get());
        } else if (pool.policy().getSpec().mode == Mode.Enforce) {
          return new Decision(Optional.of(withName(found.get(), site)), remarks);
        }
      }
    }
    return new Decision(input.pools().isEmpty() ? givenUp(input) : Optional.empty(), remarks);
  }

  static Optional<ClusterPolicy> find(DevicePluginProvider.Input input, NvidiaSite site) {
    return input.clusterPolicies().stream()
        .filter(
            policy ->
                site.clusterPolicy().filter(policy.getMetadata().getName()::equals).isPresent())
        .findFirst();
  }

  static Optional<String> configName(ClusterPolicy policy) {
    return Optional.ofNullable(policy.getSpec())
        .flatMap(spec -> Optional.ofNullable(spec.devicePlugin))
        .flatMap(plugin -> Optional.ofNullable(plugin.config))
        .flatMap(config -> Optional.ofNullable(config.name))
        .filter(name -> !name.isEmpty());
  }

  private static boolean isOurs(ClusterPolicy policy, NvidiaSite site) {
    return configName(policy).filter(site.config().name()::equals).isPresent();
  }

  private static Optional<Remark> obstacle(ClusterPolicy policy, NvidiaSite site) {
    var name = policy.getMetadata().getName();
    if (Ownership.isHelms(policy)) {
      return Optional.of(
          new Remark(
              "ClusterPolicyIsHelms",
              "ClusterPolicy %s belongs to a Helm release, whose owner runs, once: helm upgrade RELEASE nvidia/gpu-operator --namespace %s --reuse-values --set devicePlugin.config.name=%s"
                  .formatted(name, site.config().namespace(), site.config().name())));
    }
    return configName(policy)
        .map(
            other ->
                new Remark(
                    "ClusterPolicyHasOtherConfig",
                    "ClusterPolicy %s has devicePlugin.config.name %s; ConfigMap %s has its configurations and more, so its owner runs, once: kubectl patch clusterpolicy %s --type merge -p '{\"spec\":{\"devicePlugin\":{\"config\":{\"name\":\"%s\"}}}}'"
                        .formatted(name, other, site.config(), name, site.config().name())));
  }

  private static ClusterPolicy withName(ClusterPolicy found, NvidiaSite site) {
    var policy = bare(found);
    policy.setSpec(new ClusterPolicy.Spec());
    policy.getSpec().devicePlugin = new ClusterPolicy.DevicePlugin();
    policy.getSpec().devicePlugin.config = new ClusterPolicy.Config();
    policy.getSpec().devicePlugin.config.name = site.config().name();
    return policy;
  }

  /** Once no node is left that loads from our ConfigMap. */
  private static Optional<ClusterPolicy> givenUp(DevicePluginProvider.Input input) {
    boolean used =
        input.nodes().values().stream()
            .flatMap(node -> node.mark().stream())
            .anyMatch(mark -> mark.provider() == Provider.GPUOperator);
    return used
        ? Optional.empty()
        : input.clusterPolicies().stream()
            .filter(GpuOperatorConfig::wasAppliedByUs)
            .findFirst()
            .map(GpuOperatorConfig::bare);
  }

  private static boolean wasAppliedByUs(ClusterPolicy policy) {
    return policy.getMetadata().getManagedFields() != null
        && policy.getMetadata().getManagedFields().stream()
            .anyMatch(
                entry ->
                    Names.OPERATOR_FIELD_MANAGER.equals(entry.getManager())
                        && "Apply".equals(entry.getOperation()));
  }

  private static ClusterPolicy bare(ClusterPolicy found) {
    var policy = new ClusterPolicy();
    policy.setMetadata(
        new ObjectMetaBuilder()
            .withName(found.getMetadata().getName())
            .withUid(found.getMetadata().getUid()) // this one, and none in its place
            .build());
    policy.setSpec(null);
    policy.setStatus(null);
    return policy;
  }
}
