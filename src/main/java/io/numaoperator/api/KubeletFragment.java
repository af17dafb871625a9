package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The fields of KubeletConfiguration (kubelet.config.k8s.io/v1beta1) that the operator manages.
 * Being typed is a safety measure: the API server drops any other field and the agent refuses it,
 * so that write access to this object is not a way to configure a kubelet freely (which would be
 * root on the node). Names and value types are the kubelet's.
 */
@JsonPropertyOrder({
  "cpuManagerPolicy",
  "cpuManagerPolicyOptions",
  "reservedSystemCPUs",
  "memoryManagerPolicy",
  "reservedMemory",
  "topologyManagerPolicy",
  "topologyManagerScope",
  "topologyManagerPolicyOptions",
  "kubeReserved",
  "systemReserved",
  "evictionHard",
  "kubeReservedCgroup",
  "systemReservedCgroup",
  "enforceNodeAllocatable"
})
public class KubeletFragment {
  @Size(max = 16)
  @JsonPropertyDescription("none or static.")
  public String cpuManagerPolicy;

  @Size(max = 16)
  @JsonPropertyDescription("Options of the CPU Manager policy; values are strings.")
  public Map<String, String> cpuManagerPolicyOptions;

  @Size(max = 1024)
  @JsonPropertyDescription("cpuset that is kept for the system.")
  public String reservedSystemCPUs;

  @Size(max = 16)
  @JsonPropertyDescription("None or Static.")
  public String memoryManagerPolicy;

  @Size(max = 64)
  @JsonPropertyDescription("Memory kept for the system, per NUMA node.")
  public List<MemoryReservation> reservedMemory;

  @Size(max = 32)
  @JsonPropertyDescription("none, best-effort, restricted or single-numa-node.")
  public String topologyManagerPolicy;

  @Size(max = 16)
  @JsonPropertyDescription("container or pod.")
  public String topologyManagerScope;

  @Size(max = 16)
  @JsonPropertyDescription("Options of the Topology Manager policy; values are strings.")
  public Map<String, String> topologyManagerPolicyOptions;

  @Size(max = 8)
  @JsonPropertyDescription("Reserved for Kubernetes' own daemons.")
  public Map<String, String> kubeReserved;

  @Size(max = 8)
  @JsonPropertyDescription("Reserved for the system's daemons.")
  public Map<String, String> systemReserved;

  @Size(max = 16)
  @JsonPropertyDescription("Hard eviction thresholds.")
  public Map<String, String> evictionHard;

  @Size(max = 253)
  @JsonPropertyDescription("Cleared where reservedSystemCPUs is set: the kubelet allows only one.")
  public String kubeReservedCgroup;

  @Size(max = 253)
  @JsonPropertyDescription("Cleared where reservedSystemCPUs is set: the kubelet allows only one.")
  public String systemReservedCgroup;

  @Size(max = 8)
  @JsonPropertyDescription("What node allocatable is enforced on.")
  public List<String> enforceNodeAllocatable;

  /** One entry of reservedMemory. */
  public static class MemoryReservation {
    @Required
    @JsonPropertyDescription("The NUMA node's id.")
    public Integer numaNode;

    @Required
    @Size(max = 4)
    @JsonPropertyDescription("Amounts by resource name; only memory is allowed by the kubelet.")
    public Map<String, String> limits;

    public MemoryReservation() {}

    public MemoryReservation(int numaNode, String memory) {
      this.numaNode = numaNode;
      this.limits = Map.of("memory", memory);
    }
  }

  public List<MemoryReservation> reservedMemoryOrEmpty() {
    return reservedMemory == null ? new ArrayList<>() : reservedMemory;
  }
}
