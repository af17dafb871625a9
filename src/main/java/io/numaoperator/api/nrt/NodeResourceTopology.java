package io.numaoperator.api.nrt;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.ArrayList;
import java.util.List;

/**
 * The free resources of one node by NUMA node; named after the node, cluster-scoped, without spec
 * and without status. All of its lists are atomic, and writers put them in any order: sort before
 * comparing.
 */
@Group(NodeResourceTopology.GROUP)
@Version(NodeResourceTopology.VERSION)
@Kind("NodeResourceTopology")
@Plural("noderesourcetopologies")
@Singular("noderesourcetopology")
@ShortNames("node-res-topo")
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonPropertyOrder({"apiVersion", "kind", "metadata", "attributes", "topologyPolicies", "zones"})
public class NodeResourceTopology extends CustomResource<Void, Void> {
  public static final String GROUP = "topology.node.k8s.io";
  public static final String VERSION = "v1alpha2";

  /** Name of the CustomResourceDefinition. */
  public static final String CRD = "noderesourcetopologies." + GROUP;

  /** Attribute: the kubelet's topologyManagerPolicy, for example single-numa-node. */
  public static final String POLICY_ATTRIBUTE = "topologyManagerPolicy";

  /** Attribute: the kubelet's topologyManagerScope, container or pod. */
  public static final String SCOPE_ATTRIBUTE = "topologyManagerScope";

  /**
   * Attribute: max-allowable-numa-nodes. NodeResourceTopologyMatch assumes 8 without it; NFD never
   * writes it.
   */
  public static final String MAX_NUMA_NODES_ATTRIBUTE = "topologyManagerMaxNUMANodes";

  /**
   * Attribute: fingerprint of the pods that the zones account for. A scheduler with a cache never
   * refreshes a node whose object lacks it.
   */
  public static final String FINGERPRINT_ATTRIBUTE = "nodeTopologyPodsFingerprint";

  /** Type of a zone that is a NUMA node; its name must then be {@code node-ID}. */
  public static final String NUMA_ZONE_TYPE = "Node";

  /** What holds for the node as a whole. */
  public List<Attribute> attributes = new ArrayList<>();

  /** Deprecated in favour of the attributes; the CRD's v1alpha1 requires it. */
  public List<String> topologyPolicies;

  /** Its zones. */
  public List<Zone> zones = new ArrayList<>();

  /** A named value. */
  @JsonPropertyOrder({"name", "value"})
  public static class Attribute {
    public String name;
    public String value;

    public Attribute() {}

    public Attribute(String name, String value) {
      this.name = name;
      this.value = value;
    }
  }

  /** A zone, for example a NUMA node. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonPropertyOrder({"name", "type", "parent", "costs", "attributes", "resources"})
  public static class Zone {
    public String name;
    public String type;

    /** Name of the zone that this one is part of. */
    public String parent;

    /** Distances to the zones, itself included. */
    public List<Cost> costs;

    public List<Attribute> attributes;
    public List<ZoneResource> resources;
  }

  /** The distance to another zone, on the scale of ACPI SLIT (10 is local). */
  @JsonPropertyOrder({"name", "value"})
  public static class Cost {
    /** The other zone. */
    public String name;

    public Long value;

    public Cost() {}

    public Cost(String name, long value) {
      this.name = name;
      this.value = value;
    }
  }

  /** One resource of a zone. Do not compare capacities: NFD writes unlike ones for like zones. */
  @JsonPropertyOrder({"name", "capacity", "allocatable", "available"})
  public static class ZoneResource {
    /** Resource name as in a container's requests. */
    public String name;

    /** What the zone has. */
    public Quantity capacity;

    /** What pods can get of it. */
    public Quantity allocatable;

    /** What no pod has yet. */
    public Quantity available;
  }
}
