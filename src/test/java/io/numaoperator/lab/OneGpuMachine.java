package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import java.util.Map;

/**
 * One simulated node with GPUs, label {@code pool} its name, on an API server that has what all
 * providers want to find there.
 */
final class OneGpuMachine implements AutoCloseable {
  private final KubernetesClient client;
  private final SimulatedNodes machines;

  OneGpuMachine(KubernetesClient client, String node) {
    this.client = client;
    this.machines = new SimulatedNodes(client);
    FakePlugins.namespaces(client);
    ControlPlane.kind(client, "nvidia.com_clusterpolicies");
    ControlPlane.kaisKinds(client);
    machines.add(node, Map.of("pool", node), OneGpuMachine::withGpus);
  }

  private static void withGpus(Node node) {
    node.getStatus().getAllocatable().put("nvidia.com/gpu", new Quantity("8"));
  }

  SimulatedNodes machines() {
    return machines;
  }

  /**
   * All policies go, the node is let go, and its agent was asked for nothing that it must not do.
   */
  @Override
  public void close() {
    client.resources(NumaPolicy.class).delete();
    FakePlugins.deleteAll(client);
    await("the node is let go")
        .atMost(Lab.PATIENCE)
        .until(() -> client.resources(NumaNodeState.class).list().getItems().isEmpty());
    client.nodes().delete();
    machines.close();
    assertThat(machines.violations()).isEmpty();
  }
}
