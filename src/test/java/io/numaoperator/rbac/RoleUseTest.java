package io.numaoperator.rbac;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** That the audit of roles finds what is missing and what is too much. */
class RoleUseTest {
  private static final String ACCOUNT = "numa-operator";
  private static final HasMetadata ROLE =
      role(
          """
          apiVersion: rbac.authorization.k8s.io/v1
          kind: ClusterRole
          metadata: {name: r}
          rules:
          - {apiGroups: [""], resources: [nodes], verbs: [list, patch]}
          - {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [a, b], verbs: [create]}
          """);

  private static HasMetadata role(String yaml) {
    return Serialization.unmarshal(yaml);
  }

  /** Of a core resource: {@code VERB RESOURCE NAME CODE}, as the audit log has it. */
  private static AuditedRequest request(String text, boolean denied) {
    var word = text.split(" ");
    var group = word[1].startsWith("clusterrole") ? "rbac.authorization.k8s.io" : "";
    return new AuditedRequest(
        "SomeLabTest",
        ACCOUNT,
        word[0],
        group,
        word[1],
        "",
        word[2].equals("-") ? "" : word[2],
        Integer.parseInt(word[3]),
        denied);
  }

  private static RoleUse use(AuditedRequest... requests) {
    return RoleUse.of(ACCOUNT, List.of(ROLE), List.of(requests), List.of());
  }

  private static List<String> unused(RoleUse use) {
    return use.unused().stream().map(Permission::toString).sorted().toList();
  }

  @Test
  void whatWasNeverAskedForIsFound() {
    var some = use(request("list nodes - 200", false), request("patch clusterroles a 201", false));
    assertThat(unused(some))
        .containsExactly("r: create clusterroles.rbac.authorization.k8s.io b", "r: patch nodes");
    assertThat(some.missing()).isEmpty();
  }

  /** An apply of what is there already makes nothing. */
  @Test
  void anApplyNeedsCreateOnlyWhereItMakesTheObject() {
    assertThat(unused(use(request("patch clusterroles a 200", false))))
        .contains("r: create clusterroles.rbac.authorization.k8s.io a");
  }

  @Test
  void whatNoRoleGrantsIsFound() {
    assertThat(use(request("delete nodes n1 403", true)).missing())
        .containsExactly("numa-operator: delete nodes n1 (SomeLabTest)");
    // by admission, or because it would grant what it has not
    assertThat(use(request("patch clusterroles a 403", false)).missing()).hasSize(1);
    // the role is there, only later
    assertThat(use(request("list nodes - 403", true)).missing()).isEmpty();
    // and refused is not used
    assertThat(unused(use(request("list nodes - 403", true)))).contains("r: list nodes");
  }

  @Test
  void ofAnotherAccountNothingCounts() {
    var other = new AuditedRequest("L", "numa-agent", "patch", "", "nodes", "", "n", 200, false);
    assertThat(unused(use(other))).contains("r: patch nodes");
  }

  /** Who makes a role has to have what is in it: that is its use. */
  @Test
  void whatIsHandedOnIsUsed() {
    var made =
        role(
            """
            apiVersion: rbac.authorization.k8s.io/v1
            kind: ClusterRole
            metadata: {name: a}
            rules:
            - {apiGroups: [""], resources: [nodes], verbs: [patch]}
            """);
    var before = RoleUse.of(ACCOUNT, List.of(ROLE), List.of(), List.of(made));
    assertThat(unused(before)).contains("r: patch nodes");
    var after =
        RoleUse.of(
            ACCOUNT,
            List.of(ROLE),
            List.of(request("patch clusterroles a 201", false)),
            List.of(made));
    assertThat(unused(after)).doesNotContain("r: patch nodes");
  }

  @Test
  void anExemptionHasAReasonAndIsNeeded() {
    var unused = use().unused();
    var exemptions = Exemptions.of(List.of("# comment", "", "r: patch nodes # why", "x: * # why"));
    assertThat(exemptions.notExempt(unused))
        .contains("r: list nodes")
        .doesNotContain("r: patch nodes");
    assertThat(exemptions.superfluous(unused)).containsExactly("x: *");
    assertThat(Exemptions.of(List.of("r: * # why")).notExempt(unused)).isEmpty();
    assertThatThrownBy(() -> Exemptions.of(List.of("r: patch nodes")))
        .hasMessageContaining("no reason");
  }

  @Test
  void theRepositorysExemptionsAreOfRolesThatThereAre() {
    var all =
        RolesAreUsedTest.uses(List.of()).stream()
            .flatMap(use -> use.unused().stream())
            .collect(Collectors.toSet());
    assertThat(Exemptions.read().superfluous(all)).isEmpty();
  }

  @Test
  void anEventOfTheAuditLogIsRead() throws IOException {
    var event =
        """
        {"verb":"create","user":{"username":"system:serviceaccount:numa-operator-system:numa-operator"},
         "objectRef":{"resource":"pods","subresource":"eviction","namespace":"a","name":"p-1","apiVersion":"v1"},
         "responseStatus":{"code":429},"annotations":{"authorization.k8s.io/decision":"allow"}}
        """;
    var json = new JsonMapper().readTree(event);
    assertThat(AuditedRequest.of("L", json))
        .contains(
            new AuditedRequest("L", ACCOUNT, "create", "", "pods/eviction", "a", "", 429, false));
    var admin = new JsonMapper().readTree("{\"user\":{\"username\":\"admin\"}}");
    assertThat(AuditedRequest.of("L", admin)).isEmpty();
  }
}
