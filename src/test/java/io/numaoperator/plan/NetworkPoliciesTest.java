package io.numaoperator.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeer;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * config/network-policy against the pods that config/manager and the plans make. What the lab does
 * not have is a network that enforces them: selectors and ports are compared, no packet is sent.
 */
class NetworkPoliciesTest {
  private static final String NAMESPACE = "numa-operator-system";
  private static final List<Integer> API_SERVER = List.of(443, 6443);

  @Test
  void eachPodHasItsPolicyAndTheAgentsAreWhereNoneReaches() {
    for (var workload : workloads().entrySet()) {
      var pod = workload.getValue();
      var chosen =
          policies()
              .filter(policy -> selects(policy, pod))
              .map(policy -> policy.getMetadata().getName())
              .toList();
      assertThat(chosen)
          .as(workload.getKey())
          .containsExactlyInAnyOrderElementsOf(
              onItsNodesNetwork(pod)
                  ? List.of("numa-operator-default-deny")
                  : List.of("numa-operator-default-deny", workload.getKey()));
    }
    assertThat(workloads())
        .hasEntrySatisfying("numa-agent", pod -> assertThat(onItsNodesNetwork(pod)).isTrue());
    assertThat(workloads()).containsKeys("numa-operator", "numa-scheduler");
  }

  @Test
  void noneIsForPodsThatAreNotThere() {
    assertThat(policies())
        .allSatisfy(
            policy -> {
              assertThat(policy.getMetadata().getNamespace()).isEqualTo(NAMESPACE);
              assertThat(policy.getSpec().getPolicyTypes())
                  .containsExactlyInAnyOrder("Ingress", "Egress");
              assertThat(workloads().values()).anyMatch(pod -> selects(policy, pod));
            });
  }

  /**
   * A port that nobody opens would let in who comes later; one that is not let in is not served.
   */
  @Test
  void whatIsLetInIsWhatThePodServes() {
    for (var workload : workloads().entrySet()) {
      if (onItsNodesNetwork(workload.getValue())) {
        continue;
      }
      var served =
          workload.getValue().getSpec().getContainers().stream()
              .flatMap(container -> container.getPorts().stream())
              .map(ContainerPort::getContainerPort)
              .toList();
      assertThat(served).isNotEmpty();
      var letIn = new TreeSet<Integer>();
      policy(workload.getKey())
          .getSpec()
          .getIngress()
          .forEach(rule -> letIn.addAll(numbers(rule.getPorts())));
      assertThat(letIn).as(workload.getKey()).containsExactlyInAnyOrderElementsOf(served);
    }
  }

  /** What one of our pods may send to another, that one lets in from it. */
  @Test
  void bothEndsAgree() {
    var seen = new ArrayList<String>();
    for (var from : workloads().entrySet()) {
      for (var to : workloads().entrySet()) {
        if (onItsNodesNetwork(from.getValue()) || onItsNodesNetwork(to.getValue())) {
          continue;
        }
        var sent =
            policy(from.getKey()).getSpec().getEgress().stream()
                .filter(rule -> rule.getTo().stream().anyMatch(peer -> is(peer, to.getValue())))
                .flatMap(rule -> numbers(rule.getPorts()).stream())
                .toList();
        var received =
            policy(to.getKey()).getSpec().getIngress().stream()
                .filter(rule -> rule.getFrom().stream().anyMatch(peer -> is(peer, from.getValue())))
                .flatMap(rule -> numbers(rule.getPorts()).stream())
                .toList();
        assertThat(sent).as(from.getKey() + " to " + to.getKey()).isEqualTo(received);
        sent.forEach(port -> seen.add(from.getKey() + " " + to.getKey() + " " + port));
      }
    }
    var extender =
        AllPlans.objects().stream()
            .filter(object -> object.getMetadata().getName().equals("numa-extender"))
            .map(Service.class::cast)
            .findFirst()
            .orElseThrow();
    assertThat(seen)
        .containsExactly(
            "numa-scheduler numa-operator "
                + extender.getSpec().getPorts().getFirst().getTargetPort().getIntVal());
  }

  @Test
  void allReachTheApiServerAndTheMetricsPortIsForTheMonitoring() {
    assertThat(policies().filter(policy -> !isDefault(policy)))
        .isNotEmpty()
        .allSatisfy(
            policy -> {
              assertThat(policy.getSpec().getEgress())
                  .anySatisfy(
                      rule -> {
                        assertThat(rule.getTo()).isEmpty();
                        assertThat(numbers(rule.getPorts())).isEqualTo(API_SERVER);
                      });
              assertThat(policy.getSpec().getIngress())
                  .anySatisfy(
                      rule ->
                          assertThat(rule.getFrom())
                              .singleElement()
                              .extracting(NetworkPolicyPeer::getNamespaceSelector)
                              .isEqualTo(ofNamespacesWithMetrics()));
            });
    assertThat(policy("numa-operator-default-deny").getSpec().getIngress()).isEmpty();
    assertThat(policy("numa-operator-default-deny").getSpec().getEgress()).isEmpty();
  }

  private static LabelSelector ofNamespacesWithMetrics() {
    return new LabelSelectorBuilder().addToMatchLabels("metrics", "enabled").build();
  }

  private static boolean isDefault(NetworkPolicy policy) {
    return policy.getMetadata().getName().endsWith("-default-deny");
  }

  private static boolean onItsNodesNetwork(PodTemplateSpec pod) {
    return Boolean.TRUE.equals(pod.getSpec().getHostNetwork());
  }

  private static boolean is(NetworkPolicyPeer peer, PodTemplateSpec pod) {
    return peer.getPodSelector() != null
        && peer.getNamespaceSelector() == null
        && pod.getMetadata()
            .getLabels()
            .entrySet()
            .containsAll(peer.getPodSelector().getMatchLabels().entrySet());
  }

  private static boolean selects(NetworkPolicy policy, PodTemplateSpec pod) {
    return pod.getMetadata()
        .getLabels()
        .entrySet()
        .containsAll(policy.getSpec().getPodSelector().getMatchLabels().entrySet());
  }

  private static List<Integer> numbers(List<NetworkPolicyPort> ports) {
    return ports.stream().map(NetworkPolicyPort::getPort).map(IntOrString::getIntVal).toList();
  }

  private static NetworkPolicy policy(String name) {
    return policies()
        .filter(policy -> policy.getMetadata().getName().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no NetworkPolicy " + name));
  }

  private static Stream<NetworkPolicy> policies() {
    return ConfigFilesTest.objects("network-policy").map(NetworkPolicy.class::cast);
  }

  /** The pods of the operator's namespace, by their workload's name. */
  private static Map<String, PodTemplateSpec> workloads() {
    var found = new TreeMap<String, PodTemplateSpec>();
    Stream.concat(ConfigFilesTest.objects("manager"), AllPlans.objects().stream())
        .filter(object -> NAMESPACE.equals(object.getMetadata().getNamespace()))
        .forEach(
            object ->
                template(object).ifPresent(pod -> found.put(object.getMetadata().getName(), pod)));
    return found;
  }

  private static Optional<PodTemplateSpec> template(HasMetadata object) {
    return switch (object) {
      case Deployment deployment -> Optional.of(deployment.getSpec().getTemplate());
      case DaemonSet daemonSet -> Optional.of(daemonSet.getSpec().getTemplate());
      default -> Optional.empty();
    };
  }
}
