package io.numaoperator.rbac;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.plan.Rbac;
import io.numaoperator.plan.Roles;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Least privilege as a fact: over all that the lab tests did under the real ServiceAccounts, no
 * request wanted a permission that no role grants, and no role grants what nothing asked for. Runs
 * after all lab tests (hack/test.sh), whose audit logs it reads.
 */
@Tag("audit")
class RolesAreUsedTest {
  private static final String OPERATOR = "numa-operator";

  /** Of a wide lab each; without one of them, what only it uses looks unused. */
  private static final Set<String> LABS =
      Set.of(
          "ConfinementLabTest",
          "ControlPlane",
          "DevicePluginLabTest",
          "PageLabTest",
          "SchedulingLabTest",
          "SliceLabTest");

  private static List<AuditedRequest> requests;
  private static List<RoleUse> uses;

  @BeforeAll
  static void read() throws IOException {
    requests = AuditSummary.all();
    uses = uses(requests);
  }

  static List<RoleUse> uses(List<AuditedRequest> requests) {
    var uses =
        Roles.made().stream()
            .filter(Rbac::isRole)
            .collect(Collectors.groupingBy(role -> role.getMetadata().getName()))
            .entrySet()
            .stream()
            // a role that the operator makes is named after the ServiceAccount that has it
            .map(role -> RoleUse.of(role.getKey(), role.getValue(), requests, List.of()))
            .collect(Collectors.toList());
    uses.add(RoleUse.of(OPERATOR, Roles.installed(), requests, Roles.made()));
    return uses;
  }

  @Test
  void allLabsWereRun() {
    assertThat(requests.stream().map(AuditedRequest::lab).collect(Collectors.toSet()))
        .as(
            "labs in target/audit: this test wants all lab tests to have run before, as make test does")
        .containsAll(LABS);
    assertThat(requests.stream().map(AuditedRequest::account).collect(Collectors.toSet()))
        .contains(OPERATOR, "numa-agent", "numa-scheduler");
  }

  @Test
  void noPermissionIsMissing() {
    var missing = new TreeSet<String>();
    uses.forEach(use -> missing.addAll(use.missing()));
    // its thief is refused by the admission policy, as he should be
    missing.removeIf(
        request -> request.startsWith("numa-agent") && request.endsWith("(ConfinementLabTest)"));
    assertThat(missing).as("was refused: add to the account's role, or ask no more").isEmpty();
  }

  @Test
  void everyPermissionIsUsed() {
    var unused = new HashSet<Permission>();
    uses.forEach(use -> unused.addAll(use.unused()));
    var exemptions = Exemptions.read();
    assertThat(exemptions.notExempt(unused))
        .as(
            "nothing asked for these: remove them, or say in src/test/resources/rbac/not-seen.txt why not")
        .isEmpty();
    assertThat(exemptions.superfluous(unused))
        .as("these are used, or in no role: remove them from src/test/resources/rbac/not-seen.txt")
        .isEmpty();
  }
}
