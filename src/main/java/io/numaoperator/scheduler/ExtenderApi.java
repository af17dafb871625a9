package io.numaoperator.scheduler;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.nrt.NodeResourceTopology;
import java.util.Optional;

/** What the extender asks of the API server, past every cache. */
interface ExtenderApi {
  Optional<Pod> pod(String namespace, String name);

  Optional<NodeResourceTopology> topology(String node);

  /**
   * Writes the decisions into a node's object, if that is still of this resourceVersion.
   *
   * @return the object as it is then; empty if it was changed meanwhile, or is gone
   */
  Optional<NodeResourceTopology> decide(String node, String version, Decisions decisions);

  /**
   * Binds.
   *
   * @throws io.fabric8.kubernetes.client.KubernetesClientException if the API server refuses
   */
  void bind(String namespace, String name, String uid, String node);

  /**
   * Makes kube-scheduler look again at the pods that an extender refused: it does after any event,
   * and knows none of NodeResourceTopology objects (kubernetes#122019).
   */
  void wake(String node, String topologyVersion);
}
