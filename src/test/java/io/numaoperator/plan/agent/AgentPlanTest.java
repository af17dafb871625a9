package io.numaoperator.plan.agent;

import static io.numaoperator.plan.Policies.assertStable;
import static io.numaoperator.plan.Policies.cluster;
import static io.numaoperator.plan.Policies.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetSpec;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.numaoperator.api.NodeSelector;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.Golden;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.agent.AgentPlan.UnderChange;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class AgentPlanTest {
  private static final NumaPolicy GPU = policy("gpu", 1);
  private static final NumaPolicy HPC =
      policy(
          "hpc",
          2,
          spec -> {
            spec.allowControlPlane = true;
            spec.nodeSelector.matchExpressions.add(in("zone", "b", "a", "b"));
            spec.nodeSelector.matchExpressions.add(exists("fabric"));
          });

  @Test
  void rendersTheDocumentedObjects() throws IOException {
    Golden.assertMatches("agent", AgentPlan.objects(cluster(34), List.of(GPU, HPC)));
  }

  /** Only where there are such nodes: elsewhere it would make the directories. */
  @Test
  void theFilesOfK3sAndRke2AreSeenWhereTheyAre() {
    var plain = cluster(34);
    var facts =
        new ClusterFacts(
            plain.namespace(),
            plain.operatorImage(),
            plain.server(),
            plain.oldestKubelet(),
            false,
            plain.release(),
            new TreeSet<>(Set.of("rke2", "k3s")));
    assertThat(mounts(plain)).noneMatch(mount -> mount.contains("rancher"));
    assertThat(mounts(facts))
        .contains(
            "/host/etc/rancher/k3s ro",
            "/host/var/lib/rancher/k3s/agent rw",
            "/host/etc/rancher/rke2 ro",
            "/host/var/lib/rancher/rke2/agent rw");
  }

  private static List<String> mounts(ClusterFacts facts) {
    return AgentPlan.objects(facts, List.of(GPU)).objects().stream()
        .filter(DaemonSet.class::isInstance)
        .map(DaemonSet.class::cast)
        .flatMap(set -> set.getSpec().getTemplate().getSpec().getContainers().stream())
        .flatMap(container -> container.getVolumeMounts().stream())
        .map(m -> m.getMountPath() + (Boolean.TRUE.equals(m.getReadOnly()) ? " ro" : " rw"))
        .toList();
  }

  @Test
  void withoutPolicyThereIsNoAgent() {
    assertThat(AgentPlan.objects(cluster(34), List.of()).objects()).isEmpty();
  }

  /** Before the agents' binding: no moment in which a token is worth more. */
  @Test
  void agentsAreConfinedBeforeThereAreAny() {
    var planned = AgentPlan.objects(cluster(30), List.of(GPU));
    assertThat(planned.objects())
        .extracting(HasMetadata::getKind)
        .containsExactly(
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ServiceAccount",
            "ClusterRole",
            "ClusterRoleBinding",
            "DaemonSet");
    assertThat(planned.remarks()).isEmpty();
    var policy = only(ValidatingAdmissionPolicy.class, List.of(GPU)).getSpec();
    assertThat(policy.getFailurePolicy()).isEqualTo("Fail");
    assertThat(policy.getMatchConditions().getFirst().getExpression())
        .isEqualTo(
            "request.userInfo.username == 'system:serviceaccount:numa-operator-system:numa-agent'");
  }

  /** All that it may write is confined: a right that is added later is too, or this fails. */
  @Test
  void everythingThatAnAgentMayWriteIsConfined() {
    var confined =
        only(ValidatingAdmissionPolicy.class, List.of(GPU))
            .getSpec()
            .getMatchConstraints()
            .getResourceRules()
            .stream()
            .flatMap(rule -> rule.getResources().stream())
            .toList();
    assertThat(only(ClusterRole.class, List.of(GPU)).getRules())
        .filteredOn(rule -> !Set.of("get", "list", "watch").containsAll(rule.getVerbs()))
        .isNotEmpty()
        .allSatisfy(rule -> assertThat(confined).containsAll(rule.getResources()));
  }

  @Test
  void whereAgentsCannotBeConfinedItIsSaid() {
    var planned = AgentPlan.objects(cluster(29), List.of(GPU));
    assertThat(planned.objects())
        .noneMatch(object -> object.getKind().startsWith("ValidatingAdmission"));
    assertThat(planned.remarks())
        .extracting(Provision.Remark::reason)
        .containsExactly("AgentsNotConfined");
    assertThat(AgentPlan.objects(cluster(29), List.of()).remarks()).isEmpty();
  }

  private static NumaNodeState state(String node) {
    var state = new NumaNodeState();
    state.setMetadata(new ObjectMetaBuilder().withName(node).withUid("uid-of-" + node).build());
    return state;
  }

  /** Else the garbage collector ends the agent in mid-attempt when the policy is deleted. */
  @Test
  void aNodeUnderChangeKeepsItsAgentWhenItsPolicyIsGone() {
    var busy = List.of(new UnderChange(state("n1"), false), new UnderChange(state("n0"), true));
    var objects = AgentPlan.objects(cluster(34), List.of(GPU), busy).objects();
    assertThat(objects)
        .hasSize(6)
        .allSatisfy(
            object ->
                assertThat(object.getMetadata().getOwnerReferences())
                    .extracting(owner -> owner.getKind() + " " + owner.getName())
                    .containsExactly("NumaPolicy gpu", "NumaNodeState n0", "NumaNodeState n1"));
    assertThat(fields(objects)).containsExactly("metadata.name In [n1]");

    var orphans = AgentPlan.objects(cluster(34), List.of(), busy.subList(0, 1)).objects();
    assertThat(orphans).hasSize(6);
    assertThat(fields(orphans)).containsExactly("metadata.name In [n1]");
  }

  /** A template that changed with each node's turn would be rolled through the controller. */
  @Test
  void aSelectedNodeUnderChangeLeavesTheTemplateAsItIs() {
    var busy = List.of(new UnderChange(state("n1"), true));
    assertThat(spec(AgentPlan.objects(cluster(34), List.of(GPU), busy).objects()))
        .isEqualTo(spec(AgentPlan.objects(cluster(34), List.of(GPU)).objects()));
  }

  private static DaemonSetSpec spec(List<HasMetadata> objects) {
    return ((DaemonSet) objects.getLast()).getSpec();
  }

  private static List<String> fields(List<HasMetadata> objects) {
    return spec(objects)
        .getTemplate()
        .getSpec()
        .getAffinity()
        .getNodeAffinity()
        .getRequiredDuringSchedulingIgnoredDuringExecution()
        .getNodeSelectorTerms()
        .stream()
        .flatMap(term -> term.getMatchFields().stream())
        .map(field -> field.getKey() + " " + field.getOperator() + " " + field.getValues())
        .toList();
  }

  @Test
  void orderOfPoliciesDoesNotMatter() {
    assertStable(
        List.of(GPU, HPC, policy("third", 3), policy("fourth", 4)),
        policies -> Golden.yaml(AgentPlan.objects(cluster(34), policies).objects()));
  }

  @Test
  void oneTermAPolicyAndTheControlPlaneOnlyWhenAllowed() {
    var terms = terms(GPU, HPC);
    assertThat(terms)
        .extracting(AgentPlanTest::text)
        .containsExactlyInAnyOrder(
            "kubernetes.io/os In [linux] & node-role.kubernetes.io/control-plane DoesNotExist []"
                + " & pool In [gpu]",
            "kubernetes.io/os In [linux] & fabric Exists [] & pool In [hpc] & zone In [a, b]");
  }

  @Test
  void anEmptySelectorMeansAllLinuxNodesButTheControlPlane() {
    var all = policy("all", 1, spec -> spec.nodeSelector = new NodeSelector());
    assertThat(terms(all))
        .extracting(AgentPlanTest::text)
        .containsExactly(
            "kubernetes.io/os In [linux] & node-role.kubernetes.io/control-plane DoesNotExist []");
  }

  @Test
  void absentListsOfTheWireAreEmpty() {
    var bare =
        policy(
            "bare",
            1,
            spec -> {
              spec.nodeSelector.matchLabels = null;
              spec.nodeSelector.matchExpressions = null;
              spec.allowControlPlane = null;
            });
    assertThat(terms(bare)).hasSize(1);
  }

  @Test
  void alikeSelectorsShareATerm() {
    var twin = policy("twin", 5, spec -> spec.nodeSelector = GPU.getSpec().nodeSelector);
    assertThat(terms(GPU, twin)).hasSize(1);
  }

  @Test
  void goesWithTheLastPolicyAndIsControlledByNone() {
    var owners = daemonSet(List.of(HPC, GPU)).getMetadata().getOwnerReferences();
    assertThat(owners).extracting(OwnerReference::getName).containsExactly("gpu", "hpc");
    assertThat(owners).allSatisfy(owner -> assertThat(owner.getController()).isNull());
  }

  @Test
  void aPolicyFromAFileOwnsNothing() {
    var offline = policy("offline", 1);
    offline.getMetadata().setUid(null);
    assertThat(daemonSet(List.of(offline)).getMetadata().getOwnerReferences()).isEmpty();
  }

  @Test
  void mayWriteTopologyOnlyWhenItPublishesIt() {
    var nfd =
        policy(
            "gpu", 1, spec -> spec.topologyUpdater.provider = TopologyUpdaterPolicy.Provider.NFD);
    assertThat(topologyVerbs(List.of(GPU))).contains("get", "watch", "create", "patch");
    assertThat(topologyVerbs(List.of(nfd)))
        .contains("get", "watch")
        .doesNotContain("create", "patch");
    // the younger policy would publish, but the older one's updater holds
    assertThat(topologyVerbs(List.of(HPC, nfd))).doesNotContain("create", "patch");
  }

  @Test
  void isRootWithoutPrivileges() {
    var pod = daemonSet(List.of(GPU)).getSpec().getTemplate().getSpec();
    var security = pod.getContainers().getFirst().getSecurityContext();
    assertThat(security.getRunAsUser()).isZero();
    assertThat(security.getPrivileged()).isNull();
    assertThat(security.getCapabilities().getDrop()).containsExactly("ALL");
    assertThat(security.getCapabilities().getAdd()).isEmpty();
    assertThat(security.getReadOnlyRootFilesystem()).isTrue();
    assertThat(security.getAllowPrivilegeEscalation()).isFalse();
    assertThat(pod.getContainers().getFirst().getLivenessProbe()).isNull();
  }

  @Test
  void touchesOnlyTheListedDirectoriesOfItsNode() {
    var pod = daemonSet(List.of(GPU)).getSpec().getTemplate().getSpec();
    assertThat(pod.getContainers().getFirst().getVolumeMounts())
        .extracting(
            mount ->
                mount.getMountPath() + (Boolean.TRUE.equals(mount.getReadOnly()) ? " ro" : " rw"))
        .containsExactly(
            "/host/var/lib/kubelet rw",
            "/host/etc/kubernetes rw",
            "/host/etc/systemd/system rw",
            "/host/run/dbus rw",
            "/host/sys ro",
            "/host/var/lib/numaoperator rw",
            "/host/var/log ro",
            "/tmp rw");
    // without it a pod's volume stays mounted in the agent when the host unmounts it
    assertThat(pod.getContainers().getFirst().getVolumeMounts().getFirst().getMountPropagation())
        .isEqualTo("HostToContainer");
  }

  private static DaemonSet daemonSet(List<NumaPolicy> policies) {
    return only(DaemonSet.class, policies);
  }

  private static List<String> topologyVerbs(List<NumaPolicy> policies) {
    return only(ClusterRole.class, policies).getRules().stream()
        .filter(rule -> rule.getResources().contains("noderesourcetopologies"))
        .flatMap(rule -> rule.getVerbs().stream())
        .toList();
  }

  private static <T extends HasMetadata> T only(Class<T> kind, List<NumaPolicy> policies) {
    return AgentPlan.objects(cluster(34), policies).objects().stream()
        .filter(kind::isInstance)
        .map(kind::cast)
        .findFirst()
        .orElseThrow();
  }

  private static List<NodeSelectorTerm> terms(NumaPolicy... policies) {
    return daemonSet(List.of(policies))
        .getSpec()
        .getTemplate()
        .getSpec()
        .getAffinity()
        .getNodeAffinity()
        .getRequiredDuringSchedulingIgnoredDuringExecution()
        .getNodeSelectorTerms();
  }

  private static String text(NodeSelectorTerm term) {
    return String.join(
        " & ",
        term.getMatchExpressions().stream()
            .map(r -> r.getKey() + " " + r.getOperator() + " " + r.getValues())
            .toList());
  }

  private static NodeSelector.Requirement in(String key, String... values) {
    var requirement = new NodeSelector.Requirement();
    requirement.key = key;
    requirement.operator = NodeSelector.Operator.In;
    requirement.values = List.of(values);
    return requirement;
  }

  private static NodeSelector.Requirement exists(String key) {
    var requirement = new NodeSelector.Requirement();
    requirement.key = key;
    requirement.operator = NodeSelector.Operator.Exists;
    requirement.values = null;
    return requirement;
  }
}
