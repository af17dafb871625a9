package io.numaoperator.rbac;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.RoleRef;
import io.numaoperator.plan.Rbac;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The roles of one ServiceAccount against what it asked for.
 *
 * @param account the ServiceAccount's name
 * @param permissions all that its roles allow
 * @param requests of the account
 * @param madeByIt roles and bindings that it may make for others
 */
record RoleUse(
    String account,
    List<Permission> permissions,
    List<AuditedRequest> requests,
    List<HasMetadata> madeByIt) {
  private static final String RBAC = "rbac.authorization.k8s.io";

  /**
   * @param roles its own
   * @param all of every account
   */
  static RoleUse of(
      String account,
      List<HasMetadata> roles,
      List<AuditedRequest> all,
      List<HasMetadata> madeByIt) {
    return new RoleUse(
        account,
        roles.stream().flatMap(role -> Permission.of(role).stream()).distinct().toList(),
        all.stream().filter(request -> request.account().equals(account)).toList(),
        madeByIt);
  }

  /**
   * What it was refused. Not what its roles allow: a role is there a moment later than who has it,
   * or gone a moment before, and those of providers are installed only where they are wanted.
   */
  Set<String> missing() {
    return requests.stream()
        .filter(
            request ->
                request.refusedLater()
                    || (request.denied() && permissions.stream().noneMatch(p -> p.allows(request))))
        .map(request -> request + " (" + request.lab() + ")")
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** What its roles allow, and it never asked for. */
  Set<Permission> unused() {
    var unused = new HashSet<>(permissions);
    var asked = requests.stream().filter(request -> !request.denied()).toList();
    var handedOut = handedOut();
    unused.removeIf(
        permission ->
            asked.stream().anyMatch(permission::allows)
                || handedOut.stream().anyMatch(permission::includes));
    return unused;
  }

  /**
   * Kubernetes lets nobody grant what he does not have, nor bind a role of others without the verb
   * bind: so what is in the roles that it did make is used, though no audit log says so.
   */
  private Set<Permission> handedOut() {
    return madeByIt.stream()
        .filter(this::wasMade)
        .flatMap(
            object -> Rbac.isRole(object) ? Permission.of(object).stream() : bound(object).stream())
        .collect(Collectors.toSet());
  }

  private boolean wasMade(HasMetadata object) {
    return requests.stream()
        .anyMatch(
            request ->
                request.succeeded()
                    && request.isVerb("create")
                    && request.group().equals(RBAC)
                    && request.resource().equals(object.getPlural())
                    && request.name().equals(object.getMetadata().getName())
                    && request.namespace().equals(namespace(object)));
  }

  private static Optional<Permission> bound(HasMetadata object) {
    return switch (object) {
      case RoleBinding binding -> Optional.of(bind(binding.getRoleRef(), namespace(object)));
      case ClusterRoleBinding binding -> Optional.of(bind(binding.getRoleRef(), ""));
      default -> Optional.empty();
    };
  }

  private static Permission bind(RoleRef role, String namespace) {
    return new Permission(
        "", namespace, "bind", RBAC, role.getKind().toLowerCase(Locale.ROOT) + "s", role.getName());
  }

  private static String namespace(HasMetadata object) {
    return Objects.requireNonNullElse(object.getMetadata().getNamespace(), "");
  }
}
