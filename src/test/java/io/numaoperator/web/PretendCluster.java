package io.numaoperator.web;

import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.Step;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.api.NumaPolicyStatus.NodeCounts;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.topology.Bytes;
import io.numaoperator.topology.TestMachine;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Stands for the operator's cache of a whole cluster. */
final class PretendCluster implements ClusterSource {
  final List<NumaPolicy> policies = new ArrayList<>();
  final List<PretendNode> nodes = new ArrayList<>();

  @Override
  public List<NumaPolicy> policies() {
    return policies;
  }

  @Override
  public List<NumaNodeState> states() {
    return nodes.stream().map(node -> node.state).toList();
  }

  @Override
  public List<NodeResourceTopology> topologies() {
    return nodes.stream().map(node -> node.topology).toList();
  }

  PretendCluster policy(
      String name, String mode, String reason, String message, int ready, int updating) {
    var policy = new NumaPolicy();
    policy.getMetadata().setName(name);
    policy.setSpec(new NumaPolicySpec());
    policy.getSpec().mode = NumaPolicySpec.Mode.valueOf(mode);
    policy.setStatus(new NumaPolicyStatus());
    var status = policy.getStatus();
    status.nodes = new NodeCounts();
    status.nodes.matched = nodes.size();
    status.nodes.ready = ready;
    status.nodes.updating = updating;
    var condition = new Condition();
    condition.type = "Ready";
    condition.status = ready == nodes.size() ? Condition.Status.True : Condition.Status.False;
    condition.reason = reason;
    condition.message = message;
    status.conditions.add(condition);
    var reconciling = new Condition();
    reconciling.type = "Reconciling";
    reconciling.status = updating > 0 ? Condition.Status.True : Condition.Status.False;
    reconciling.reason = reason;
    reconciling.message = message;
    status.conditions.add(reconciling);
    policies.add(policy);
    return this;
  }

  /** Four machines in the middle of a rollout. */
  static PretendCluster four() {
    var cluster = new PretendCluster();
    cluster.nodes.add(
        machine("gpu-1").pod("train/llm-3-worker-0", 4, 4, 8, 0).pod("serve/embed-0", 2, 2, 4, 1));
    cluster.nodes.add(machine("gpu-2").pod("serve/embed-1", 2, 1, 2, 0));
    cluster.nodes.add(machine("gpu-3").changing(Step.Verifying));
    cluster.nodes.add(
        machine("gpu-4")
            .pod("train/llm-1-worker-0", 8, 4, 8, 0, 1)
            .judged(
                Condition.Status.False,
                "Waiting",
                "waits for pods that hold devices or exclusive CPUs: train/llm-1-worker-0"));
    return cluster.policy(
        "gpu-nodes",
        "Enforce",
        "Progressing",
        "2 of 4 nodes are as the policy wants them; gpu-3 is being changed",
        2,
        1);
  }

  private static PretendNode machine(String name) {
    return new PretendNode(name, TestMachine.zones(2), 4);
  }

  /** A large one of large machines, with all kinds of trouble here and there. */
  static PretendCluster large(int size) {
    var cluster = new PretendCluster();
    int ready = 0;
    for (int i = 1; i <= size; i++) {
      var node =
          new PretendNode(
              String.format(Locale.ROOT, "gpu-%04d", i),
              TestMachine.zones(2).coresPerZone(32).zoneMemory(512 * Bytes.GI),
              4);
      node.pod("train/llm-" + i % 7 + "-worker-" + i, 16, 2 + i % 3, 128, 0);
      if (i % 41 == 0) {
        node.pod("serve/search-" + i, 8, 2, 64, 0, 1);
      } else {
        node.pod("serve/chat-" + i, 8, 1 + i % 4, 32, 1);
      }
      if (i % 53 == 0) {
        node.judged(
            Condition.Status.Unknown,
            "AgentSilent",
            "its agent has not reported for 2m; look at the pod numa-agent on this node");
      } else if (i % 29 == 0) {
        node.judged(
            Condition.Status.False,
            "Stale",
            "its NodeResourceTopology differs from the kubelet: restart the updater on this node");
      } else if (i % 97 == 0) {
        node.changing(Step.Starting);
      } else {
        ready++;
      }
      cluster.nodes.add(node);
    }
    return cluster.policy(
        "gpu-nodes",
        "Enforce",
        "Progressing",
        ready + " of " + size + " nodes are ready",
        ready,
        10);
  }
}
