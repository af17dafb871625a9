package io.numaoperator.plan;

import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleRef;
import io.fabric8.kubernetes.api.model.rbac.Subject;
import io.fabric8.kubernetes.api.model.rbac.SubjectBuilder;
import java.util.List;

/**
 * The ServiceAccount of one workload and what it may do.
 *
 * @param namespace where the ServiceAccount is
 * @param account its name
 */
public record Access(Ownership ownership, String namespace, String account) {
  private static final String RBAC = "rbac.authorization.k8s.io";

  /** One rule; the order of what it names is kept. */
  public static PolicyRule rule(String group, List<String> resources, String... verbs) {
    return new PolicyRuleBuilder()
        .withApiGroups(group)
        .withResources(resources)
        .withVerbs(verbs)
        .build();
  }

  public ServiceAccount serviceAccount() {
    return new ServiceAccountBuilder()
        .withMetadata(ownership.metadata(namespace, account))
        // the workload's pod asks for its token itself
        .withAutomountServiceAccountToken(false)
        .build();
  }

  public ClusterRole clusterRole(String name, List<PolicyRule> rules) {
    return new ClusterRoleBuilder().withMetadata(ownership.metadata(name)).withRules(rules).build();
  }

  public ClusterRoleBinding clusterRoleBinding(String name, String clusterRole) {
    return new ClusterRoleBindingBuilder()
        .withMetadata(ownership.metadata(name))
        .withRoleRef(new RoleRef(RBAC, "ClusterRole", clusterRole))
        .withSubjects(subject())
        .build();
  }

  public Role role(String name, List<PolicyRule> rules) {
    return new RoleBuilder()
        .withMetadata(ownership.metadata(namespace, name))
        .withRules(rules)
        .build();
  }

  public RoleBinding roleBinding(String name, String role) {
    return new RoleBindingBuilder()
        .withMetadata(ownership.metadata(namespace, name))
        .withRoleRef(new RoleRef(RBAC, "Role", role))
        .withSubjects(subject())
        .build();
  }

  private Subject subject() {
    return new SubjectBuilder()
        .withKind("ServiceAccount")
        .withName(account)
        .withNamespace(namespace)
        .build();
  }
}
