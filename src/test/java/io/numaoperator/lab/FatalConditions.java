package io.numaoperator.lab;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * The conditions that a kubelet exits on, as a table: what brings each about, the kubelet's own
 * words, and who knows before.
 */
final class FatalConditions {
  /** Two NUMA nodes of 8 CPUs and 16 GiB; nothing of its owner in the drop-in directory. */
  static final String PLAIN = "plain";

  /** The same; its owner has alpha options on, a cgroup for kubeReserved, and 1 GiB in it. */
  static final String OWNED = "owned";

  /** Nine NUMA nodes of 2 CPUs and 1 GiB. */
  static final String MANY = "many";

  /** Like {@link #PLAIN}, but its kubelet runs without --config-dir. */
  static final String BARE = "bare";

  static final String OWNERS_DROP_IN =
      """
      featureGates: {CPUManagerPolicyAlphaOptions: true}
      kubeReserved: {memory: 1Gi}
      kubeReservedCgroup: /kubelet.slice
      """;

  /** Starts on {@link #MANY}: its state files are those of another machine for the others. */
  static final String SOUND_ON_MANY =
      """
      cpuManagerPolicy: static
      reservedSystemCPUs: "0"
      memoryManagerPolicy: Static
      systemReserved: {memory: 200Mi}
      evictionHard: {memory.available: 100Mi}
      reservedMemory: [{numaNode: 0, limits: {memory: 300Mi}}]
      """;

  /** Starts on {@link #PLAIN} and {@link #BARE}. */
  static final String SOUND =
      """
      cpuManagerPolicy: static
      reservedSystemCPUs: "0,8"
      memoryManagerPolicy: Static
      systemReserved: {memory: 200Mi}
      evictionHard: {memory.available: 100Mi}
      reservedMemory: [{numaNode: 0, limits: {memory: 300Mi}}]
      """;

  private FatalConditions() {}

  /** Who refuses it before a kubelet is stopped. */
  sealed interface Caught {
    /** Preflight, for this reason. */
    record ByPreflight(String reason) implements Caught {}

    /** No NumaNodeState can say it, and an agent that is told so refuses it in these words. */
    record ByTheAgent(String fault) implements Caught {}

    /** Nobody can. */
    record ByNobody(String because) implements Caught {}
  }

  /**
   * One condition.
   *
   * @param node where
   * @param dropIn the content that brings it about, less apiVersion and kind
   * @param header whether it gets these
   * @param states state files that are put there between the agent's clearing and the kubelet's
   *     start: FILE=NODE for a copy of another node's, FILE=garbage
   * @param line of the kubelet
   */
  record Row(
      String name,
      String node,
      String dropIn,
      boolean header,
      List<String> states,
      String line,
      Caught caught) {
    @Override
    public String toString() {
      return name;
    }

    String content() {
      return header ? withHeader(dropIn) : dropIn;
    }
  }

  /** As JSON, so that the rows may be in either style of YAML. */
  static String withHeader(String dropIn) {
    try {
      var content = (ObjectNode) new YAMLMapper().readTree(dropIn);
      content.put("apiVersion", "kubelet.config.k8s.io/v1beta1");
      content.put("kind", "KubeletConfiguration");
      return content.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Row row(String name, String node, String dropIn, String line, Caught caught) {
    return new Row(name, node, dropIn, true, List.of(), line, caught);
  }

  private static Row state(String name, String state, String line) {
    var caught =
        new Caught.ByNobody(
            "the agent clears what the change makes invalid; that somebody puts it back in between"
                + " is seen by the kubelet only");
    return new Row(name, PLAIN, SOUND, true, List.of(state), line, caught);
  }

  private static Caught reason(String reason) {
    return new Caught.ByPreflight(reason);
  }

  private static Caught rules(String fault) {
    return new Caught.ByTheAgent(fault);
  }

  /** The order within a node matters little: each row leaves it as it was. */
  static final List<Row> ROWS =
      List.of(
          // before any listener: flags, gates, files
          row(
              "unknown gate",
              OWNED,
              "featureGates: {NoSuchGate: true}",
              "unrecognized feature gate: NoSuchGate",
              rules("featureGates is not a managed field")),
          row(
              "locked gate",
              OWNED,
              "featureGates: {KubeletFineGrainedAuthz: false}",
              "cannot set feature gate KubeletFineGrainedAuthz to false, feature is locked to true",
              rules("featureGates is not a managed field")),
          new Row(
              "no apiVersion and kind",
              OWNED,
              "topologyManagerScope: pod",
              false,
              List.of(),
              "error: Object 'Kind' is missing in",
              rules("apiVersion is not")),
          // CPUs
          row(
              "bad topology policy",
              PLAIN,
              "topologyManagerPolicy: numa",
              "invalid configuration: topologyManagerPolicy (--topology-manager-policy) \"numa\" must"
                  + " be one of",
              reason("FragmentNotAllowed")),
          row(
              "reserved CPUs and a cgroup",
              OWNED,
              "reservedSystemCPUs: '0'",
              "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup",
              reason("ReservedCgroupConflict")),
          row(
              "reserved CPUs unparsable",
              PLAIN,
              "reservedSystemCPUs: none",
              "unable to parse reservedSystemCPUs (--reserved-cpus) none",
              reason("FragmentNotAllowed")),
          row(
              "a reserved CPU is not online",
              PLAIN,
              "reservedSystemCPUs: 0,99",
              "reserved-cpus: 0,99 is not a subset of online-cpus: 0-15",
              reason("ReservedCpusNotOnNode")),
          row(
              "static without reserved CPUs",
              PLAIN,
              "cpuManagerPolicy: static",
              "[cpumanager] unable to determine reserved CPU resources for static policy",
              reason("NoReservedCpus")),
          row(
              "more CPUs reserved than there are",
              PLAIN,
              "{cpuManagerPolicy: static, systemReserved: {cpu: '64'}}",
              "unable to reserve the required amount of CPUs (size of  did not equal 64)",
              reason("FragmentNotAllowed")),
          row(
              "options with policy none",
              PLAIN,
              "{cpuManagerPolicy: none, cpuManagerPolicyOptions: {full-pcpus-only: 'true'}}",
              "new none policy error: None policy: received unsupported"
                  + " options=map[full-pcpus-only:true]",
              reason("FragmentNotAllowed")),
          row(
              "unknown option",
              PLAIN,
              "{cpuManagerPolicy: static, reservedSystemCPUs: '0', cpuManagerPolicyOptions: {no-such:"
                  + " 'true'}}",
              "unknown CPU Manager Policy option: \"no-such\"",
              reason("FragmentNotAllowed")),
          row(
              "option behind a gate",
              PLAIN,
              "{cpuManagerPolicy: static, reservedSystemCPUs: '0', cpuManagerPolicyOptions:"
                  + " {distribute-cpus-across-cores: 'true'}}",
              "CPU Manager Policy Alpha-level Options not enabled, but option"
                  + " \"distribute-cpus-across-cores\" provided",
              reason("UnsupportedOption")),
          row(
              "options that exclude each other",
              PLAIN,
              "{cpuManagerPolicy: static, reservedSystemCPUs: '0', cpuManagerPolicyOptions:"
                  + " {distribute-cpus-across-numa: 'true', prefer-align-cpus-by-uncorecache:"
                  + " 'true'}}",
              "can not be used at the same time",
              reason("OptionsExclusive")),
          row(
              "align-by-socket with single-numa-node",
              OWNED,
              "{cpuManagerPolicy: static, reservedSystemCPUs: '0', kubeReservedCgroup: '',"
                  + " topologyManagerPolicy: single-numa-node, cpuManagerPolicyOptions:"
                  + " {align-by-socket: 'true'}}",
              "single-numa-node policy is incompatible with CPUManager align-by-socket policy option",
              reason("AlignBySocketImpossible")),
          row(
              "more NUMA nodes than allowed",
              MANY,
              "topologyManagerPolicy: best-effort",
              "unsupported on machines with more than 8 NUMA Nodes",
              reason("TooManyZones")),
          row(
              "a limit below 8",
              MANY,
              "{topologyManagerPolicy: best-effort, topologyManagerPolicyOptions:"
                  + " {max-allowable-numa-nodes: '4'}}",
              "the minimum value of \"max-allowable-numa-nodes\" should not be less than 8",
              reason("FragmentNotAllowed")),
          row(
              "the same on a node that gets its drop-in directory with the change",
              BARE,
              "cpuManagerPolicy: static",
              "[cpumanager] unable to determine reserved CPU resources for static policy",
              reason("NoReservedCpus")),
          // memory
          row(
              "reservedMemory of another type",
              MANY,
              "reservedMemory: [{numaNode: 0, limits: {ephemeral-storage: 1Gi}}]",
              "the limit type \"ephemeral-storage\" for NUMA node 0 is not supported",
              reason("FragmentNotAllowed")),
          row(
              "reservedMemory of zero",
              MANY,
              "reservedMemory: [{numaNode: 0, limits: {memory: '0'}}]",
              "reserved memory may not be zero for NUMA node 0 and resource \"memory\"",
              reason("FragmentNotAllowed")),
          row(
              "reservedMemory twice",
              MANY,
              "reservedMemory: [{numaNode: 0, limits: {memory: 1Mi}}, {numaNode: 0, limits: {memory:"
                  + " 1Mi}}]",
              "has a duplicate value",
              reason("FragmentNotAllowed")),
          row(
              "hugepages in reservedMemory",
              OWNED,
              "{memoryManagerPolicy: Static, kubeReserved: {memory: '0'}, reservedMemory: [{numaNode:"
                  + " 0, limits: {memory: 300Mi, hugepages-2Mi: 2Mi}}]}",
              "of type \"hugepages-2Mi\" is not equal to the value \"0\"",
              reason("FragmentNotAllowed")),
          row(
              "reservedMemory of a NUMA node that is not there",
              OWNED,
              "{memoryManagerPolicy: Static, kubeReserved: {memory: '0'}, systemReserved: {memory:"
                  + " 200Mi}, evictionHard: {memory.available: 100Mi}, reservedMemory: [{numaNode: 7,"
                  + " limits: {memory: 300Mi}}]}",
              "the reserved memory configuration references a NUMA node 7 that does not exist",
              reason("MemoryZoneUnknown")),
          row(
              "the sum is not equal",
              OWNED,
              "{memoryManagerPolicy: Static, systemReserved: {memory: 200Mi}, evictionHard:"
                  + " {memory.available: 100Mi}, reservedMemory: [{numaNode: 0, limits: {memory:"
                  + " 300Mi}}]}",
              "the total amount \"300Mi\" of type \"memory\" is not equal to the value \"1324Mi\""
                  + " determined by Node Allocatable feature",
              reason("ReservedMemoryUnequal")),
          row(
              "Static with nothing reserved",
              MANY,
              "{memoryManagerPolicy: Static, systemReserved: {memory: '0'}, evictionHard:"
                  + " {memory.available: 0%}}",
              "[memorymanager] you should specify the system reserved memory",
              reason("FragmentNotAllowed")),
          // after "started"
          row(
              "more memory reserved than there is",
              MANY,
              "systemReserved: {memory: 64Gi}",
              "invalid Node Allocatable configuration. Resource \"memory\" has a reservation of",
              reason("MemoryBeyondNode")),
          state(
              "CPU state of another policy",
              "cpu_manager_state=" + PLAIN,
              "configured policy \"static\" differs from state checkpoint policy \"none\""),
          state(
              "memory state of another policy",
              "memory_manager_state=" + PLAIN,
              "configured policy \"Static\" differs from state checkpoint policy \"None\""),
          state(
              "CPU state corrupted",
              "cpu_manager_state=garbage",
              "could not restore state from checkpoint"),
          state(
              "memory state corrupted",
              "memory_manager_state=garbage",
              "could not restore state from checkpoint"),
          state(
              "CPU state of a machine with other CPUs",
              "cpu_manager_state=" + MANY,
              "doesn't match with CPUs in state"),
          state(
              "memory state of a machine with other memory",
              "memory_manager_state=" + MANY,
              "the expected machine state is different from the real one"));
}
