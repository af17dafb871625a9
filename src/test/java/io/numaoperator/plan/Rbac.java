package io.numaoperator.plan;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.util.List;

/** Asks a set of roles what they allow, as Kubernetes' authorizer would. */
public record Rbac(List<HasMetadata> roles) {
  /** Allowed in this namespace; the empty namespace is a cluster-scoped object or all of them. */
  boolean allows(String namespace, String verb, String group, String resource, String name) {
    return roles.stream()
        .filter(role -> isIn(role, namespace))
        .flatMap(role -> rules(role).stream())
        .anyMatch(rule -> covers(rule, verb, group, resource, name));
  }

  public static boolean isRole(HasMetadata object) {
    return object instanceof Role || object instanceof ClusterRole;
  }

  public static List<PolicyRule> rules(HasMetadata role) {
    return role instanceof Role namespaced
        ? namespaced.getRules()
        : ((ClusterRole) role).getRules();
  }

  private static boolean isIn(HasMetadata role, String namespace) {
    return role instanceof ClusterRole || namespace.equals(role.getMetadata().getNamespace());
  }

  private static boolean covers(
      PolicyRule rule, String verb, String group, String resource, String name) {
    return rule.getVerbs().contains(verb)
        && rule.getApiGroups().contains(group)
        && rule.getResources().contains(resource)
        && (rule.getResourceNames().isEmpty() || rule.getResourceNames().contains(name));
  }
}
