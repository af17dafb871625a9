package io.numaoperator.rbac;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.numaoperator.plan.Rbac;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * One thing that a role allows: a rule taken apart.
 *
 * @param role the role's name
 * @param namespace of a Role; empty for a ClusterRole
 * @param name the one object; empty for all
 */
record Permission(
    String role, String namespace, String verb, String group, String resource, String name) {

  static List<Permission> of(HasMetadata role) {
    return Rbac.rules(role).stream().flatMap(rule -> of(role, rule)).toList();
  }

  private static Stream<Permission> of(HasMetadata role, PolicyRule rule) {
    var meta = role.getMetadata();
    var names = rule.getResourceNames().isEmpty() ? List.of("") : rule.getResourceNames();
    return rule.getVerbs().stream()
        .flatMap(
            verb ->
                rule.getApiGroups().stream()
                    .flatMap(
                        group ->
                            rule.getResources().stream()
                                .flatMap(
                                    resource ->
                                        names.stream()
                                            .map(
                                                name ->
                                                    new Permission(
                                                        meta.getName(),
                                                        Objects.requireNonNullElse(
                                                            meta.getNamespace(), ""),
                                                        verb,
                                                        group,
                                                        resource,
                                                        name)))));
  }

  boolean allows(AuditedRequest request) {
    return request.isVerb(verb)
        && group.equals(request.group())
        && resource.equals(request.resource())
        && (namespace.isEmpty() || namespace.equals(request.namespace()))
        && (name.isEmpty() || name.equals(request.name()));
  }

  /** Whether who has this has the other one too, wherever and of whichever object it is. */
  boolean includes(Permission other) {
    return verb.equals(other.verb)
        && group.equals(other.group)
        && resource.equals(other.resource)
        && (namespace.isEmpty() || namespace.equals(other.namespace))
        && (name.isEmpty() || name.equals(other.name));
  }

  static String text(String verb, String group, String resource, String namespace, String name) {
    return verb
        + " "
        + resource
        + (group.isEmpty() ? "" : "." + group)
        + (name.isEmpty() ? "" : " " + name)
        + (namespace.isEmpty() ? "" : " in " + namespace);
  }

  @Override
  public String toString() {
    return role + ": " + text(verb, group, resource, namespace, name);
  }
}
