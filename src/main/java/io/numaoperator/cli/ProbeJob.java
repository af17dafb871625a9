package io.numaoperator.cli;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.util.Map;

/**
 * The Job of a probe: one pod on one node, in the shared CPUs, with no permission and no token. It
 * conforms to the Pod Security Standard restricted.
 *
 * @param memoryMib what is read; the pod is given half a GiB more
 * @param seconds after which Kubernetes ends it, whatever became of who asked for it
 */
record ProbeJob(String node, String image, int memoryMib, int repeats, int threads, int seconds) {
  private static final int JAVA_MIB = 512;
  private static final int KEPT_SECONDS = 300;
  private static final long NOBODY = 65532;

  Job make() {
    var memory = new Quantity((memoryMib + JAVA_MIB) + "Mi");
    return new JobBuilder()
        .withNewMetadata()
        .withGenerateName("numa-probe-")
        .addToLabels("app.kubernetes.io/name", "numa-probe")
        .endMetadata()
        .withNewSpec()
        .withBackoffLimit(0)
        .withActiveDeadlineSeconds((long) seconds)
        .withTtlSecondsAfterFinished(KEPT_SECONDS)
        .withNewTemplate()
        .withNewMetadata()
        .addToLabels("app.kubernetes.io/name", "numa-probe")
        .endMetadata()
        .withNewSpec()
        .withRestartPolicy("Never")
        .withAutomountServiceAccountToken(false)
        .withEnableServiceLinks(false)
        .withTerminationGracePeriodSeconds(0L)
        .addNewToleration()
        .withOperator("Exists")
        .endToleration()
        .withNewAffinity()
        .withNewNodeAffinity()
        .withNewRequiredDuringSchedulingIgnoredDuringExecution()
        .addNewNodeSelectorTerm()
        .addNewMatchField()
        .withKey("metadata.name")
        .withOperator("In")
        .withValues(node)
        .endMatchField()
        .endNodeSelectorTerm()
        .endRequiredDuringSchedulingIgnoredDuringExecution()
        .endNodeAffinity()
        .endAffinity()
        .withNewSecurityContext()
        .withRunAsNonRoot(true)
        .withRunAsUser(NOBODY)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .addNewContainer()
        .withName("probe")
        .withImage(image)
        .withCommand("numa-operator", "probe")
        .withArgs(
            "--memory-mib",
            String.valueOf(memoryMib),
            "--repeats",
            String.valueOf(repeats),
            "--threads",
            String.valueOf(threads))
        .withNewResources()
        .withRequests(Map.of("cpu", new Quantity("100m"), "memory", memory))
        .withLimits(Map.of("memory", memory))
        .endResources()
        .withNewSecurityContext()
        .withReadOnlyRootFilesystem(true)
        .withAllowPrivilegeEscalation(false)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }
}
