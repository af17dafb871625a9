package io.numaoperator.topology.fit;

import java.util.List;
import java.util.Optional;

/**
 * One of the kubelet's managers, with the resources that it has left. It changes as containers are
 * given theirs, one pod at a time.
 */
interface HintProvider {

  /** What a container, or under scope pod the whole pod, wants of this manager. */
  interface Claim {
    /**
     * One list for each resource that has an opinion; an empty list says that no set of zones
     * serves.
     */
    List<List<Hint>> hints();

    /** The same in numbers. */
    List<Need> needs();
  }

  /** Under scope pod, asked once before any container has something. */
  Claim claim(PodRequest pod);

  Claim claim(PodRequest pod, ContainerRequest container);

  /**
   * Gives the container its resources.
   *
   * @return why that is not possible; the kubelet then rejects the pod
   */
  Optional<String> allocate(PodRequest pod, ContainerRequest container, Affinity affinity);
}
