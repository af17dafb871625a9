package io.numaoperator.plan;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Subject;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What people install: config/, against what the operator applies. */
class ConfigFilesTest {
  private static final Path CONFIG = Path.of("config");
  private static final String NAMESPACE = "numa-operator-system";
  private static final String[] ROLES = {
    "rbac", "hami", "nvidia", "gpu-operator", "cleanup-failed-pods"
  };

  static List<HasMetadata> roles() {
    return objects(ROLES).filter(Rbac::isRole).toList();
  }

  @ParameterizedTest
  @MethodSource("roles")
  void noRoleHasAWildcardOrNodesProxyOrEscalates(HasMetadata role) {
    assertThat(Rbac.rules(role))
        .isNotEmpty()
        .allSatisfy(
            rule -> {
              assertThat(rule.getVerbs())
                  .isNotEmpty()
                  .doesNotContain("*", "escalate", "impersonate", "deletecollection");
              assertThat(rule.getApiGroups()).isNotEmpty().doesNotContain("*");
              assertThat(rule.getResources())
                  .isNotEmpty()
                  .doesNotContain("*", "nodes/proxy", "pods/exec");
              if (rule.getResources().contains("secrets")) {
                // none is read but its own, by name, in its own namespace
                assertThat(role.getMetadata().getNamespace()).isEqualTo(NAMESPACE);
                assertThat(
                        rule.getVerbs().equals(List.of("create"))
                            || !rule.getResourceNames().isEmpty())
                    .isTrue();
              }
              if (rule.getVerbs().contains("bind")) {
                assertThat(rule.getResourceNames()).isNotEmpty();
              }
            });
  }

  @Test
  void everyRoleIsBoundToTheOperatorAndToNobodyElse() {
    var subject = new Subject("", "ServiceAccount", "numa-operator", NAMESPACE);
    var bound = new TreeSet<String>();
    for (var object : objects(ROLES).toList()) {
      switch (object) {
        case RoleBinding binding -> {
          assertThat(binding.getSubjects())
              .extracting(Subject::getName)
              .containsExactly("numa-operator");
          assertThat(binding.getSubjects().getFirst().getNamespace())
              .isEqualTo(subject.getNamespace());
          bound.add(
              key("Role", binding.getMetadata().getNamespace(), binding.getRoleRef().getName()));
        }
        case ClusterRoleBinding binding -> {
          assertThat(binding.getSubjects())
              .extracting(Subject::getName)
              .containsExactly("numa-operator");
          bound.add(key("ClusterRole", null, binding.getRoleRef().getName()));
        }
        default -> {}
      }
    }
    assertThat(roles())
        .extracting(
            role ->
                key(
                    role.getKind(),
                    role.getMetadata().getNamespace(),
                    role.getMetadata().getName()))
        .containsExactlyInAnyOrderElementsOf(bound);
  }

  /**
   * Kubernetes lets nobody grant what he does not have: each granted rule is the operator's too.
   */
  @Test
  void theOperatorHasWhatItGrants() {
    var operator = new Rbac(roles());
    var missing = new ArrayList<String>();
    var granted = AllPlans.objects().stream().filter(Rbac::isRole).toList();
    assertThat(granted).isNotEmpty();
    for (var role : granted) {
      var namespace = Optional.ofNullable(role.getMetadata().getNamespace()).orElse("");
      for (var rule : Rbac.rules(role)) {
        each(
            rule,
            (verb, group, resource, name) -> {
              if (!operator.allows(namespace, verb, group, resource, name)) {
                missing.add(
                    "%s: %s %s %s".formatted(role.getMetadata().getName(), verb, resource, name));
              }
            });
      }
    }
    assertThat(missing).isEmpty();
  }

  /**
   * Who installs config/default alone gives nobody the permission to delete a pod outside of the
   * operator's own namespace.
   */
  @Test
  void onlyTheCleanUpMayDeletePodsOfOthers() {
    for (var role : roles().stream().filter(ClusterRole.class::isInstance).toList()) {
      assertThat(
              Rbac.rules(role).stream()
                  .anyMatch(
                      r -> r.getResources().contains("pods") && r.getVerbs().contains("delete")))
          .isEqualTo(role.getMetadata().getName().equals("numa-operator-cleanup-failed-pods"));
    }
  }

  /** To bind a role that it does not have, it needs the verb bind for exactly that one. */
  @Test
  void theOperatorMayBindWhatItBinds() {
    var operator = new Rbac(roles());
    var own =
        AllPlans.objects().stream()
            .filter(Rbac::isRole)
            .map(role -> role.getMetadata().getName())
            .toList();
    for (var object : AllPlans.objects()) {
      var ref =
          switch (object) {
            case RoleBinding binding -> binding.getRoleRef();
            case ClusterRoleBinding binding -> binding.getRoleRef();
            default -> null;
          };
      if (ref != null && !own.contains(ref.getName())) {
        var namespace = Optional.ofNullable(object.getMetadata().getNamespace()).orElse("");
        var resource = ref.getKind().equals("Role") ? "roles" : "clusterroles";
        assertThat(
                operator.allows(
                    namespace, "bind", "rbac.authorization.k8s.io", resource, ref.getName()))
            .as(ref.getName())
            .isTrue();
      }
    }
  }

  /** Server-side apply of an object that is not there needs create as well as patch. */
  @Test
  void theOperatorMayApplyFindAndRemoveWhatItMakes() {
    var operator = new Rbac(roles());
    for (var object : AllPlans.objects()) {
      var namespace = Optional.ofNullable(object.getMetadata().getNamespace()).orElse("");
      var group =
          object.getApiVersion().contains("/") ? object.getApiVersion().split("/", 2)[0] : "";
      var retained = object.getMetadata().getLabels().containsKey(Ownership.RETAIN_LABEL);
      var verbs = new ArrayList<>(List.of("get", "list", "watch", "create", "patch"));
      if (!retained) {
        verbs.add("delete");
      }
      for (var verb : verbs) {
        assertThat(
                operator.allows(
                    namespace, verb, group, object.getPlural(), object.getMetadata().getName()))
            .as("%s %s %s/%s", verb, object.getPlural(), namespace, object.getMetadata().getName())
            .isTrue();
      }
    }
  }

  @Test
  void theOperatorRunsUnprivilegedAndKnowsItsImage() {
    var deployment = only(Deployment.class, objects("manager"));
    var pod = deployment.getSpec().getTemplate();
    var container = pod.getSpec().getContainers().getFirst();
    assertThat(pod.getSpec().getServiceAccountName()).isEqualTo("numa-operator");
    assertThat(pod.getSpec().getSecurityContext().getRunAsNonRoot()).isTrue();
    assertThat(container.getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
    assertThat(container.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
    assertThat(container.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
    assertThat(container.getEnv())
        .filteredOn(env -> env.getName().equals("OPERATOR_IMAGE"))
        .singleElement()
        .satisfies(env -> assertThat(env.getValue()).isEqualTo(container.getImage()));
    assertThat(pod.getMetadata().getLabels())
        .containsEntry("hami.io/webhook", "ignore")
        .containsAllEntriesOf(deployment.getSpec().getSelector().getMatchLabels());
  }

  /**
   * The port with tokens has a Service; the one on the loopback, which wants none, has no way in.
   */
  @Test
  void thePageIsReachedByItsService() {
    var container =
        only(Deployment.class, objects("manager"))
            .getSpec()
            .getTemplate()
            .getSpec()
            .getContainers()
            .getFirst();
    assertThat(container.getPorts())
        .extracting(ContainerPort::getContainerPort)
        .contains(8443)
        .doesNotContain(8081);
    var service = only(Service.class, objects("manager")).getSpec();
    assertThat(service.getPorts())
        .singleElement()
        .satisfies(port -> assertThat(port.getTargetPort().getStrVal()).isEqualTo("page"));
    assertThat(container.getPorts())
        .filteredOn(port -> port.getName().equals("page"))
        .extracting(ContainerPort::getContainerPort)
        .containsExactly(8443);
    assertThat(service.getSelector())
        .isEqualTo(
            only(Deployment.class, objects("manager")).getSpec().getSelector().getMatchLabels());
    var operator = new Rbac(roles());
    assertThat(operator.allows("", "create", "authentication.k8s.io", "tokenreviews", "")).isTrue();
    assertThat(operator.allows("", "create", "authorization.k8s.io", "subjectaccessreviews", ""))
        .isTrue();
  }

  /** Kustomize drops nothing silently: each file of a folder is in its kustomization. */
  @Test
  void everyFileIsInItsKustomization() throws IOException {
    for (var folder :
        List.of(
            "rbac",
            "manager",
            "hami",
            "nvidia",
            "gpu-operator",
            "cleanup-failed-pods",
            "prometheus",
            "network-policy",
            "default",
            "crd")) {
      var directory = CONFIG.resolve(folder);
      var listed = new ArrayList<String>();
      new YAMLMapper()
          .readTree(directory.resolve("kustomization.yaml").toFile())
          .get("resources")
          .forEach(resource -> listed.add(resource.asText()));
      assertThat(listed).allSatisfy(resource -> assertThat(directory.resolve(resource)).exists());
      try (var files = Files.list(directory)) {
        assertThat(listed.stream().filter(resource -> !resource.startsWith("..")))
            .containsExactlyInAnyOrderElementsOf(
                files
                    .map(file -> file.getFileName().toString())
                    .filter(file -> !file.equals("kustomization.yaml"))
                    .toList());
      }
    }
  }

  /** A sample with a misspelled field would be accepted with --validate=false, and mean nothing. */
  @Test
  void samplesHoldOnlyKnownFields() throws IOException {
    var samples = samples();
    assertThat(samples).hasSizeGreaterThan(7);
    for (var yaml : samples) {
      var policy = Serialization.unmarshal(yaml, NumaPolicy.class);
      var written = new YAMLMapper().readTree(yaml).get("spec");
      var understood = new YAMLMapper().valueToTree(policy).get("spec");
      assertThat(paths("", understood)).containsAll(paths("", written));
    }
    var gpu =
        Serialization.unmarshal(
            Files.readString(CONFIG.resolve("samples/gpu-nodes.yaml")), NumaPolicy.class);
    assertThat(gpu.getSpec().mode).isEqualTo(NumaPolicySpec.Mode.Enforce);
    assertThat(gpu.getSpec().kubelet.memoryManager.reserved.perNumaNode).isEqualTo("4Gi");
  }

  /** Said in it, so that a person who looks for it finds it. */
  @Test
  void everyProviderHasASample() throws IOException {
    var said = new HashMap<String, Set<String>>();
    for (var yaml : samples()) {
      var spec = new YAMLMapper().readTree(yaml).get("spec");
      for (var part : List.of("devicePlugin", "topologyUpdater", "scheduler")) {
        said.computeIfAbsent(part, p -> new TreeSet<>())
            .add(spec.path(part).path("provider").asText());
      }
    }
    assertThat(said.get("devicePlugin")).containsAll(names(DevicePluginPolicy.Provider.values()));
    assertThat(said.get("topologyUpdater"))
        .containsAll(names(TopologyUpdaterPolicy.Provider.values()));
    assertThat(said.get("scheduler")).containsAll(names(SchedulerPolicy.Provider.values()));
    var providers = Files.readString(Path.of("docs/providers.md"));
    Stream.of(
            DevicePluginPolicy.Provider.values(),
            TopologyUpdaterPolicy.Provider.values(),
            SchedulerPolicy.Provider.values())
        .flatMap(values -> names(values).stream())
        .forEach(name -> assertThat(providers).containsPattern("(?m)^\\| `" + name + "`"));
  }

  private static List<String> names(Enum<?>[] values) {
    return Stream.of(values).map(Enum::name).toList();
  }

  /** Of policies. */
  private static List<String> samples() throws IOException {
    try (var files = Files.list(CONFIG.resolve("samples"))) {
      return files
          .sorted()
          .map(ConfigFilesTest::read)
          .filter(yaml -> yaml.contains("kind: NumaPolicy"))
          .toList();
    }
  }

  /** Who applies the folder of samples as it is changes no kubelet. */
  @Test
  void samplesAppliedAtOnceChangeNothing() throws IOException {
    var listed =
        new YAMLMapper()
            .readTree(CONFIG.resolve("samples/kustomization.yaml").toFile())
            .get("resources");
    assertThat(listed)
        .isNotEmpty()
        .allSatisfy(
            file ->
                assertThat(
                        Serialization.unmarshal(
                                read(CONFIG.resolve("samples").resolve(file.asText())),
                                NumaPolicy.class)
                            .getSpec()
                            .mode)
                    .isEqualTo(NumaPolicySpec.Mode.Observe));
  }

  private static List<String> paths(String path, JsonNode node) {
    return node.isObject()
        ? node.properties().stream()
            .flatMap(field -> paths(path + "/" + field.getKey(), field.getValue()).stream())
            .toList()
        : List.of(path + "=" + node.asText());
  }

  private interface Permission {
    void check(String verb, String group, String resource, String name);
  }

  private static void each(PolicyRule rule, Permission permission) {
    var names = rule.getResourceNames().isEmpty() ? List.of("") : rule.getResourceNames();
    for (var verb : rule.getVerbs()) {
      for (var group : rule.getApiGroups()) {
        for (var resource : rule.getResources()) {
          names.forEach(name -> permission.check(verb, group, resource, name));
        }
      }
    }
  }

  private static String key(String kind, String namespace, String name) {
    return Stream.of(kind, namespace, name)
        .filter(Objects::nonNull)
        .collect(Collectors.joining("/"));
  }

  private static <T> T only(Class<T> kind, Stream<HasMetadata> objects) {
    var found = objects.filter(kind::isInstance).map(kind::cast).toList();
    assertThat(found).hasSize(1);
    return found.getFirst();
  }

  /** What is in folders of config/. */
  static Stream<HasMetadata> objects(String... folders) {
    return Stream.of(folders).map(CONFIG::resolve).flatMap(ConfigFilesTest::objectsOf);
  }

  private static Stream<HasMetadata> objectsOf(Path folder) {
    try (var files = Files.list(folder)) {
      var yaml =
          files
              .sorted()
              .filter(file -> !file.endsWith("kustomization.yaml"))
              .map(ConfigFilesTest::read)
              .flatMap(text -> Stream.of(text.split("(?m)^---$")))
              .toList();
      return yaml.stream().map(document -> Serialization.<HasMetadata>unmarshal(document));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
