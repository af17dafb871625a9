package io.numaoperator.topology.fit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.numaoperator.topology.fit.ContainerRequest.Kind;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.KubeletRules.Scope;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;

/**
 * What the kubelet's own managers answered to random pods on random machines: written by
 * src/test/fitoracle, which links k8s.io/kubernetes v1.36.3.
 */
record KubeletCases(
    int line,
    NodeFree node,
    PodRequest pod,
    boolean admitted,
    String reason,
    Map<String, Set<Integer>> affinity,
    NodeFree after) {
  private static final ObjectMapper JSON = new ObjectMapper();

  static List<KubeletCases> read(InputStream gzip) {
    var cases = new ArrayList<KubeletCases>();
    try (var lines =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(gzip), StandardCharsets.UTF_8))) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        cases.add(of(cases.size() + 1, JSON.readTree(line)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return cases;
  }

  private static KubeletCases of(int line, JsonNode json) {
    var affinity = new TreeMap<String, Set<Integer>>();
    json.path("Affinity")
        .properties()
        .forEach(entry -> affinity.put(entry.getKey(), ints(entry.getValue())));
    return new KubeletCases(
        line,
        node(json.get("Node")),
        pod(json.get("Pod")),
        json.get("Admitted").asBoolean(),
        json.get("Reason").asText(),
        affinity,
        node(json.get("After")));
  }

  private static NodeFree node(JsonNode json) {
    var zones = new ArrayList<ZoneFree>();
    for (var zone : json.get("Zones")) {
      var memory = new TreeMap<String, ZoneFree.Memory>();
      zone.get("Memory")
          .properties()
          .forEach(
              entry ->
                  memory.put(
                      entry.getKey(),
                      new ZoneFree.Memory(
                          entry.getValue().get(0).asLong(), entry.getValue().get(1).asLong())));
      var distances = new TreeMap<Integer, Integer>();
      zone.get("Distances")
          .properties()
          .forEach(
              entry -> distances.put(Integer.valueOf(entry.getKey()), entry.getValue().asInt()));
      zones.add(
          new ZoneFree(
              zone.get("ID").asInt(),
              zone.get("CPUs").asInt(),
              zone.get("AllocatableCPUs").asInt(),
              zone.get("FreeCPUs").asInt(),
              zone.get("FreeCoreCPUs").asInt(),
              memory,
              ints(zone.get("Group")),
              distances));
    }
    var devices = new ArrayList<DeviceFree>();
    json.get("Devices")
        .forEach(
            device ->
                devices.add(
                    new DeviceFree(
                        device.get("Resource").asText(),
                        ints(device.get("Zones")),
                        device.get("Total").asInt(),
                        device.get("Free").asInt())));
    return new NodeFree(rules(json), zones, devices);
  }

  private static KubeletRules rules(JsonNode json) {
    return new KubeletRules(
        switch (json.get("Policy").asText()) {
          case "none" -> Policy.None;
          case "best-effort" -> Policy.BestEffort;
          case "restricted" -> Policy.Restricted;
          case "single-numa-node" -> Policy.SingleNumaNode;
          default -> throw new IllegalArgumentException(json.get("Policy").asText());
        },
        json.get("Scope").asText().equals("pod") ? Scope.Pod : Scope.Container,
        json.get("StaticCPUs").asBoolean(),
        json.get("StaticMemory").asBoolean(),
        json.get("FullCores").asBoolean(),
        json.get("ThreadsPerCore").asInt(),
        json.get("PreferClosest").asBoolean());
  }

  private static PodRequest pod(JsonNode json) {
    var containers = new ArrayList<ContainerRequest>();
    for (var container : json.get("Containers")) {
      containers.add(
          new ContainerRequest(
              container.get("Name").asText(),
              Kind.valueOf(container.get("Kind").asText()),
              container.get("MilliCPUs").asLong(),
              longs(container.get("Memory")),
              longs(container.get("Devices"))));
    }
    containers.sort((a, b) -> Boolean.compare(a.kind() == Kind.App, b.kind() == Kind.App));
    return new PodRequest(json.get("Guaranteed").asBoolean(), false, containers);
  }

  private static Map<String, Long> longs(JsonNode json) {
    var longs = new TreeMap<String, Long>();
    json.properties().forEach(entry -> longs.put(entry.getKey(), entry.getValue().asLong()));
    return longs;
  }

  private static Set<Integer> ints(JsonNode json) {
    var ints = new HashSet<Integer>();
    json.forEach(value -> ints.add(value.asInt()));
    return ints;
  }
}
