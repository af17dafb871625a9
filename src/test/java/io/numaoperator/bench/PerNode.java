package io.numaoperator.bench;

import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.plan.kubelet.KubeletPlan;
import io.numaoperator.preflight.Divergence;
import io.numaoperator.preflight.NodePlan;
import io.numaoperator.readiness.DeviceEvidence;
import io.numaoperator.readiness.NodeEvidence;
import io.numaoperator.readiness.NodeEvidence.Agent;
import io.numaoperator.readiness.NodeEvidence.NodeFacts;
import io.numaoperator.readiness.NodeEvidence.Plan;
import io.numaoperator.readiness.NodeEvidence.Scheduler;
import io.numaoperator.readiness.NodeEvidence.Topology;
import io.numaoperator.readiness.NodeReadiness;
import io.numaoperator.rollout.Devices;
import io.numaoperator.rollout.Drain;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Target;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What a pass computes for each node, over 5,000 of them with two zones of 32 cores: JMH tells the
 * time, and with its gc profiler the allocation, of one node.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class PerNode {
  private static final int NODES = 5_000;
  private static final String BOOT = "boot";

  private KubeletPolicy policy;
  private List<NumaNodeStateStatus> nodes;
  private List<NodeEvidence> evidence;

  /** Before all. */
  @Setup
  public void fleet() {
    var spec = new NumaPolicySpec();
    spec.mode = NumaPolicySpec.Mode.Enforce;
    policy = spec.kubelet;
    nodes =
        IntStream.range(0, NODES)
            .mapToObj(
                i -> {
                  var status = Bodies.observed();
                  status.bootId = BOOT;
                  return status;
                })
            .toList();
    if (!(NodePlan.of(policy, nodes.getFirst(), BOOT) instanceof KubeletPlan.Planned planned)) {
      throw new IllegalStateException("there is no plan to measure");
    }
    evidence = nodes.stream().map(node -> evidence(spec, planned, node)).toList();
  }

  private static NodeEvidence evidence(
      NumaPolicySpec spec, KubeletPlan.Planned planned, NumaNodeStateStatus node) {
    return new NodeEvidence(
        spec,
        false,
        new NodeFacts("n", true, BOOT),
        new Agent.Alive(),
        new Plan.Ready(planned.hash(), List.of()),
        new NodeProgress(
            "n",
            "",
            new Target.Reached(),
            true,
            new Cordon.None(),
            false,
            true,
            BOOT,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            List.of(),
            Optional.empty(),
            false,
            false,
            Drain.NONE,
            new Devices.AsWanted()),
        Optional.empty(),
        node,
        new Topology.Published(List.of()),
        new Scheduler.Aware(0),
        DeviceEvidence.NONE);
  }

  /** The kubelet's settings, to the byte, after the whole preflight. */
  @Benchmark
  @OperationsPerInvocation(NODES)
  public void plan(Blackhole hole) {
    nodes.forEach(node -> hole.consume(NodePlan.of(policy, node, BOOT)));
  }

  /** The same, and how the node stands to it. */
  @Benchmark
  @OperationsPerInvocation(NODES)
  public void planAndDivergence(Blackhole hole) {
    nodes.forEach(
        node -> {
          if (NodePlan.of(policy, node, BOOT) instanceof KubeletPlan.Planned planned) {
            hole.consume(Divergence.of(planned, node));
          }
        });
  }

  /** All conditions of the node. */
  @Benchmark
  @OperationsPerInvocation(NODES)
  public void readiness(Blackhole hole) {
    evidence.forEach(one -> hole.consume(NodeReadiness.judge(one)));
  }
}
