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
    var policy = new NumaPolicy();
    policy.getMetadata().setName("gpu");
    policy.setSpec(new NumaPolicySpec());
    policy.getSpec().mode = NumaPolicySpec.Mode.Enforce;
    policy.getSpec().nodeSelector = new NodeSelector();
    policy.getSpec().nodeSelector.matchLabels = Map.of("pool", "gpu");
    client.resource(policy).create();

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
