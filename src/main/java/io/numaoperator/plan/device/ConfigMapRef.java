package io.numaoperator.plan.device;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Comparator;

/** Where a ConfigMap is; sorted by namespace, then name. */
public record ConfigMapRef(String namespace, String name) implements Comparable<ConfigMapRef> {
  /** Of a namespaced object. */
  public static ConfigMapRef of(HasMetadata object) {
    return new ConfigMapRef(object.getMetadata().getNamespace(), object.getMetadata().getName());
  }

  @Override
  public int compareTo(ConfigMapRef other) {
    return Comparator.comparing(ConfigMapRef::namespace)
        .thenComparing(ConfigMapRef::name)
        .compare(this, other);
  }

  @Override
  public String toString() {
    return namespace + "/" + name;
  }
}
