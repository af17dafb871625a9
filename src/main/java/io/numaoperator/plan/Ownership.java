package io.numaoperator.plan;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.numaoperator.api.Names;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Whose an object is: the metadata that all objects of one part and provider share.
 *
 * @param owners the policies that need it, or nodes under change; the garbage collector removes it
 *     with the last of them
 */
public record Ownership(Part part, String provider, List<OwnerReference> owners) {
  public static final String PART_LABEL = Names.GROUP + "/part";
  public static final String PROVIDER_LABEL = Names.GROUP + "/provider";

  /** "true" on an object that outlives its provider, because something of others refers to it. */
  public static final String RETAIN_LABEL = Names.GROUP + "/retain";

  public static final String MANAGED_BY_LABEL = "app.kubernetes.io/managed-by";
  public static final String PART_OF_LABEL = "app.kubernetes.io/part-of";
  public static final String NAME_LABEL = "app.kubernetes.io/name";
  public static final String OPERATOR = "numa-operator";

  public Ownership {
    owners = List.copyOf(owners);
  }

  /**
   * Owned by these policies and states of nodes; those without uid (not from an API server) own
   * nothing.
   */
  public static Ownership of(Part part, String provider, List<? extends HasMetadata> owners) {
    return new Ownership(
        part,
        provider,
        owners.stream()
            .filter(owner -> owner.getMetadata().getUid() != null)
            .map(Ownership::reference)
            .distinct()
            .sorted(Comparator.comparing(OwnerReference::getUid))
            .toList());
  }

  // neither controller nor blockOwnerDeletion: several owners, and none of them has to wait
  private static OwnerReference reference(HasMetadata owner) {
    return new OwnerReferenceBuilder()
        .withApiVersion(owner.getApiVersion())
        .withKind(owner.getKind())
        .withName(owner.getMetadata().getName())
        .withUid(owner.getMetadata().getUid())
        .build();
  }

  /** Metadata of a cluster-scoped object. */
  public ObjectMeta metadata(String name) {
    return new ObjectMetaBuilder()
        .withName(name)
        .withLabels(labels(name))
        .withOwnerReferences(owners)
        .build();
  }

  /** Metadata of a namespaced object; its owners are cluster-scoped, so any namespace is fine. */
  public ObjectMeta metadata(String namespace, String name) {
    return metadata(name).edit().withNamespace(namespace).build();
  }

  /**
   * Metadata of a pod template. HAMi's webhook would otherwise look at the pod and may hand it to
   * HAMi's scheduler.
   */
  public ObjectMeta podTemplate(String name, Map<String, String> annotations) {
    var labels = labels(name);
    labels.put("hami.io/webhook", "ignore");
    return new ObjectMetaBuilder()
        .withLabels(labels)
        .withAnnotations(new TreeMap<>(annotations))
        .build();
  }

  /** The selector of a workload. Immutable once applied, hence without the provider. */
  public Map<String, String> selector(String name) {
    return new TreeMap<>(Map.of(NAME_LABEL, name, PART_OF_LABEL, OPERATOR));
  }

  /** Whether we made it, or somebody else. */
  public static boolean isOurs(HasMetadata object) {
    return isManagedBy(OPERATOR, object);
  }

  /** Whether it belongs to a Helm release, whose next upgrade would set it back. */
  public static boolean isHelms(HasMetadata object) {
    var annotations = object.getMetadata().getAnnotations();
    return isManagedBy("Helm", object)
        || (annotations != null && annotations.containsKey("meta.helm.sh/release-name"));
  }

  private static boolean isManagedBy(String manager, HasMetadata object) {
    var labels = object.getMetadata().getLabels();
    return labels != null && manager.equals(labels.get(MANAGED_BY_LABEL));
  }

  private Map<String, String> labels(String name) {
    var labels = new TreeMap<String, String>();
    labels.put(NAME_LABEL, name);
    labels.put(MANAGED_BY_LABEL, OPERATOR);
    labels.put(PART_OF_LABEL, OPERATOR);
    labels.put(PART_LABEL, part.label());
    labels.put(PROVIDER_LABEL, provider);
    return labels;
  }
}
