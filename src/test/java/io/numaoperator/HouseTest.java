package io.numaoperator;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;

/** The house of DESIGN: who may use whom, and what a pure package may not touch. */
@AnalyzeClasses(packages = "io.numaoperator", importOptions = ImportOption.DoNotIncludeTests.class)
class HouseTest {
  private static final String API = "io.numaoperator.api..";
  private static final String TOPOLOGY = "io.numaoperator.topology..";
  private static final String KUBELET = "io.numaoperator.kubelet..";
  private static final String PLAN = "io.numaoperator.plan..";
  private static final String PREFLIGHT = "io.numaoperator.preflight..";
  private static final String READINESS = "io.numaoperator.readiness..";
  private static final String ROLLOUT = "io.numaoperator.rollout..";
  private static final String EXPLAIN = "io.numaoperator.explain..";
  private static final String OPERATOR = "io.numaoperator.operator..";
  private static final String AGENT = "io.numaoperator.agent..";
  private static final String SCHEDULER = "io.numaoperator.scheduler..";
  private static final String VIEW = "io.numaoperator.view..";
  private static final String CLI = "io.numaoperator.cli..";
  private static final String CLI_TEXT = "io.numaoperator.cli.text..";
  private static final String WEB = "io.numaoperator.web..";
  private static final String PROBE = "io.numaoperator.probe..";
  private static final String[] PURE = {
    TOPOLOGY, KUBELET, PLAN, PREFLIGHT, READINESS, ROLLOUT, EXPLAIN, VIEW, CLI_TEXT
  };

  @ArchTest
  static final ArchRule apiUsesNothingOfOurs =
      noClasses()
          .that()
          .resideInAPackage(API)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              TOPOLOGY, KUBELET, PLAN, PREFLIGHT, READINESS, ROLLOUT, EXPLAIN, OPERATOR, AGENT,
              SCHEDULER, VIEW, CLI, WEB);

  @ArchTest
  static final ArchRule pureArithmeticUsesOnlyTheApi =
      noClasses()
          .that()
          .resideInAnyPackage(TOPOLOGY, KUBELET)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              PLAN, PREFLIGHT, READINESS, ROLLOUT, EXPLAIN, OPERATOR, AGENT, SCHEDULER, VIEW, CLI,
              WEB);

  @ArchTest
  static final ArchRule explanationsNeedArithmeticOnly =
      noClasses()
          .that()
          .resideInAPackage(EXPLAIN)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              KUBELET, PLAN, PREFLIGHT, READINESS, ROLLOUT, OPERATOR, AGENT, SCHEDULER, VIEW, CLI,
              WEB);

  @ArchTest
  static final ArchRule pureDecisionsKnowNoOperator =
      noClasses()
          .that()
          .resideInAnyPackage(PURE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(OPERATOR, AGENT, WEB);

  @ArchTest
  static final ArchRule theAgentKnowsNeitherPlansNorOperator =
      noClasses()
          .that()
          .resideInAPackage(AGENT)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              PLAN,
              PREFLIGHT,
              READINESS,
              ROLLOUT,
              EXPLAIN,
              OPERATOR,
              SCHEDULER,
              VIEW,
              CLI,
              WEB,
              "io.quarkus..",
              "jakarta..",
              "io.javaoperatorsdk..");

  @ArchTest
  static final ArchRule aProbeNeedsArithmeticOnly =
      noClasses()
          .that()
          .resideInAPackage(PROBE)
          .should()
          .dependOnClassesThat(
              resideInAPackage("io.numaoperator..").and(not(resideInAnyPackage(PROBE, TOPOLOGY))))
          .orShould()
          .dependOnClassesThat()
          .resideInAnyPackage("io.quarkus..", "io.fabric8..", "jakarta..");

  @ArchTest
  static final ArchRule nobodyNeedsAProbe =
      noClasses()
          .that()
          .resideOutsideOfPackage(PROBE)
          .should()
          .dependOnClassesThat()
          .resideInAPackage(PROBE);

  @ArchTest
  static final ArchRule nobodyNeedsTheCommandLine =
      noClasses()
          .that()
          .resideOutsideOfPackage(CLI)
          .should()
          .dependOnClassesThat()
          .resideInAPackage(CLI);

  @ArchTest
  static final ArchRule theCommandLineIsAPlainMain =
      noClasses()
          .that()
          .resideInAnyPackage(CLI, VIEW)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              OPERATOR, AGENT, SCHEDULER, "io.quarkus..", "jakarta..", "io.javaoperatorsdk..");

  @ArchTest
  static final ArchRule pureMeansNoClockNoClientNoFiles =
      noClasses()
          .that()
          .resideInAnyPackage(PURE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.fabric8.kubernetes.client",
              "io.fabric8.kubernetes.client.dsl..",
              "java.nio.file..",
              "java.net..",
              "java.util.logging..",
              "org.jboss.logging..",
              "org.slf4j..")
          .orShould()
          .callMethod(java.time.Instant.class, "now")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(System.class, "nanoTime");

  /** What it shows comes through an interface of its own; it decides nothing. */
  @ArchTest
  static final ArchRule thePageKnowsValuesOnly =
      noClasses()
          .that()
          .resideInAPackage(WEB)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(PLAN, PREFLIGHT, READINESS, ROLLOUT, OPERATOR, AGENT, SCHEDULER, CLI);

  @ArchTest
  static final ArchRule noStaticState =
      noFields()
          .that()
          .areStatic()
          .and()
          .areDeclaredInClassesThat()
          .resideOutsideOfPackage("io.numaoperator.agent.podresources..")
          .should()
          .notBeFinal();

  /** Listed at once, the Nodes and pods of a big cluster take more memory than a container has. */
  @ArchTest
  static final ArchRule whatIsWatchedIsListedByPages =
      classes()
          .that(describe("start informers", type -> calls(type, "runnableInformer", "inform")))
          .should(ArchCondition.from(describe("list by pages", type -> calls(type, "withLimit"))));

  private static boolean calls(JavaClass type, String... methods) {
    return type.getMethodCallsFromSelf().stream()
        .filter(call -> call.getTargetOwner().getPackageName().startsWith("io.fabric8."))
        .anyMatch(call -> List.of(methods).contains(call.getName()));
  }

  @ArchTest
  static final ArchRule onlyTheOperatorIsManaged =
      classes()
          .that()
          .areAnnotatedWith("jakarta.enterprise.context.ApplicationScoped")
          .should()
          .resideInAnyPackage(OPERATOR, SCHEDULER);
}
