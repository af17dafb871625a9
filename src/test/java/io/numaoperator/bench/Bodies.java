package io.numaoperator.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Containers;
import io.numaoperator.api.NumaNodeStateStatus.DeviceCount;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.kubelet.Fragments;
import io.numaoperator.topology.Bytes;
import io.numaoperator.topology.TestMachine;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The objects that kubelets and agents write, as large as in life: a GPU machine of two zones with
 * 64 cores and 8 GPUs, 60 labels as of node feature discovery, and the 50 images that a kubelet
 * reports.
 */
final class Bodies {
  static final String AGENT_PODS = "/api/v1/namespaces/numa-operator-system/pods";
  static final String NODES = "/api/v1/nodes";
  static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  static final String STATES = "/apis/numaoperator.io/v1alpha1/numanodestates";
  static final String TOPOLOGIES = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies";

  private static final int LABELS = 60;
  private static final int IMAGES = 50;

  /** Kubernetes takes exactly six digits; an Instant's own words leave zeros out. */
  private static final DateTimeFormatter MICRO_TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

  private static final JsonMapper JSON =
      JsonMapper.builder().serializationInclusion(JsonInclude.Include.NON_NULL).build();

  private final String labels =
      IntStream.range(0, LABELS)
          .mapToObj(
              i -> "\"feature.node.kubernetes.io/cpu-cpuid.FEATURE%02d\":\"true\"".formatted(i))
          .collect(Collectors.joining(","));
  private final String images =
      IntStream.range(0, IMAGES)
          .mapToObj(
              i ->
                  """
                  {"names":["registry.example.com/team-%02d/training-image@sha256:%s","registry.example.com/team-%02d/training-image:v1.%d"],"sizeBytes":%d}"""
                      .formatted(i, "0123456789abcdef".repeat(4), i, i, 1_000_000_000L + i))
          .collect(Collectors.joining(","));
  private final ObjectNode status = JSON.valueToTree(observed());

  static NumaNodeStateStatus observed() {
    var status = new NumaNodeStateStatus();
    status.conditions = null; // the operator's
    status.inventory = TestMachine.zones(2).coresPerZone(32).zoneMemory(512 * Bytes.GI).inventory();
    status.inventory.gpuCount = 8;
    status.inventory.zones.forEach(
        zone -> {
          var gpus = new DeviceCount();
          gpus.resource = "nvidia.com/gpu";
          gpus.count = 4;
          zone.devices.add(gpus);
        });
    status.inventory.kubelet = new KubeletFacts();
    status.inventory.kubelet.version = "v1.36.3";
    status.inventory.kubelet.service = "kubelet.service";
    status.inventory.kubelet.configFile = "/var/lib/kubelet/config.yaml";
    status.inventory.kubelet.dropInDirectory = "/etc/kubernetes/kubelet.conf.d";
    status.inventory.kubelet.rootDirectory = "/var/lib/kubelet";
    status.inventory.kubelet.pid = 4242L;
    status.effective = new EffectiveKubelet();
    status.effective.source = Source.Configz;
    status.effective.pid = 4242L;
    status.effective.settings =
        Fragments.fragment(
            """
            cpuManagerPolicy: none
            memoryManagerPolicy: None
            topologyManagerPolicy: none
            topologyManagerScope: container
            systemReserved: {cpu: 500m, memory: 2Gi}
            kubeReserved: {cpu: 500m, memory: 2Gi}
            evictionHard: {memory.available: 100Mi}
            enforceNodeAllocatable: [pods]
            """);
    status.containers = new Containers();
    status.containers.aligned = 0;
    status.containers.notPinned = 12;
    return status;
  }

  static String now() {
    return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
  }

  // ---- the kubelet's

  String node(String name) {
    return """
    {"apiVersion":"v1","kind":"Node","metadata":{"name":"%1$s","labels":{"kubernetes.io/hostname":"%1$s","kubernetes.io/os":"linux","kubernetes.io/arch":"amd64","nvidia.com/gpu.present":"true","topology.kubernetes.io/zone":"z1",%2$s}},
    "spec":{},
    "status":{%3$s,"addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"Hostname","address":"%1$s"}],
    "nodeInfo":{"machineID":"%1$s","systemUUID":"%1$s","bootID":"boot-%1$s","kernelVersion":"6.1.0","osImage":"Debian GNU/Linux 12","containerRuntimeVersion":"containerd://2.1.0","kubeletVersion":"v1.36.3","kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"},
    "capacity":{"cpu":"128","memory":"1Ti","pods":"110","nvidia.com/gpu":"8"},
    "allocatable":{"cpu":"126","memory":"1073217536Ki","pods":"110","nvidia.com/gpu":"8"},
    "images":[%4$s]}}
    """
        .formatted(name, labels, conditions(), images);
  }

  /** What is new every five minutes though nothing changes. */
  String nodeStatus() {
    return "{\"status\":{" + conditions() + "}}";
  }

  private static String conditions() {
    var now = now();
    return """
    "conditions":[%s,%s,%s,%s]"""
        .formatted(
            condition("MemoryPressure", "False", "KubeletHasSufficientMemory", now),
            condition("DiskPressure", "False", "KubeletHasNoDiskPressure", now),
            condition("PIDPressure", "False", "KubeletHasSufficientPID", now),
            condition("Ready", "True", "KubeletReady", now));
  }

  private static String condition(String type, String status, String reason, String now) {
    return """
    {"type":"%s","status":"%s","reason":"%s","message":"as reported by the kubelet","lastHeartbeatTime":"%s","lastTransitionTime":"2026-01-01T00:00:00Z"}"""
        .formatted(type, status, reason, now);
  }

  String lease(String name) {
    return """
    {"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"%1$s"},"spec":{"holderIdentity":"%1$s","leaseDurationSeconds":40,"renewTime":"%2$s"}}"""
        .formatted(name, MICRO_TIME.format(Instant.now()));
  }

  String renewal() {
    return "{\"spec\":{\"renewTime\":\"" + MICRO_TIME.format(Instant.now()) + "\"}}";
  }

  // ---- of the agent's DaemonSet

  String agentPod(String node, JsonNode daemonSet) {
    return """
    {"apiVersion":"v1","kind":"Pod","metadata":{"name":"numa-agent-%1$s","labels":{"app.kubernetes.io/name":"numa-agent","app.kubernetes.io/part-of":"numa-operator"},"annotations":%3$s,
    "ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"numa-agent","uid":"%2$s","controller":true,"blockOwnerDeletion":true}]},
    "spec":{"nodeName":"%1$s","hostNetwork":true,"hostPID":true,"tolerations":[{"operator":"Exists"}],
    "containers":[{"name":"agent","image":"ghcr.io/numaoperator/numa-operator:0.1.0","command":["numa-operator","agent"],
    "env":[{"name":"NODE_NAME","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}},{"name":"HOST_ROOT","value":"/host"}],
    "volumeMounts":[{"name":"etc","mountPath":"/host/etc"},{"name":"kubelet","mountPath":"/host/var/lib/kubelet"},{"name":"sys","mountPath":"/host/sys","readOnly":true},{"name":"dbus","mountPath":"/host/run/dbus"}]}],
    "volumes":[{"name":"etc","hostPath":{"path":"/etc"}},{"name":"kubelet","hostPath":{"path":"/var/lib/kubelet"}},{"name":"sys","hostPath":{"path":"/sys"}},{"name":"dbus","hostPath":{"path":"/run/dbus"}}]}}
    """
        .formatted(
            node,
            daemonSet.at("/metadata/uid").asText(),
            daemonSet.at("/spec/template/metadata/annotations"));
  }

  static String running() {
    var now = now();
    return """
    {"status":{"phase":"Running","startTime":"%1$s","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"%1$s"},{"type":"ContainersReady","status":"True","lastTransitionTime":"%1$s"},{"type":"PodScheduled","status":"True","lastTransitionTime":"%1$s"}]}}"""
        .formatted(now);
  }

  // ---- the agent's

  /** The status of a machine's NumaNodeState, as its agent applies it. */
  String state(String name, Machine machine) {
    var state = status.deepCopy();
    state.put("bootId", "boot-" + name);
    state
        .putObject("topology")
        .put("published", machine.topologyPublished && !machine.topologyHidden);
    var files = state.putObject("stateFiles");
    files.put("cpuPolicy", machine.settings == null ? "none" : "static");
    files.put("memoryPolicy", machine.settings == null ? "None" : "Static");
    if (machine.settings != null) {
      ((ObjectNode) state.get("effective")).set("settings", machine.settings);
      state.put("dropInHash", machine.hash);
    }
    if (machine.attempt != null) {
      state.set("attempt", machine.attempt);
    }
    var object = JSON.createObjectNode();
    object.put("apiVersion", "numaoperator.io/v1alpha1").put("kind", "NumaNodeState");
    object.putObject("metadata").put("name", name);
    object.set("status", prune(state));
    return object.toString();
  }

  /** As the agent does: null fits no schema. */
  private static ObjectNode prune(ObjectNode object) {
    object
        .properties()
        .forEach(
            field -> {
              if (field.getValue() instanceof ObjectNode child) {
                prune(child);
              }
            });
    object.properties().removeIf(field -> field.getValue() instanceof ObjectNode o && o.isEmpty());
    return object;
  }

  ObjectNode attempt(JsonNode grant, String step, String result) {
    var attempt = JSON.createObjectNode();
    attempt.put("number", grant.path("attempt").asLong());
    attempt.put("hash", grant.path("hash").asText());
    attempt.put("step", step);
    attempt.put("since", now());
    if (result != null) {
      attempt.put("result", result);
    }
    if ("RolledBack".equals(result)) {
      attempt.put("error", "the kubelet's own line");
    }
    return attempt;
  }

  /**
   * The NodeResourceTopology of a machine on which nothing runs.
   *
   * @param strict whether its kubelet aligns pods
   */
  String topology(Machine machine, boolean strict) {
    var object = JSON.createObjectNode();
    object.put("apiVersion", "topology.node.k8s.io/v1alpha2").put("kind", "NodeResourceTopology");
    var meta = object.putObject("metadata");
    meta.put("name", machine.name);
    meta.putArray("ownerReferences")
        .addObject()
        .put("apiVersion", "v1")
        .put("kind", "Node")
        .put("name", machine.name)
        .put("uid", machine.nodeUid);
    var attributes = object.putArray("attributes");
    attribute(attributes, "topologyManagerPolicy", strict ? "single-numa-node" : "none");
    attribute(attributes, "topologyManagerScope", strict ? "pod" : "container");
    attribute(attributes, "nodeTopologyPodsFingerprint", "pfp0v0011111111111111111");
    attribute(attributes, "nodeTopologyPodsFingerprintMethod", "all");
    var zones = object.putArray("zones");
    for (int id = 0; id < 2; id++) {
      var zone = zones.addObject();
      zone.put("name", "node-" + id).put("type", "Node");
      var costs = zone.putArray("costs");
      costs.addObject().put("name", "node-0").put("value", id == 0 ? 10 : 21);
      costs.addObject().put("name", "node-1").put("value", id == 1 ? 10 : 21);
      var resources = zone.putArray("resources");
      resource(resources, "cpu", "64", "63");
      resource(resources, "memory", "549755813888", "545460846592");
      resource(resources, "nvidia.com/gpu", "4", "4");
    }
    return object.toString();
  }

  private static void attribute(ArrayNode list, String name, String value) {
    list.addObject().put("name", name).put("value", value);
  }

  private static void resource(ArrayNode list, String name, String capacity, String allocatable) {
    list.addObject()
        .put("name", name)
        .put("capacity", capacity)
        .put("allocatable", allocatable)
        .put("available", allocatable);
  }

  // ---- the operator's first write for a node, by which the bare client sets the limit

  String claim(String node, String uid, String policy) {
    return """
    {"apiVersion":"numaoperator.io/v1alpha1","kind":"NumaNodeState","metadata":{"name":"%1$s","labels":{"%4$s":"%3$s"},"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"%1$s","uid":"%2$s"}]},"spec":{"policy":"%3$s"}}"""
        .formatted(node, uid, policy, Names.POLICY_LABEL);
  }

  /** What is known of one simulated machine; guarded by itself. */
  static final class Machine {
    final String name;
    String nodeUid;
    boolean agentRuns;
    boolean topologyPublished;
    boolean topologyHidden;
    boolean topologyWanted;
    long lastAttempt;
    ObjectNode attempt; // null before the first
    JsonNode settings; // null while they are the node's own
    String hash;

    Machine(String name) {
      this.name = name;
    }
  }
}
