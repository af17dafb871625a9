package io.numaoperator.plan;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;

/** All roles that there can be of ours, for tests of other packages. */
public final class Roles {
  private Roles() {}

  /** The operator's, of config/ with all that is optional. */
  public static List<HasMetadata> installed() {
    return ConfigFilesTest.roles();
  }

  /**
   * Roles and bindings that the operator makes for what it runs; of a name there may be several.
   */
  public static List<HasMetadata> made() {
    return AllPlans.objects().stream()
        .filter(object -> object.getApiVersion().startsWith("rbac.authorization.k8s.io/"))
        .toList();
  }
}
