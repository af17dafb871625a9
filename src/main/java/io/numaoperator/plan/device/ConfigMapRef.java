package io.numaoperator.plan.device;

import java.util.Comparator;

/** Where a ConfigMap is; sorted by namespace, then name. */
public record ConfigMapRef(String namespace, String name) implements Comparable<ConfigMapRef> {
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
