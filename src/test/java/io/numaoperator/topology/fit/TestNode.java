package io.numaoperator.topology.fit;

import io.numaoperator.topology.fit.ContainerRequest.Kind;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.KubeletRules.Scope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Machines and pods for tests. */
public final class TestNode {
  public static final String GPU = "nvidia.com/gpu";
  public static final long GI = 1L << 30;

  private final KubeletRules rules;
  private final List<ZoneFree> zones = new ArrayList<>();
  private final List<DeviceFree> devices = new ArrayList<>();

  private TestNode(KubeletRules rules) {
    this.rules = rules;
  }

  public static TestNode of(Policy policy, Scope scope) {
    return new TestNode(KubeletRules.of(policy, scope));
  }

  public static TestNode of(KubeletRules rules) {
    return new TestNode(rules);
  }

  /** A zone with 8 CPUs, 1 of them reserved, 8 Gi and 4 GPUs, and this much of it free. */
  public TestNode zone(int id, int cpus, int gi, int gpus) {
    return zone(id, cpus, gi, gpus, gi == 8 ? Set.of() : Set.of(id));
  }

  public TestNode zone(int id, int cpus, int gi, int gpus, Set<Integer> group) {
    zones.add(
        new ZoneFree(
            id,
            8,
            7,
            cpus,
            Math.min(cpus, 6),
            Map.of("memory", new ZoneFree.Memory(8 * GI, gi * GI)),
            group,
            Map.of()));
    devices.add(new DeviceFree(GPU, Set.of(id), 4, gpus));
    return this;
  }

  public TestNode zone(ZoneFree zone) {
    zones.add(zone);
    return this;
  }

  public TestNode devices(String resource, int total, int free, Integer... on) {
    devices.add(new DeviceFree(resource, Set.of(on), total, free));
    return this;
  }

  public NodeFree free() {
    return new NodeFree(rules, zones, devices);
  }

  /** A Guaranteed pod of these containers. */
  public static PodRequest pod(ContainerRequest... containers) {
    return new PodRequest(true, false, List.of(containers));
  }

  public static ContainerRequest app(int cpus, int gi, int gpus) {
    return container("main", Kind.App, cpus * 1000L, gi, gpus);
  }

  public static ContainerRequest container(
      String name, Kind kind, long milliCpus, int gi, int gpus) {
    var devices = new HashMap<String, Long>();
    if (gpus > 0) {
      devices.put(GPU, (long) gpus);
    }
    return new ContainerRequest(name, kind, milliCpus, Map.of("memory", gi * GI), devices);
  }
}
