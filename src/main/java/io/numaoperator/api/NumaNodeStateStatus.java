package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crdv2.generator.v1.SchemaCustomizer;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What was seen on the node. conditions and plan are the operator's; all else is the agent's. */
@SchemaCustomizer(value = ListMap.class, input = "conditions=type")
@SchemaCustomizer(
    value = AtomicMap.class,
    input = "attempt,baseline,containers,effective,files,inventory,plan,stateFiles,topology")
public class NumaNodeStateStatus {
  @Size(max = 16)
  @JsonPropertyDescription(
      "KubeletConfigured, DevicesReporting, TopologyPublished, SchedulerAware and, over all of"
          + " them, AlignmentReady: a pod put on this node now will be aligned. Written by the"
          + " operator.")
  public List<Condition> conditions = new ArrayList<>();

  @JsonPropertyDescription(
      "What the node's policy means for its kubelet, and what would change now. Written by the"
          + " operator, in mode Observe too. Absent while it is not known, or is refused (see"
          + " condition KubeletConfigured).")
  public Plan plan;

  @JsonPropertyDescription("The last attempt to change this node's kubelet.")
  public Attempt attempt;

  @Size(max = 64)
  @JsonPropertyDescription("The boot that these observations are from.")
  public String bootId;

  @Size(max = 64)
  @JsonPropertyDescription(
      "Hash of the operator's drop-in file as it is on the node's disk; where the kubelet's main file"
          + " is edited instead, of what was put into it, while nobody wrote that file since. Absent"
          + " when there is neither.")
  public String dropInHash;

  @JsonPropertyDescription("What the node consists of.")
  public Inventory inventory;

  @JsonPropertyDescription("What the running kubelet says its settings are.")
  public EffectiveKubelet effective;

  @JsonPropertyDescription(
      "The node's own settings: what its kubelet would run with if nothing of the operator were on"
          + " the node, from the node's own files and flags. Plans are made from these, so that"
          + " they do not depend on what was applied before; rollout.onDelete Restore goes back to"
          + " these. Where somebody else than the agent delivers, it is what runs.")
  public KubeletFragment baseline;

  @JsonPropertyDescription(
      "What the kubelet's configuration files say of the managed fields beside the operator's"
          + " drop-in.")
  public ConfigFiles files;

  @JsonPropertyDescription("The policies recorded in the kubelet's state files.")
  public StateFiles stateFiles;

  @JsonPropertyDescription("How the containers on this node are placed.")
  public Containers containers;

  @JsonPropertyDescription(
      "How the node's NodeResourceTopology compares with what the kubelet says.")
  public TopologyComparison topology;

  @JsonPropertyDescription(
      "What kept the agent from observing, when something did: its observations above are from"
          + " before.")
  @Size(max = 1024)
  public String agentError;

  /** What a policy means for one kubelet. */
  public static class Plan {
    @Required
    @Size(min = 12, max = 64)
    @JsonPropertyDescription(
        "Hash of what the kubelet is to be set to. It stays the same while the plan is carried out."
            + " Nodes of the same shape (zones, CPUs, own settings) have the same: amounts of memory"
            + " that follow from the exact size of a machine's memory are not part of it, what they"
            + " are computed from is.")
    public String hash;

    @Size(max = 64)
    @JsonPropertyDescription(
        "What Enforce would change in the configuration that the kubelet runs with, value by value;"
            + " empty when it is as planned.")
    public List<Change> changes = new ArrayList<>();

    @JsonPropertyDescription("How many more changes there are than are listed.")
    public Integer changesLeftOut;

    @Size(max = 16)
    @JsonPropertyDescription("What a person should know about the plan.")
    public List<String> notes = new ArrayList<>();

    @Size(max = 1024)
    @JsonPropertyDescription(
        "What would stop this plan, or the kubelet, after an upgrade to the next Kubernetes minor"
            + " version. It holds nothing up now.")
    public String nextVersion;
  }

  /** One value of a kubelet's configuration. */
  public static class Change {
    @Required
    @Size(max = 256)
    @JsonPropertyDescription(
        "The field in the kubelet's own names, with the key of a map: cpuManagerPolicy,"
            + " evictionHard[memory.available], reservedMemory[0].memory.")
    public String field;

    @Size(max = 1024)
    @JsonPropertyDescription("The value now; absent when it is not set.")
    public String from;

    @Size(max = 1024)
    @JsonPropertyDescription("The value then; absent when it will not be set.")
    public String to;
  }

  /** One attempt to change the kubelet, from grant to result. */
  public static class Attempt {
    @JsonPropertyDescription("The number in the grant.")
    public Long number;

    @JsonPropertyDescription("Hash of the fragment that was applied.")
    public String hash;

    @JsonPropertyDescription("Where it is, or ended.")
    public Step step;

    @JsonPropertyDescription("When this step began (RFC 3339).")
    public String since;

    @JsonPropertyDescription("How it ended; absent while it runs.")
    public Result result;

    @Size(max = 2048)
    @JsonPropertyDescription("Why it failed: the kubelet's own line where there is one.")
    public String error;

    @JsonPropertyDescription(
        "What the proof pods have shown of the changed kubelet; absent where none were asked for.")
    public NumaNodeStateSpec.ProofVerdict proof;

    @Size(max = 1024)
    @JsonPropertyDescription("The same in words.")
    public String proofMessage;
  }

  /** The steps of an attempt, in order. */
  public enum Step {
    Preparing,
    Stopping,
    ClearingState,
    Writing,
    Starting,
    Verifying,
    Proving,
    RollingBack,
    VerifyingRollback,
    Done
  }

  /** How an attempt ended. */
  public enum Result {
    Succeeded,
    RolledBack,
    RollbackFailed,
    Refused
  }

  /** The node's hardware and its kubelet. */
  public static class Inventory {
    @JsonPropertyDescription("The kubelet and where its files are.")
    public KubeletFacts kubelet;

    @Size(max = 64)
    @JsonPropertyDescription("The machine's NUMA nodes, by id.")
    public List<ZoneFacts> zones = new ArrayList<>();

    @JsonPropertyDescription("How many NUMA nodes the machine has.")
    public Integer zoneCount;

    @JsonPropertyDescription(
        "How many GPUs the kubelet can hand out: devices whose resource name ends in /gpu.")
    public Integer gpuCount;

    @Size(max = 64)
    @JsonPropertyDescription("Devices that the kubelet knows without a NUMA node.")
    public List<DeviceCount> unplacedDevices = new ArrayList<>();

    @Size(max = 1024)
    @JsonPropertyDescription("CPUs that are offline, as a cpuset; empty when there are none.")
    public String offlineCpus;

    @JsonPropertyDescription("MemTotal of /proc/meminfo in bytes: the kubelet's memory capacity.")
    public Long memoryTotal;
  }

  /** What is known about the kubelet. */
  public static class KubeletFacts {
    @Size(max = 64)
    @JsonPropertyDescription("Its version, for example v1.36.3.")
    public String version;

    @Size(max = 253)
    @JsonPropertyDescription("Its systemd unit, for example kubelet.service.")
    public String service;

    @Size(max = 1024)
    @JsonPropertyDescription("Its --config file.")
    public String configFile;

    @JsonPropertyDescription(
        "Who configures it, as recognised from its process, its unit and its Node.")
    public Platform platform;

    @Size(max = 1024)
    @JsonPropertyDescription("Its --config-dir; absent when it has none.")
    public String dropInDirectory;

    @Size(max = 1024)
    @JsonPropertyDescription(
        "Where it has no --config-dir: the directory that a change gives it, through a drop-in of"
            + " its unit. Absent where its unit's command cannot be extended.")
    public String newDropInDirectory;

    @Size(max = 1024)
    @JsonPropertyDescription(
        "The operator's drop-in of the kubelet's unit, which gives the kubelet its --config-dir. It"
            + " goes when the node is restored; absent while somebody else has a file in that"
            + " directory, since it stays then.")
    public String unitDropIn;

    @Size(max = 1024)
    @JsonPropertyDescription("Its --root-dir, where the managers' state files are.")
    public String rootDirectory;

    @Size(max = 64)
    @JsonPropertyDescription(
        "Fields that its command line sets; a flag wins over every file, so the operator cannot"
            + " manage these.")
    public List<String> managedByFlag = new ArrayList<>();

    @Size(max = 16)
    @JsonPropertyDescription(
        "DRA drivers that have a socket in the kubelet's plugins directory. The kubelet aligns"
            + " nothing that comes through them.")
    public List<String> draDrivers = new ArrayList<>();

    @JsonPropertyDescription("Process id of the kubelet; absent while it is down.")
    public Long pid;

    @JsonPropertyDescription("How often systemd restarted it since the unit was started.")
    public Long restarts;
  }

  /** Who configures a kubelet. */
  public enum Platform {
    Kubeadm,
    K3s,
    RKE2,
    EKS,
    OpenShift,
    Bottlerocket,
    Talos,
    GKE,
    AKS,
    Systemd
  }

  /** One NUMA node. */
  public static class ZoneFacts {
    @Required
    @JsonPropertyDescription("The kernel's id; ids need not be contiguous.")
    public Integer id;

    @Size(max = 1024)
    @JsonPropertyDescription("Its online CPUs as a cpuset; empty for a zone of memory only.")
    public String cpus;

    @Size(max = 1024)
    @JsonPropertyDescription(
        "Its physical cores, each as the cpuset of its online hardware threads.")
    public List<String> cores = new ArrayList<>();

    @Size(max = 64)
    @JsonPropertyDescription("The sockets (physical package ids) its CPUs are on.")
    public List<Integer> sockets = new ArrayList<>();

    @JsonPropertyDescription("Its memory in bytes, hugepages included.")
    public Long memory;

    @JsonPropertyDescription("Its hugepages in bytes, over all sizes.")
    public Long hugepages;

    @Size(max = 64)
    @JsonPropertyDescription("Distance to each zone, in the order of the zones.")
    public List<Integer> distances = new ArrayList<>();

    @Size(max = 64)
    @JsonPropertyDescription("Devices that the kubelet can hand out from this zone.")
    public List<DeviceCount> devices = new ArrayList<>();

    @Size(max = 64)
    @JsonPropertyDescription("GPUs, accelerators and network cards that the kernel sees here.")
    public List<PciDevice> pci = new ArrayList<>();
  }

  /** A number of devices of one resource. */
  public static class DeviceCount {
    @Required
    @Size(max = 317)
    @JsonPropertyDescription("The extended resource, for example nvidia.com/gpu.")
    public String resource;

    @Required
    @JsonPropertyDescription("How many.")
    public Integer count;

    public DeviceCount() {}

    public DeviceCount(String resource, int count) {
      this.resource = resource;
      this.count = count;
    }
  }

  /** A PCI function. */
  public static class PciDevice {
    @Required
    @Size(max = 16)
    @JsonPropertyDescription("Its address, for example 0000:17:00.0.")
    public String address;

    @Size(max = 8)
    @JsonPropertyDescription("Class code, for example 0302 (3D controller).")
    public String pciClass;

    @Size(max = 16)
    @JsonPropertyDescription("vendor:device in hexadecimal.")
    public String id;
  }

  /** The running kubelet's settings. */
  public static class EffectiveKubelet {
    @JsonPropertyDescription("Configz: asked of the running kubelet. Files: read from its files.")
    public Source source;

    @JsonPropertyDescription(
        "Process id of the kubelet that was asked. Where inventory.kubelet.pid is another one, these"
            + " are the settings of a former process, and nothing is concluded from them.")
    public Long pid;

    @JsonPropertyDescription("The values of the fields that the operator manages.")
    public KubeletFragment settings;

    @Size(max = 256)
    @JsonPropertyDescription("Feature gates that are set explicitly.")
    public Map<String, Boolean> featureGates;
  }

  /** The managed fields in the node's files, without the operator's drop-in. */
  public static class ConfigFiles {
    @JsonPropertyDescription(
        "The main file and the drop-ins before the operator's, merged. An explicit empty value is"
            + " kept here, though the kubelet loses it when it merges drop-ins.")
    public KubeletFragment below;

    @JsonPropertyDescription("The drop-ins after the operator's, which win over it, merged.")
    public KubeletFragment above;

    @Size(max = 16)
    @JsonPropertyDescription("Which drop-ins after the operator's set a managed field.")
    public List<String> overriding = new ArrayList<>();
  }

  /** Where the effective settings were read. */
  public enum Source {
    Configz,
    Files
  }

  /** A NodeResourceTopology against the kubelet's PodResources. */
  public static class TopologyComparison {
    @Required
    @JsonPropertyDescription("Whether there is one for this node.")
    public Boolean published;

    @Size(max = 16)
    @JsonPropertyDescription("Where it differs from the kubelet; empty when it agrees.")
    public List<String> differences = new ArrayList<>();
  }

  /** The policies in the kubelet's state files; absent when the file is. */
  public static class StateFiles {
    @Size(max = 32)
    @JsonPropertyDescription("policyName of cpu_manager_state.")
    public String cpuPolicy;

    @Size(max = 32)
    @JsonPropertyDescription("policyName of memory_manager_state.")
    public String memoryPolicy;
  }

  /** Placement of the running containers, by the kubelet's PodResources. */
  public static class Containers {
    @JsonPropertyDescription("Containers whose CPUs, memory and devices are on one NUMA node.")
    public Integer aligned = 0;

    @JsonPropertyDescription("Containers whose CPUs, memory or devices span NUMA nodes.")
    public Integer crossNuma = 0;

    @JsonPropertyDescription("Containers without exclusive CPUs.")
    public Integer notPinned = 0;

    @JsonPropertyDescription(
        "Containers with CPUs whose NUMA node is not known; absent when there are none.")
    public Integer unknown;

    @JsonPropertyDescription(
        "Containers of pods that use ResourceClaims (DRA), and hold one or something else; absent when"
            + " there are none. The kubelet aligns nothing with what a claim gives, so they are never"
            + " called aligned.")
    public Integer unsupported;

    @Size(max = 64)
    @JsonPropertyDescription(
        "Containers that hold devices, claims or exclusive CPUs, those across NUMA nodes first; at"
            + " most 64."
            + " While one is left, the node's kubelet is not changed.")
    public List<PlacedContainer> placed = new ArrayList<>();

    @JsonPropertyDescription("How many more hold devices or exclusive CPUs than are listed.")
    public Integer placedLeftOut;

    @Size(max = 64)
    @JsonPropertyDescription(
        "The pods of the proof that is under way (spec.grant.proof); they are in none of the numbers"
            + " and lists above. Absent where there are none.")
    public List<PlacedContainer> proofs;
  }

  /** Where one container is. */
  public static class PlacedContainer {
    @Required
    @Size(max = 320)
    @JsonPropertyDescription("namespace/name of its pod.")
    public String pod;

    @Required
    @Size(max = 63)
    @JsonPropertyDescription("Its name.")
    public String container;

    @JsonPropertyDescription(
        "Aligned: one NUMA node has its CPUs and memory and fits its devices; with scope pod, those of"
            + " all of its pod's containers. CrossNUMA: no one does. NotPinned: it has no exclusive"
            + " CPUs. Unknown: the NUMA node of one of its CPUs is not known. Unsupported: its pod uses"
            + " ResourceClaims (DRA).")
    public Placement placement;

    @Size(max = 1024)
    @JsonPropertyDescription("Its exclusive CPUs as a cpuset; empty when it has none.")
    public String cpus;

    @Size(max = 64)
    @JsonPropertyDescription("The NUMA nodes of its exclusive CPUs.")
    public List<Integer> cpuZones = new ArrayList<>();

    @Size(max = 64)
    @JsonPropertyDescription("The NUMA nodes of its memory; empty when memory is not pinned.")
    public List<Integer> memoryZones = new ArrayList<>();

    @Size(max = 64)
    @JsonPropertyDescription("The NUMA nodes of its devices.")
    public List<Integer> deviceZones = new ArrayList<>();

    @JsonPropertyDescription("Bytes of its pinned memory, hugepages included.")
    public Long memory;

    @Size(max = 16)
    @JsonPropertyDescription("Its devices by resource and NUMA nodes.")
    public List<PlacedDevices> devices = new ArrayList<>();

    @Size(max = 16)
    @JsonPropertyDescription(
        "The NVIDIA GPUs that the kubelet gave it, by UUID, also where it got shares of them.")
    public List<String> gpus = new ArrayList<>();
  }

  /** Devices of one resource that are on the same NUMA nodes. */
  public static class PlacedDevices {
    @Required
    @Size(max = 317)
    @JsonPropertyDescription("The extended resource, for example nvidia.com/gpu.")
    public String resource;

    @Required
    @JsonPropertyDescription("How many.")
    public Integer count;

    @Size(max = 64)
    @JsonPropertyDescription(
        "The NUMA nodes that each of them is near to; empty where the device plugin does not say.")
    public List<Integer> zones = new ArrayList<>();
  }

  /** How a container is placed. */
  public enum Placement {
    Aligned,
    CrossNUMA,
    NotPinned,
    Unknown,
    Unsupported
  }
}
