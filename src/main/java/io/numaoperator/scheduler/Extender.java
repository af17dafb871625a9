package io.numaoperator.scheduler;

import io.numaoperator.scheduler.Wire.ExtenderArgs;
import io.numaoperator.scheduler.Wire.ExtenderBindingArgs;
import io.numaoperator.scheduler.Wire.ExtenderBindingResult;
import io.numaoperator.scheduler.Wire.ExtenderFilterResult;
import io.numaoperator.scheduler.Wire.ExtenderPreemptionArgs;
import io.numaoperator.scheduler.Wire.ExtenderPreemptionResult;
import io.numaoperator.scheduler.Wire.HostPriority;
import io.numaoperator.scheduler.Wire.MetaPod;
import io.numaoperator.scheduler.Wire.MetaVictims;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Answers kube-scheduler's four questions. */
final class Extender {
  private final ClusterState state;
  private final Supplier<Judge> judge;
  private final Binder binder;
  private final CycleGate gate;
  private final Refusals refusals;
  private final AtomicReference<Filtered> last = new AtomicReference<>(new Filtered("", Map.of()));

  /** What was found when a pod was filtered: its nodes are scored at once afterwards. */
  private record Filtered(String uid, Map<String, Verdict> verdicts) {}

  Extender(
      ClusterState state, Supplier<Judge> judge, Binder binder, CycleGate gate, Refusals refusals) {
    this.state = state;
    this.judge = judge;
    this.binder = binder;
    this.gate = gate;
    this.refusals = refusals;
  }

  /** On which of these nodes the kubelet would admit the pod. */
  ExtenderFilterResult filter(ExtenderArgs args) {
    var pod = PodView.of(args.pod());
    gate.enter(pod.uid());
    var suitable = new ArrayList<String>();
    var notNow = new TreeMap<String, String>();
    var never = new TreeMap<String, String>();
    var verdicts = new HashMap<String, Verdict>();
    for (var node : args.nodeNames()) {
      var verdict = judge.get().judge(state.node(node), pod);
      verdicts.put(node, verdict);
      switch (verdict) {
        case Verdict.Suits _, Verdict.Indifferent _ -> suitable.add(node);
        case Verdict.NotNow no -> notNow.put(node, no.message());
        case Verdict.Never no -> never.put(node, no.message());
      }
    }
    var refused = new HashSet<>(notNow.keySet());
    // a node without a topology may get one
    refused.addAll(never.keySet());
    refusals.filtered(pod, suitable.isEmpty() ? refused : Set.of());
    last.set(new Filtered(pod.uid(), verdicts));
    gate.leave(pod.uid(), !suitable.isEmpty());
    return new ExtenderFilterResult(suitable, notNow, never, "");
  }

  /** How good each of them is, from 0 to 10. */
  List<HostPriority> prioritize(ExtenderArgs args) {
    var pod = PodView.of(args.pod());
    var filtered = last.get();
    var known = filtered.uid().equals(pod.uid()) ? filtered.verdicts() : Map.<String, Verdict>of();
    return args.nodeNames().stream()
        .map(
            node ->
                new HostPriority(
                    node,
                    Score.of(
                        Optional.ofNullable(known.get(node))
                            .orElseGet(() -> judge.get().judge(state.node(node), pod)))))
        .toList();
  }

  /** Of the nodes where kube-scheduler could evict these pods, those where it would help. */
  ExtenderPreemptionResult preempt(ExtenderPreemptionArgs args) {
    var pod = PodView.of(args.pod());
    var kept = new TreeMap<String, MetaVictims>();
    args.victims()
        .forEach(
            (node, victims) -> {
              var uids = victims.pods().stream().map(MetaPod::uid).collect(Collectors.toSet());
              if (judge.get().suitsWithout(state.node(node), pod, uids)) {
                kept.put(node, victims);
              }
            });
    return new ExtenderPreemptionResult(kept);
  }

  /** Binds the pod, if it still can be. */
  ExtenderBindingResult bind(ExtenderBindingArgs args) {
    var bound = false;
    try {
      var problem =
          binder.bind(
              args.namespace(), args.name(), args.uid(), args.node(), () -> gate.bound(args.uid()));
      bound = problem.isEmpty();
      return new ExtenderBindingResult(problem.orElse(""));
    } finally {
      gate.bound(args.uid());
      if (!bound) { // others may have been refused beside it meanwhile
        refusals.changed(args.node());
      }
    }
  }
}
