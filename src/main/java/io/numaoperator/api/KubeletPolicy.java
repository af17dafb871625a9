package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** The kubelet's three managers, in the words of KubeletConfiguration. */
@ValidationRule(
    value =
        "!(self.topologyManager.policy == 'SingleNUMANode' && has(self.cpuManager.options) &&"
            + " has(self.cpuManager.options.alignBySocket) && self.cpuManager.options.alignBySocket)",
    message =
        "cpuManager.options.alignBySocket cannot be combined with topologyManager.policy"
            + " SingleNUMANode: the kubelet refuses to start")
public class KubeletPolicy {
  @Default("{}")
  @JsonPropertyDescription("Which placements the kubelet admits across CPU, memory and devices.")
  public TopologyManager topologyManager = new TopologyManager();

  @Default("{}")
  @JsonPropertyDescription("Exclusive CPUs for Guaranteed containers with whole CPUs.")
  public CpuManager cpuManager = new CpuManager();

  @Default("{}")
  @JsonPropertyDescription("Memory from the NUMA nodes that the pod was aligned to.")
  public MemoryManager memoryManager = new MemoryManager();

  @Default("Auto")
  @JsonPropertyDescription(
      "Who writes the kubelet's configuration. Agent: the operator's agent, as a drop-in file that"
          + " it verifies and can roll back (kubeadm, k3s and RKE2 since 1.32, EKS on Amazon Linux"
          + " 2023, plain systemd units); a kubelet without a drop-in directory is given one."
          + " OpenShift: a KubeletConfig for the Machine Config Operator; the policy must select one"
          + " whole MachineConfigPool of like machines, and the pool's maxUnavailable governs."
          + " External: the node's owner, with what the operator renders into a ConfigMap (Talos,"
          + " Bottlerocket, GKE, AKS); the operator then only verifies. Auto: per node, by what it"
          + " is recognised as.")
  public Delivery delivery = Delivery.Auto;

  /** Who writes the kubelet's configuration. */
  public enum Delivery {
    Auto,
    Agent,
    OpenShift,
    External
  }

  /** topologyManagerPolicy, topologyManagerScope and their options. */
  @ValidationRule(
      value = "self.policy != 'None' || !has(self.options)",
      message = "topologyManager.options need a topologyManager.policy other than None")
  public static class TopologyManager {
    @Default("SingleNUMANode")
    @JsonPropertyDescription(
        "None: no alignment. BestEffort: align where possible, admit anyway. Restricted: reject a"
            + " pod that cannot have its preferred alignment. SingleNUMANode: reject a pod whose"
            + " resources do not all come from one NUMA node.")
    public TopologyPolicy policy = TopologyPolicy.SingleNUMANode;

    @Default("Pod")
    @JsonPropertyDescription(
        "What is aligned as one. Pod: all containers of a pod together. Container: each container"
            + " for itself (HAMi's documents ask for it).")
    public TopologyScope scope = TopologyScope.Pod;

    @JsonPropertyDescription("Options of the topology policy. They need a policy other than None.")
    public TopologyOptions options;
  }

  /** topologyManagerPolicyOptions. */
  public static class TopologyOptions {
    @JsonPropertyDescription(
        "prefer-closest-numa-nodes: where several NUMA nodes are needed, take those with the least"
            + " distance. Kubernetes 1.28 beta, 1.32 GA.")
    public Boolean preferClosestNumaNodes;

    @Min(8)
    @Max(64)
    @JsonPropertyDescription(
        "max-allowable-numa-nodes: lets the kubelet start on machines with more than 8 NUMA nodes."
            + " Kubernetes 1.31 beta, 1.35 GA. When left out, a machine with more than 8 gets the"
            + " number that it needs, up to 16; beyond that admission grows too slow and the node"
            + " reports TooManyZones until you set it.")
    public Integer maxAllowableNumaNodes;
  }

  /** cpuManagerPolicy, its options, and the CPUs that stay with the system. */
  @ValidationRule(
      value = "self.policy == 'Static' || !has(self.options)",
      message = "cpuManager.options need cpuManager.policy Static")
  public static class CpuManager {
    @Default("Static")
    @JsonPropertyDescription(
        "Static: Guaranteed containers that ask for whole CPUs get them for themselves. None: all"
            + " containers share all CPUs, and CPUs take no part in alignment.")
    public StaticOrNone policy = StaticOrNone.Static;

    @Default("{\"coresPerNumaNode\": 1}")
    @JsonPropertyDescription(
        "The CPUs that are kept for the system (reservedSystemCPUs); exclusive CPUs are never taken"
            + " from them. Exactly one of the fields. Only used with policy Static.")
    public ReservedCpus reserved = ReservedCpus.coresPerNumaNode(1);

    @JsonPropertyDescription("Options of the static policy (cpuManagerPolicyOptions).")
    public CpuOptions options;
  }

  /** Which CPUs the system keeps: exactly one of the fields. */
  @ValidationRule(
      value = "has(self.cpus) != has(self.coresPerNumaNode)",
      message = "give exactly one of cpus and coresPerNumaNode")
  public static class ReservedCpus {
    @Size(min = 1, max = 1024)
    @Pattern("^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$")
    @JsonPropertyDescription(
        "A cpuset such as 0-1,64-65, the same on every node. It must consist of online CPUs of each"
            + " node and should hold both hardware threads of a core.")
    public String cpus;

    @Min(1)
    @Max(64)
    @JsonPropertyDescription(
        "How many physical cores to keep on each NUMA node that has CPUs: the lowest-numbered ones,"
            + " with all their hardware threads. Computed per node, so unlike machines can share a"
            + " policy. Default 1.")
    public Integer coresPerNumaNode;

    static ReservedCpus coresPerNumaNode(int cores) {
      var reserved = new ReservedCpus();
      reserved.coresPerNumaNode = cores;
      return reserved;
    }
  }

  /** cpuManagerPolicyOptions. */
  @ValidationRule(
      value =
          "!(has(self.distributeCpusAcrossCores) && self.distributeCpusAcrossCores) ||"
              + " !((has(self.fullPhysicalCpusOnly) && self.fullPhysicalCpusOnly) ||"
              + " (has(self.distributeCpusAcrossNuma) && self.distributeCpusAcrossNuma) ||"
              + " (has(self.preferAlignCpusByUncoreCache) && self.preferAlignCpusByUncoreCache))",
      message =
          "distributeCpusAcrossCores cannot be combined with fullPhysicalCpusOnly,"
              + " distributeCpusAcrossNuma or preferAlignCpusByUncoreCache: the kubelet refuses to"
              + " start")
  @ValidationRule(
      value =
          "!(has(self.preferAlignCpusByUncoreCache) && self.preferAlignCpusByUncoreCache &&"
              + " has(self.distributeCpusAcrossNuma) && self.distributeCpusAcrossNuma)",
      message =
          "preferAlignCpusByUncoreCache cannot be combined with distributeCpusAcrossNuma: the"
              + " kubelet refuses to start")
  public static class CpuOptions {
    @JsonPropertyDescription(
        "full-pcpus-only: exclusive CPUs come as whole physical cores; a pod that asks for an odd"
            + " number of threads is rejected with SMTAlignmentError. Beta 1.23, GA 1.33.")
    public Boolean fullPhysicalCpusOnly;

    @JsonPropertyDescription(
        "distribute-cpus-across-numa: spread CPUs evenly where one NUMA node is not enough. Beta"
            + " 1.33; before that alpha.")
    public Boolean distributeCpusAcrossNuma;

    @JsonPropertyDescription(
        "align-by-socket: treat a socket as the unit of alignment. Alpha since 1.25: the kubelet"
            + " needs the feature gate CPUManagerPolicyAlphaOptions. Not with SingleNUMANode.")
    public Boolean alignBySocket;

    @JsonPropertyDescription(
        "distribute-cpus-across-cores: prefer one thread per core. Alpha since 1.31: the kubelet"
            + " needs the feature gate CPUManagerPolicyAlphaOptions.")
    public Boolean distributeCpusAcrossCores;

    @JsonPropertyDescription(
        "strict-cpu-reservation: nothing but the system runs on the reserved CPUs, not even"
            + " BestEffort pods. Alpha 1.32, beta 1.33, GA 1.35.")
    public Boolean strictCpuReservation;

    @JsonPropertyDescription(
        "prefer-align-cpus-by-uncorecache: prefer CPUs that share a last-level cache. Alpha 1.32,"
            + " beta 1.34, GA 1.36.")
    public Boolean preferAlignCpusByUncoreCache;
  }

  /** memoryManagerPolicy and the memory that stays with the system. */
  public static class MemoryManager {
    @Default("Static")
    @JsonPropertyDescription(
        "Static: a Guaranteed container's memory and hugepages come from the NUMA nodes of its"
            + " alignment. None: memory takes no part in alignment.")
    public StaticOrNone policy = StaticOrNone.Static;

    @JsonPropertyDescription(
        "How much memory is kept for the system (reservedMemory, and the matching systemReserved)."
            + " At most one of the fields. When left out: what the node already reserves"
            + " (kubeReserved + systemReserved + evictionHard), split over its NUMA nodes. The"
            + " operator makes both sides equal to the byte, as the kubelet demands.")
    public ReservedMemory reserved;
  }

  /** How much memory the system keeps. */
  @ValidationRule(
      value = "has(self.perNumaNode) != has(self.total)",
      message = "give exactly one of perNumaNode and total")
  public static class ReservedMemory {
    @Size(min = 1, max = 24)
    @Pattern(MEMORY_PATTERN)
    @JsonPropertyDescription(
        "On each NUMA node that has CPUs, for example 4Gi. The operator raises systemReserved so"
            + " that the sum fits.")
    public String perNumaNode;

    @Size(min = 1, max = 24)
    @Pattern(MEMORY_PATTERN)
    @JsonPropertyDescription(
        "On the whole node, for example 6Gi, split over its NUMA nodes in proportion to their"
            + " memory.")
    public String total;
  }

  /** A positive Kubernetes quantity of whole bytes. */
  static final String MEMORY_PATTERN = "^[1-9][0-9]{0,15}(Ki|Mi|Gi|Ti|k|M|G|T)?$";

  /** A manager that is either static or off. */
  public enum StaticOrNone {
    None,
    Static
  }

  /** topologyManagerPolicy, in CamelCase as the API conventions ask. */
  public enum TopologyPolicy {
    None,
    BestEffort,
    Restricted,
    SingleNUMANode
  }

  /** topologyManagerScope. */
  public enum TopologyScope {
    Container,
    Pod
  }
}
