package io.numaoperator.plan.delivery;

import io.numaoperator.api.openshift.KubeletConfig;
import io.numaoperator.api.openshift.MachineConfigPool;
import io.numaoperator.kubelet.ManagedField;
import io.numaoperator.plan.Provision.Refused;
import io.numaoperator.plan.delivery.KubeletDelivery.Input;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Whether a policy's nodes are what a KubeletConfig can be made for: one whole pool, one layout.
 */
sealed interface PoolFit {
  /** They are; the pool is selected by these labels of it. */
  record Fits(Map<String, String> selector) implements PoolFit {}

  /** They are not. */
  record Misfit(String reason, String message) implements PoolFit {}

  /** The Machine Config Operator puts one on each of its own pools. */
  String POOL_LABEL = "pools.operator.machineconfiguration.openshift.io/";

  /** How many names a message lists. */
  int LISTED = 5;

  static PoolFit of(Input input) {
    return Stream.<Function<Input, Optional<Refused>>>of(
            PoolFit::eachNodeHasAPool,
            PoolFit::itIsOnePool,
            PoolFit::thePoolIsWhole,
            PoolFit::theLayoutIsOne,
            PoolFit::nobodyElseSetsIt,
            PoolFit::thePoolCanBeSelected)
        .flatMap(check -> check.apply(input).stream())
        .findFirst()
        .<PoolFit>map(refused -> new Misfit(refused.reason(), refused.message()))
        .orElseGet(() -> new Fits(selector(input).orElseThrow()));
  }

  private static Optional<Refused> eachNodeHasAPool(Input input) {
    return input.nodes().stream()
        .filter(node -> input.openShift().poolOf(node.name()).isEmpty())
        .findFirst()
        .map(
            node ->
                new Refused(
                    "PoolUnknown",
                    "Node %s does not belong to exactly one MachineConfigPool. Label it for one pool."
                        .formatted(node.name())));
  }

  private static Optional<Refused> itIsOnePool(Input input) {
    var names =
        input.nodes().stream()
            .map(node -> OpenShiftFacts.name(input.openShift().poolOf(node.name()).orElseThrow()))
            .distinct()
            .sorted()
            .toList();
    return names.size() == 1
        ? Optional.empty()
        : Optional.of(
            new Refused(
                "SeveralPools",
                "The policy's nodes belong to the MachineConfigPools %s, and a KubeletConfig is for one. Make one policy for each pool."
                    .formatted(listed(names))));
  }

  private static Optional<Refused> thePoolIsWhole(Input input) {
    var names = input.nodes().stream().map(PlannedNode::name).collect(Collectors.toSet());
    var others =
        input.openShift().nodesOf(pool(input)).stream()
            .filter(node -> !names.contains(node))
            .toList();
    return others.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Refused(
                "PoolNotWhole",
                "MachineConfigPool %s also has nodes that are not this policy's, or that have no plan yet: %s. A KubeletConfig would change them too: select the whole pool, or make a pool for these nodes."
                    .formatted(OpenShiftFacts.name(pool(input)), listed(others))));
  }

  private static Optional<Refused> theLayoutIsOne(Input input) {
    var layouts =
        input.nodes().stream()
            .collect(
                Collectors.groupingBy(
                    PlannedNode::hash,
                    TreeMap::new,
                    Collectors.mapping(PlannedNode::name, Collectors.toList())));
    return layouts.size() == 1
        ? Optional.empty()
        : Optional.of(
            new Refused(
                "PoolLayoutsDiffer",
                "The pool's machines need %d different settings (%s), and a KubeletConfig holds one. Make a MachineConfigPool for each kind of machine, or reserve amounts that suit all of them."
                    .formatted(
                        layouts.size(),
                        layouts.values().stream()
                            .map(PoolFit::listed)
                            .collect(Collectors.joining(" | ")))));
  }

  /** Of two KubeletConfigs for a pool the later one wins, field by field: a silent quarrel. */
  private static Optional<Refused> nobodyElseSetsIt(Input input) {
    return input.openShift().configs().stream()
        .filter(other -> !other.getMetadata().getName().equals(OpenShiftDelivery.name(input)))
        .filter(other -> isFor(other, pool(input)) && !managed(other).isEmpty())
        .findFirst()
        .map(
            other ->
                new Refused(
                    "CompetingKubeletConfig",
                    "KubeletConfig %s sets %s for the same pool. Take these fields out of it (of a PerformanceProfile: delete the profile), or leave the pool to it."
                        .formatted(other.getMetadata().getName(), listed(managed(other)))));
  }

  private static boolean isFor(KubeletConfig config, MachineConfigPool pool) {
    return config.getSpec() != null
        && config.getSpec().kubeletConfig != null
        && config.getSpec().machineConfigPoolSelector != null
        && OpenShiftFacts.selects(
            config.getSpec().machineConfigPoolSelector, OpenShiftFacts.labels(pool));
  }

  private static List<String> managed(KubeletConfig config) {
    var fields = new ArrayList<String>();
    config
        .getSpec()
        .kubeletConfig
        .fieldNames()
        .forEachRemaining(
            field -> ManagedField.named(field).ifPresent(managed -> fields.add(field)));
    return fields;
  }

  private static Optional<Refused> thePoolCanBeSelected(Input input) {
    return selector(input).isPresent()
        ? Optional.empty()
        : Optional.of(
            new Refused(
                "PoolWithoutLabel",
                "MachineConfigPool %1$s has no label that no other pool has, to be selected by. Give it one: oc label machineconfigpool %1$s %2$s%1$s="
                    .formatted(OpenShiftFacts.name(pool(input)), POOL_LABEL)));
  }

  /** A label of the pool that no other pool has. */
  private static Optional<Map<String, String>> selector(Input input) {
    return OpenShiftFacts.labels(pool(input)).entrySet().stream()
        .sorted(
            Map.Entry.comparingByKey(
                Comparator.comparing((String key) -> !key.startsWith(POOL_LABEL))
                    .thenComparing(key -> key)))
        .filter(label -> isOnlyOn(label, pool(input), input.openShift()))
        .findFirst()
        .map(label -> Map.of(label.getKey(), label.getValue()));
  }

  private static boolean isOnlyOn(
      Map.Entry<String, String> label, MachineConfigPool pool, OpenShiftFacts facts) {
    return facts.pools().stream()
        .filter(other -> !OpenShiftFacts.name(other).equals(OpenShiftFacts.name(pool)))
        .noneMatch(other -> OpenShiftFacts.labels(other).entrySet().contains(label));
  }

  private static MachineConfigPool pool(Input input) {
    return input.openShift().poolOf(input.nodes().getFirst().name()).orElseThrow();
  }

  private static String listed(List<String> names) {
    var shown = names.subList(0, Math.min(LISTED, names.size()));
    return String.join(", ", shown)
        + (names.size() > LISTED ? " and %d more".formatted(names.size() - LISTED) : "");
  }
}
