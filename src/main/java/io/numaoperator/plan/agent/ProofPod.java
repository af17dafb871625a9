package io.numaoperator.plan.agent;

import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.plan.NodePlacement;
import io.numaoperator.plan.Ownership;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A pod that does nothing but hold what a workload would: Guaranteed, with whole CPUs and perhaps a
 * device. Its node is given, so that no scheduler has a part in what it shows. What its kubelet
 * decides it decides before it pulls an image; the operator's own is on every node that runs an
 * agent.
 *
 * <p>It has no priority class: to admit a critical pod a kubelet ends others
 * (CriticalPodAdmission), and nobody's workload is worth a proof. It ends by itself, should nobody
 * come to remove it.
 */
public final class ProofPod {
  public static final String NAME = "numa-proof";
  private static final String MEMORY = "32Mi";
  private static final long LONGEST_SECONDS = 600;

  private ProofPod() {}

  /**
   * @param state of the node that is proven; with it the pod goes
   * @param name of the pod, without namespace
   * @param cpus exclusive CPUs
   * @param device the extended resource that it asks for one of
   * @param scheduler spec.schedulerName of aligned pods, so that it is not taken for another's
   */
  public static Pod of(
      NumaNodeState state,
      String namespace,
      String image,
      String name,
      long attempt,
      int cpus,
      Optional<String> device,
      String scheduler) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .withLabels(
            Map.of(
                Ownership.NAME_LABEL,
                NAME,
                Ownership.PART_OF_LABEL,
                Ownership.OPERATOR,
                Ownership.MANAGED_BY_LABEL,
                Ownership.OPERATOR,
                Names.PROOF_LABEL,
                Long.toString(attempt)))
        .withOwnerReferences(
            new OwnerReferenceBuilder()
                .withApiVersion(state.getApiVersion())
                .withKind(state.getKind())
                .withName(state.getMetadata().getName())
                .withUid(state.getMetadata().getUid())
                .build())
        .endMetadata()
        .withNewSpec()
        .withNodeName(state.getMetadata().getName())
        .withSchedulerName(scheduler)
        .withTolerations(NodePlacement.everywhere())
        .withRestartPolicy("Never")
        .withActiveDeadlineSeconds(LONGEST_SECONDS)
        .withTerminationGracePeriodSeconds(1L)
        .withAutomountServiceAccountToken(false)
        .withEnableServiceLinks(false)
        .withNewSecurityContext()
        .withRunAsNonRoot(true)
        .withRunAsUser(65534L)
        .withRunAsGroup(65534L)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .addNewContainer()
        .withName("proof")
        .withImage(image)
        .withImagePullPolicy("IfNotPresent")
        .withCommand("sleep", Long.toString(LONGEST_SECONDS))
        .withNewResources()
        .withRequests(amounts(cpus, device))
        .withLimits(amounts(cpus, device))
        .endResources()
        .withNewSecurityContext()
        .withAllowPrivilegeEscalation(false)
        .withReadOnlyRootFilesystem(true)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .endContainer()
        .endSpec()
        .build();
  }

  /** Whether the API server has it with what was asked for, and nothing that breaks its class. */
  public static boolean isAsAsked(Pod pod, int cpus, Optional<String> device) {
    var containers = pod.getSpec().getContainers();
    if (containers.size() != 1 || containers.getFirst().getResources() == null) {
      return false;
    }
    var resources = containers.getFirst().getResources();
    return List.of(
            Objects.requireNonNullElse(resources.getRequests(), Map.<String, Quantity>of()),
            Objects.requireNonNullElse(resources.getLimits(), Map.<String, Quantity>of()))
        .stream()
        .allMatch(found -> contains(found, amounts(cpus, device)));
  }

  private static boolean contains(Map<String, Quantity> found, Map<String, Quantity> asked) {
    return asked.entrySet().stream()
        .allMatch(
            amount ->
                found.containsKey(amount.getKey())
                    && found
                            .get(amount.getKey())
                            .getNumericalAmount()
                            .compareTo(amount.getValue().getNumericalAmount())
                        == 0);
  }

  private static Map<String, Quantity> amounts(int cpus, Optional<String> device) {
    var amounts = new TreeMap<String, Quantity>();
    amounts.put("cpu", new Quantity(Integer.toString(cpus)));
    amounts.put("memory", new Quantity(MEMORY));
    device.ifPresent(resource -> amounts.put(resource, new Quantity("1")));
    return amounts;
  }
}
