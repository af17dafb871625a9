package io.numaoperator.scheduler;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.numaoperator.api.nrt.NodeResourceTopology;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Stands for the API server: objects with versions, writes on condition of a version, bindings that
 * cannot be undone. No watches: what a replica knows beyond, a test tells it.
 */
final class FakeApiServer implements ExtenderApi {
  private final KubernetesSerialization json = new KubernetesSerialization();
  private final Map<String, Pod> pods = new HashMap<>();
  private final Map<String, NodeResourceTopology> topologies = new HashMap<>();
  private long version = 100;

  /** Pods in the order of their bindings. */
  final List<Pod> bindings = new ArrayList<>();

  final List<String> woken = new ArrayList<>();

  /** How often an object was read. */
  int reads;

  /** Run before the next conditional write: another writer. */
  Runnable meanwhile = () -> {};

  /** Run before the next binding is refused or not: another writer. */
  Runnable beforeBinding = () -> {};

  boolean refuseBindings;

  synchronized void create(Pod pod) {
    pods.put(key(pod.getMetadata().getNamespace(), pod.getMetadata().getName()), pod);
  }

  synchronized void delete(Pod pod) {
    pods.remove(key(pod.getMetadata().getNamespace(), pod.getMetadata().getName()));
  }

  /** As the agent's server-side apply does: numbers and pods are its, the decisions are not. */
  synchronized void publish(NodeResourceTopology object) {
    var copy = json.clone(object);
    var name = object.getMetadata().getName();
    copy.getMetadata().setResourceVersion(Long.toString(++version));
    Optional.ofNullable(topologies.get(name))
        .map(old -> old.getMetadata().getAnnotations().get(Decisions.ANNOTATION))
        .ifPresent(d -> copy.getMetadata().getAnnotations().put(Decisions.ANNOTATION, d));
    topologies.put(name, copy);
  }

  @Override
  public synchronized Optional<Pod> pod(String namespace, String name) {
    reads++;
    return Optional.ofNullable(pods.get(key(namespace, name)));
  }

  @Override
  public synchronized Optional<NodeResourceTopology> topology(String node) {
    reads++;
    return Optional.ofNullable(topologies.get(node)).map(json::clone);
  }

  @Override
  public Optional<NodeResourceTopology> decide(String node, String version, Decisions decisions) {
    var before = meanwhile;
    meanwhile = () -> {};
    before.run();
    return write(node, version, decisions);
  }

  private synchronized Optional<NodeResourceTopology> write(
      String name, String seen, Decisions decisions) {
    var now = topologies.get(name);
    if (now == null || !now.getMetadata().getResourceVersion().equals(seen)) {
      return Optional.empty();
    }
    var copy = json.clone(now);
    copy.getMetadata().setResourceVersion(Long.toString(++this.version));
    copy.getMetadata().getAnnotations().put(Decisions.ANNOTATION, decisions.format());
    topologies.put(name, copy);
    return Optional.of(json.clone(copy));
  }

  @Override
  public synchronized void bind(String namespace, String name, String uid, String node) {
    var before = beforeBinding;
    beforeBinding = () -> {};
    before.run();
    var pod = pods.get(key(namespace, name));
    if (refuseBindings || pod == null || pod.getSpec().getNodeName() != null) {
      throw new KubernetesClientException("refused by the fake API server", 409, null);
    }
    var bound = Given.bound(pod, node, 0);
    bound.getMetadata().setResourceVersion(Long.toString(++version));
    pods.put(key(namespace, name), bound);
    bindings.add(bound);
  }

  @Override
  public synchronized void wake(String node, String topologyVersion) {
    woken.add(node);
  }

  private static String key(String namespace, String name) {
    return namespace + "/" + name;
  }
}
