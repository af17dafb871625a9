package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.Names;
import io.numaoperator.api.NodeSelector;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The operator as Quarkus wires it, against a real API server; nodes are objects only. */
@Tag("lab")
@QuarkusTest
@QuarkusTestResource(ControlPlane.class)
class OperatorQuarkusLabTest {
  private static final String NAMESPACE = "numa-operator-system";

  @Inject @AsAdmin KubernetesClient client;

  @Test
  void makesWhatAPolicyNeedsAndTakesItBack() {
    client
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName("bare")
                .addToLabels("pool", "gpu")
                .endMetadata()
                .build())
        .create();
    client.resource(enforcing("gpu", "gpu")).create();

    await()
        .atMost(Lab.PATIENCE)
        .untilAsserted(
            () -> {
              var state = client.resources(NumaNodeState.class).withName("bare").get();
              assertThat(state).isNotNull();
              assertThat(state.getStatus()).isNotNull();
              assertThat(state.getMetadata().getOwnerReferences())
                  .extracting(o -> o.getKind() + " " + o.getName())
                  .containsExactly("Node bare");
              assertThat(state.getStatus().conditions)
                  .anyMatch(
                      c ->
                          c.type.equals("KubeletConfigured")
                              && c.reason.equals("AwaitingInventory"));
              assertThat(agent()).isNotNull();
            });
    assertThat(agent().getMetadata().getManagedFields())
        .anyMatch(
            f ->
                f.getManager().equals(Names.OPERATOR_FIELD_MANAGER)
                    && f.getOperation().equals("Apply"));
  }

  private DaemonSet agent() {
    return client.apps().daemonSets().inNamespace(NAMESPACE).withName("numa-agent").get();
  }

  /** Who publishes topologies is the oldest policy's say, also for nodes that another one has. */
  @Test
  void aNodeFollowsWhatAnotherPolicyDecides() {
    client.resources(NumaPolicy.class).delete();
    await()
        .atMost(Lab.PATIENCE)
        .until(() -> client.resources(NumaPolicy.class).list().getItems(), List::isEmpty);
    var senior = enforcing("a-senior", "nobody");
    senior.getSpec().topologyUpdater.provider = TopologyUpdaterPolicy.Provider.BuiltIn;
    client.resource(senior).create();
    client
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName("led")
                .addToLabels("pool", "led")
                .endMetadata()
                .build())
        .create();
    var junior = enforcing("junior", "led");
    junior.getSpec().topologyUpdater.provider = TopologyUpdaterPolicy.Provider.BuiltIn;
    client.resource(junior).create();
    await("the agent is to publish")
        .atMost(Lab.PATIENCE)
        .ignoreExceptions()
        .until(() -> state("led").getSpec().topology.publish);
    await("its conditions are judged")
        .atMost(Lab.PATIENCE)
        .until(() -> state("led").getStatus() != null);

    publisher("a-senior", TopologyUpdaterPolicy.Provider.NFD);
    await("somebody else publishes")
        .atMost(Lab.PATIENCE)
        .until(() -> !state("led").getSpec().topology.publish);
    // twice: a node that was seen before its policy is looked at once more after a minute
    publisher("a-senior", TopologyUpdaterPolicy.Provider.BuiltIn);
    await("the agent publishes again")
        .atMost(Lab.PATIENCE)
        .until(() -> state("led").getSpec().topology.publish);
    client.nodes().withName("led").delete();
    client.resources(NumaNodeState.class).withName("led").delete();
    client.resources(NumaPolicy.class).delete();
  }

  private void publisher(String policy, TopologyUpdaterPolicy.Provider provider) {
    client
        .resources(NumaPolicy.class)
        .withName(policy)
        .edit(
            edited -> {
              edited.getSpec().topologyUpdater.provider = provider;
              return edited;
            });
  }

  private NumaNodeState state(String node) {
    return client.resources(NumaNodeState.class).withName(node).get();
  }

  private static NumaPolicy enforcing(String name, String pool) {
    var policy = new NumaPolicy();
    policy.getMetadata().setName(name);
    policy.setSpec(new NumaPolicySpec());
    policy.getSpec().mode = NumaPolicySpec.Mode.Enforce;
    policy.getSpec().nodeSelector = new NodeSelector();
    policy.getSpec().nodeSelector.matchLabels = Map.of("pool", pool);
    return policy;
  }

  /** Another manager's fields survive; ours come back. */
  @Test
  void ourFieldsComeBackAndOthersStay() {
    var policy = new NumaPolicy();
    policy.getMetadata().setName("nothing");
    policy.setSpec(new NumaPolicySpec());
    policy.getSpec().mode = NumaPolicySpec.Mode.Observe;
    policy.getSpec().nodeSelector = new NodeSelector();
    policy.getSpec().nodeSelector.matchLabels = Map.of("no-such", "label");
    policy.getSpec().topologyUpdater.provider = TopologyUpdaterPolicy.Provider.BuiltIn;
    client.resource(policy).create();
    await()
        .atMost(Lab.PATIENCE)
        .until(() -> client.resources(ClusterRole.class).withName("numa-agent").get() != null);

    // tried again when the operator wrote it meanwhile
    await()
        .atMost(Lab.PATIENCE)
        .ignoreExceptionsMatching(e -> e.getMessage().contains("has been modified"))
        .until(
            () ->
                client
                        .resources(ClusterRole.class)
                        .withName("numa-agent")
                        .edit(
                            role -> {
                              role.getMetadata().getAnnotations().put("team", "storage");
                              role.getRules().removeFirst();
                              return role;
                            })
                    != null);
    await()
        .atMost(Lab.PATIENCE)
        .untilAsserted(
            () -> {
              var role = client.resources(ClusterRole.class).withName("numa-agent").get();
              assertThat(role.getRules())
                  .anyMatch(r -> r.getResources().contains("numanodestates"));
              assertThat(role.getMetadata().getAnnotations()).containsEntry("team", "storage");
            });
  }
}
