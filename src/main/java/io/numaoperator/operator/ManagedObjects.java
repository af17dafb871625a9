package io.numaoperator.operator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBinding;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Names;
import io.numaoperator.api.admission.MutatingAdmissionPolicy;
import io.numaoperator.api.admission.MutatingAdmissionPolicyBinding;
import io.numaoperator.api.kai.KaiConfig;
import io.numaoperator.api.kai.KaiQueue;
import io.numaoperator.api.kai.SchedulingShard;
import io.numaoperator.plan.ContentHash;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.logging.Logger;

/**
 * The objects that providers want, applied by server-side apply and only when they differ from what
 * is there; objects of a part that nobody wants any more are deleted. Only objects that carry our
 * label are ever written or deleted.
 */
@ApplicationScoped
class ManagedObjects {
  private static final Logger LOG = Logger.getLogger(ManagedObjects.class);
  private static final String APPLIED_ANNOTATION = Names.GROUP + "/applied";

  /** Kinds that a provider may use beside those of {@link #CLUSTER_KINDS}. */
  private static final List<Class<? extends HasMetadata>> NAMESPACED_KINDS =
      List.of(
          ServiceAccount.class,
          ConfigMap.class,
          Service.class,
          Role.class,
          RoleBinding.class,
          PodDisruptionBudget.class,
          DaemonSet.class,
          Deployment.class);

  private static final List<Class<? extends HasMetadata>> CLUSTER_KINDS =
      List.of(
          ClusterRole.class,
          ClusterRoleBinding.class,
          ValidatingAdmissionPolicy.class,
          ValidatingAdmissionPolicyBinding.class,
          MutatingAdmissionPolicy.class,
          MutatingAdmissionPolicyBinding.class,
          KaiConfig.class,
          SchedulingShard.class,
          KaiQueue.class);

  /** What is watched: a kind in a namespace; empty for a kind without namespace. */
  private record Place(Class<? extends HasMetadata> kind, String namespace) {
    static Place of(HasMetadata object) {
      return new Place(
          object.getClass(), Objects.requireNonNullElse(object.getMetadata().getNamespace(), ""));
    }
  }

  private final KubernetesClient client;
  private final Map<Place, Store<HasMetadata>> stores = new ConcurrentHashMap<>();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  /**
   * Watches our own namespace from the start, so that what a provider made before a restart is
   * found again. A provider whose role the cluster's owner took away made nothing that we could
   * delete.
   */
  @Inject
  ManagedObjects(KubernetesClient client, OperatorSettings settings) {
    this.client = client;
    CLUSTER_KINDS.forEach(kind -> watchIfAllowed(new Place(kind, "")));
    NAMESPACED_KINDS.forEach(kind -> watchIfAllowed(new Place(kind, settings.namespace())));
  }

  private void watchIfAllowed(Place place) {
    try {
      store(place);
    } catch (KubernetesClientException e) {
      if (!Store.isUnavailable(e)) {
        throw e;
      }
      LOG.infof(
          "cannot watch %s in '%s': providers that need it are not available",
          place.kind().getSimpleName(), place.namespace());
    }
  }

  private Store<HasMetadata> store(Place place) {
    return stores.computeIfAbsent(place, this::watch);
  }

  @SuppressWarnings(
      "unchecked") // a store of a kind holds objects of that kind, read as HasMetadata
  private Store<HasMetadata> watch(Place place) {
    var resources = client.resources((Class<HasMetadata>) place.kind());
    var store =
        Store.ofOptional(
            (place.namespace().isEmpty() ? resources : resources.inNamespace(place.namespace()))
                .withLabel(Ownership.MANAGED_BY_LABEL, Ownership.OPERATOR));
    store.onChange(ManagedObjects::specsDiffer, object -> listeners.forEach(Runnable::run));
    return store;
  }

  @PreDestroy
  void close() {
    stores.values().forEach(Store::close);
  }

  /** Somebody changed or deleted one of them; their status does not matter. */
  void onChange(Runnable action) {
    listeners.add(action);
  }

  static boolean specsDiffer(HasMetadata old, HasMetadata object) {
    var before = old.getMetadata();
    var after = object.getMetadata();
    if (old instanceof Deployment was && object instanceof Deployment is) {
      return !before.getGeneration().equals(after.getGeneration())
          || SchedulerState.available(was) != SchedulerState.available(is);
    }
    return before.getGeneration() == null
        ? !withoutBookkeeping(old).equals(withoutBookkeeping(object))
        : !before.getGeneration().equals(after.getGeneration());
  }

  /** Who owns it changes with each node that is changed: nobody has to look again for that. */
  private static JsonNode withoutBookkeeping(HasMetadata object) {
    var json = (ObjectNode) Json.of(object).deepCopy();
    var meta = (ObjectNode) json.get("metadata");
    meta.remove(List.of("resourceVersion", "managedFields", "ownerReferences"));
    if (meta.get("annotations") instanceof ObjectNode annotations) {
      annotations.remove(APPLIED_ANNOTATION);
    }
    return json;
  }

  /** One that we made, from the cache. */
  <T extends HasMetadata> Optional<T> find(Class<T> kind, String namespace, String name) {
    return store(new Place(kind, namespace)).get(namespace + "/" + name).map(kind::cast);
  }

  /** The one of that kind and name as it is, from the cache. */
  Optional<HasMetadata> find(HasMetadata object) {
    return store(Place.of(object)).get(Store.key(object));
  }

  /** Those that are looked at for this kind. */
  Set<String> namespaces(Class<? extends HasMetadata> kind) {
    return stores.keySet().stream()
        .filter(place -> place.kind().equals(kind))
        .map(Place::namespace)
        .collect(Collectors.toSet());
  }

  /** Those that we made in a namespace, from the cache. */
  <T extends HasMetadata> List<T> list(Class<T> kind, String namespace) {
    return store(new Place(kind, namespace)).list().map(kind::cast).toList();
  }

  /** UIDs of who owns objects of this part: for them it was made. */
  Set<String> owners(Part part) {
    return of(part)
        .flatMap(object -> object.getMetadata().getOwnerReferences().stream())
        .map(OwnerReference::getUid)
        .collect(Collectors.toSet());
  }

  /** Deletes one that we made. */
  <T extends HasMetadata> void delete(Class<T> kind, String namespace, String name) {
    find(kind, namespace, name).ifPresent(object -> client.resource(object).delete());
  }

  /**
   * Brings the part's objects to these.
   *
   * @throws NotOursException if an object of that name is there that somebody else made
   */
  void apply(Part part, List<HasMetadata> desired) {
    apply(part, desired, Set.of());
  }

  /**
   * The same, but what these providers made stays as it is.
   *
   * @param untouched values of the provider label
   */
  void apply(Part part, List<HasMetadata> desired, Set<String> untouched) {
    var keep = new HashSet<String>();
    for (var object : desired) {
      keep.add(id(object));
      applyOne(marked(object));
    }
    of(part)
        .filter(object -> !keep.contains(id(object)))
        .filter(object -> !"true".equals(label(object, Ownership.RETAIN_LABEL)))
        .filter(object -> !untouched.contains(label(object, Ownership.PROVIDER_LABEL)))
        .forEach(object -> client.resource(object).delete());
  }

  /** With a hash of all that is desired, so that a field that was dropped from it is noticed. */
  private static HasMetadata marked(HasMetadata desired) {
    var copy = Serialization.clone(desired);
    var annotations = new TreeMap<String, String>();
    if (copy.getMetadata().getAnnotations() != null) {
      annotations.putAll(copy.getMetadata().getAnnotations());
    }
    annotations.put(APPLIED_ANNOTATION, ContentHash.of(Json.of(desired).toString()));
    copy.getMetadata().setAnnotations(annotations);
    return copy;
  }

  private void applyOne(HasMetadata desired) {
    var store = store(Place.of(desired));
    var known = store.get(Store.key(desired));
    if (known.isPresent()) {
      if (!covers(Json.of(known.get()), Json.of(desired))) {
        store.wrote(serverSideApply(desired));
      }
      return;
    }
    var foreign = client.resource(desired).get();
    if (foreign != null && !Ownership.OPERATOR.equals(label(foreign, Ownership.MANAGED_BY_LABEL))) {
      throw new NotOursException(desired);
    }
    store.wrote(serverSideApply(desired));
  }

  private HasMetadata serverSideApply(HasMetadata desired) {
    return client
        .resource(desired)
        .fieldManager(Names.OPERATOR_FIELD_MANAGER)
        .forceConflicts()
        .serverSideApply();
  }

  private Stream<HasMetadata> of(Part part) {
    return stores.values().stream()
        .flatMap(Store::list)
        .filter(object -> part.label().equals(label(object, Ownership.PART_LABEL)));
  }

  /**
   * Whether the object that is there says all that is desired. Fields that the API server or
   * another manager added do not count; a list must have the same length, so an entry that is no
   * longer wanted is noticed.
   */
  static boolean covers(JsonNode actual, JsonNode desired) {
    if (desired.isObject()) {
      return desired.properties().stream()
          .allMatch(
              field ->
                  isEmpty(field.getValue())
                      || (actual.has(field.getKey())
                          && covers(actual.get(field.getKey()), field.getValue())));
    }
    if (desired.isArray()) {
      if (!actual.isArray() || actual.size() != desired.size()) {
        return false;
      }
      for (int i = 0; i < desired.size(); i++) {
        if (!covers(actual.get(i), desired.get(i))) {
          return false;
        }
      }
      return true;
    }
    return desired.equals(actual);
  }

  /** The API server keeps no empty objects and lists. */
  private static boolean isEmpty(JsonNode value) {
    return value.isNull() || (value.isContainerNode() && value.isEmpty());
  }

  private static String label(HasMetadata object, String name) {
    var labels = object.getMetadata().getLabels();
    return labels == null ? "" : labels.getOrDefault(name, "");
  }

  private static String id(HasMetadata object) {
    return object.getKind() + " " + Store.key(object);
  }

  /** An object of the wanted name belongs to somebody else. */
  static final class NotOursException extends KubernetesClientException {
    NotOursException(HasMetadata desired) {
      super(
          "%s %s is there already and was not made by this operator; it is left as it is"
              .formatted(desired.getKind(), Store.key(desired)));
    }
  }
}
