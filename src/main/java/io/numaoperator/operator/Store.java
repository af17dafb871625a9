package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.dsl.Listable;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.numaoperator.api.ListPage;
import java.net.HttpURLConnection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * All objects of one kind, kept by a watch, that also knows what we wrote ourselves before the
 * watch tells of it: a rollout that did not see its own last cordon would exceed its budget.
 *
 * @param <T> the kind
 */
final class Store<T extends HasMetadata> implements AutoCloseable {
  private static final String BY_NODE = "node";

  private final SharedIndexInformer<T> informer;
  private final Map<String, T> written = new ConcurrentHashMap<>();

  /**
   * The versions at which objects were deleted: who speaks of an earlier one speaks of the past.
   */
  private final Map<String, Long> deleted = new ConcurrentHashMap<>();

  /**
   * Starts the watch and waits for the first list.
   *
   * @throws KubernetesClientException if the API server refuses, or has no such kind
   */
  Store(Informable<T> source) {
    this(informer(source));
  }

  /**
   * The same, without fields that nobody reads.
   *
   * @param trim takes them from an object, beside its managed fields
   */
  static <T extends HasMetadata> Store<T> trimmed(Informable<T> source, Consumer<T> trim) {
    return new Store<>(informer(source).itemStore(new TrimmedItems<>(trim)));
  }

  /** The same for pods, which are also found by their node. */
  static Store<Pod> ofPods(Informable<Pod> source) {
    return ofPods(source, pod -> {});
  }

  /** The same, without fields that nobody reads. */
  static Store<Pod> ofPods(Informable<Pod> source, Consumer<Pod> trim) {
    return new Store<>(
        informer(source)
            .removeNamespaceIndex()
            .itemStore(new TrimmedItems<>(trim))
            .addIndexers(Map.of(BY_NODE, pod -> nodeOf(pod).stream().toList())));
  }

  private static <T> SharedIndexInformer<T> informer(Informable<T> source) {
    return source.withLimit(ListPage.SIZE).runnableInformer(0);
  }

  private static Optional<String> nodeOf(Pod pod) {
    return Optional.ofNullable(pod.getSpec().getNodeName());
  }

  private Store(SharedIndexInformer<T> notStarted) {
    informer = notStarted;
    informer.addEventHandler(
        new ResourceEventHandler<>() {
          @Override
          public void onAdd(T object) {
            seen(object);
          }

          @Override
          public void onUpdate(T old, T object) {
            seen(object);
          }

          @Override
          public void onDelete(T object, boolean unknown) {
            gone(object);
          }
        });
    try {
      informer.run();
    } catch (KubernetesClientException e) {
      informer.close(); // it would go on asking
      throw e;
    }
  }

  /**
   * Of a kind that the API server may not have, or not show us. It is asked before the watch
   * begins: the watch would write a stack trace into the log for each answer of that sort.
   *
   * @throws KubernetesClientException if the API server refuses, or has no such kind
   */
  static <T extends HasMetadata, S extends Informable<T> & Listable<?>> Store<T> ofOptional(
      S source) {
    source.list(new ListOptionsBuilder().withLimit(1L).build());
    return new Store<>(source);
  }

  /** A kind that this API server does not have is as good as one that we may not see. */
  static boolean isUnavailable(KubernetesClientException e) {
    return e.getCode() == HttpURLConnection.HTTP_FORBIDDEN
        || e.getCode() == HttpURLConnection.HTTP_NOT_FOUND;
  }

  Optional<T> get(String key) {
    return Optional.ofNullable(written.get(key))
        .or(() -> Optional.ofNullable(informer.getStore().getByKey(key)));
  }

  Stream<T> list() {
    return informer.getStore().list().stream()
        .map(object -> written.getOrDefault(key(object), object));
  }

  /** The pods on a node, of a store of pods. */
  Stream<T> onNode(String node) {
    return informer.getIndexer().byIndex(BY_NODE, node).stream()
        .map(object -> written.getOrDefault(key(object), object));
  }

  /** Remembers what an own write returned, until the watch has caught up. */
  void wrote(T object) {
    written.compute(
        key(object),
        (key, mine) -> {
          // asked in here: who is told of a newer one meanwhile waits, and takes this one out again
          var known = informer.getStore().getByKey(key);
          if ((known != null && version(known) >= version(object))
              || version(object) <= deleted.getOrDefault(key, 0L)) {
            return mine;
          }
          return mine == null || version(mine) < version(object) ? object : mine;
        });
  }

  /**
   * @param relevant whether an update from the first to the second matters
   * @param action called for additions, deletions and relevant updates
   */
  void onChange(BiPredicate<T, T> relevant, Consumer<T> action) {
    informer.addEventHandler(
        new ResourceEventHandler<>() {
          @Override
          public void onAdd(T object) {
            action.accept(object);
          }

          @Override
          public void onUpdate(T old, T object) {
            if (relevant.test(old, object)) {
              action.accept(object);
            }
          }

          @Override
          public void onDelete(T object, boolean unknown) {
            action.accept(object);
          }
        });
  }

  @Override
  public void close() {
    informer.close();
  }

  /** The watch has it: an object that is written after this in ignorance does not come back. */
  private void gone(T object) {
    written.compute(
        key(object),
        (key, mine) -> {
          deleted.put(key, version(object));
          return mine == null || version(mine) <= version(object) ? null : mine;
        });
  }

  private void seen(T object) {
    deleted.remove(key(object));
    written.computeIfPresent(
        key(object), (key, mine) -> version(mine) <= version(object) ? null : mine);
  }

  /** What an object is asked for by. */
  static String key(HasMetadata object) {
    var meta = object.getMetadata();
    return meta.getNamespace() == null
        ? meta.getName()
        : meta.getNamespace() + "/" + meta.getName();
  }

  /** Resource versions of one kind can be compared as numbers (KEP-5504). */
  private static long version(HasMetadata object) {
    return Long.parseLong(object.getMetadata().getResourceVersion());
  }
}
