package io.numaoperator.topology.fit;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What a node's kubelet would say to a pod. */
public sealed interface Fit {

  /**
   * It admits it.
   *
   * @param containers where each container goes, in the kubelet's order
   * @param after what is free then; where the kubelet may choose one zone or another, the least
   *     that each can have
   */
  record Fits(List<Place> containers, NodeFree after) implements Fit {
    public Fits {
      containers = List.copyOf(containers);
    }

    /** All zones that the pod may use. */
    public Set<Integer> zones() {
      var zones = new TreeSet<Integer>();
      containers.forEach(place -> zones.addAll(place.zones()));
      return Collections.unmodifiableSet(zones);
    }

    /** Whether each container has the fewest zones that its requests allow. */
    public boolean preferred() {
      return containers.stream().allMatch(Place::preferred);
    }
  }

  /**
   * Where a container goes.
   *
   * @param zones the Topology Manager's choice; empty when it has none, and any zone will do
   * @param preferred whether no narrower choice would serve it on an empty node
   */
  record Place(String container, Set<Integer> zones, boolean preferred) {
    public Place {
      zones = Collections.unmodifiableSet(new TreeSet<>(zones));
    }
  }

  /**
   * It rejects it.
   *
   * @param message what is missing, in numbers, for example "zone 0 has 2 of 4 nvidia.com/gpu free,
   *     zone 1 has 2"
   */
  record DoesNotFit(String message) implements Fit {}

  /**
   * It gives the pod nothing of its own: no exclusive CPUs, no pinned memory, no device that is on
   * a zone. The pod takes nothing from the zones and can run on any.
   */
  record NotAligned() implements Fit {}

  /** Asks the model. */
  static Fit of(NodeFree node, PodRequest pod) {
    return Admission.of(node, pod);
  }
}
