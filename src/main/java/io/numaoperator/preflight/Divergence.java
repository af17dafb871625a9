package io.numaoperator.preflight;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeStateSpec.File;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.kubelet.ConfigComparison;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.OwnSettings;
import io.numaoperator.kubelet.SettingsDiff;
import io.numaoperator.kubelet.SettingsDiff.Change;
import io.numaoperator.plan.kubelet.KubeletPlan.Planned;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * How a node stands to its plan.
 *
 * @param messages where it is not as planned, each for a person; empty when nothing is to be done
 * @param drifted this very plan was carried out, and somebody undid it since
 */
public record Divergence(List<String> messages, boolean drifted) {
  public Divergence {
    messages = List.copyOf(messages);
  }

  /** By what the node's agent saw. */
  public static Divergence of(Planned plan, NumaNodeStateStatus seen) {
    var messages =
        new ArrayList<>(ConfigComparison.mismatches(plan.fragment(), seen.effective.settings));
    boolean applied =
        seen.attempt != null
            && seen.attempt.result == Result.Succeeded
            && plan.hash().equals(seen.attempt.hash);
    boolean otherFile = !Objects.equals(seen.dropInHash, plan.hash());
    if (applied && otherFile) {
      messages.add(
          "%s was %s since it was applied; the next start of the kubelet would go by that"
              .formatted(ours(seen), seen.dropInHash == null ? "removed" : "changed"));
    } else if (otherFile && seen.dropInHash != null && messages.isEmpty()) {
      changes(plan, seen).forEach(change -> messages.add(left(change)));
    }
    return new Divergence(messages, applied && !messages.isEmpty());
  }

  /**
   * The same where somebody else than the agent brings the settings to the node: what runs is all
   * that counts, and files of ours that may be left there tell nothing.
   */
  public static Divergence ofRunning(Planned plan, NumaNodeStateStatus seen) {
    return new Divergence(
        ConfigComparison.mismatches(plan.fragment(), seen.effective.settings), false);
  }

  /** Of a node that nothing is wanted of. */
  public static Divergence none() {
    return new Divergence(List.of(), false);
  }

  /**
   * The plan to have the node run without anything of ours: it is kept like any other, under the
   * hash of a drop-in without settings.
   */
  public static Planned withoutDropIn() {
    var nothing = new KubeletFragment();
    return new Planned(nothing, DropIn.hash(nothing), List.of());
  }

  /** How a node stands to {@link #withoutDropIn}. */
  public static Divergence fromOwn(NumaNodeStateStatus seen) {
    var messages = new ArrayList<String>();
    if (seen.dropInHash != null) {
      messages.add(ours(seen) + " is there");
    }
    kubelet(seen)
        .flatMap(kubelet -> Optional.ofNullable(kubelet.unitDropIn))
        .ifPresent(path -> messages.add(path + " is there"));
    changes(withoutDropIn(), seen).forEach(change -> messages.add(left(change)));
    return new Divergence(messages, false);
  }

  /** What the plan changes in the configuration that runs, value by value. */
  public static List<Change> changes(Planned plan, NumaNodeStateStatus seen) {
    var own = NodePlan.ownSettings(seen);
    var then =
        seen.effective.source == Source.Files
            ? OwnSettings.written(own, plan.fragment())
            : OwnSettings.with(own, plan.fragment());
    return SettingsDiff.between(seen.effective.settings, then);
  }

  /** What is of ours on the node's disk, or was there. */
  private static String ours(NumaNodeStateStatus seen) {
    boolean inMainFile =
        kubelet(seen)
            .filter(kubelet -> kubelet.dropInDirectory == null)
            .filter(kubelet -> seen.dropInHash != null || NodePlan.file(seen) == File.MainFile)
            .isPresent();
    return inMainFile ? "what was put into the kubelet's main file" : Names.DROP_IN_FILE;
  }

  private static Optional<KubeletFacts> kubelet(NumaNodeStateStatus seen) {
    return Optional.ofNullable(seen.inventory).flatMap(i -> Optional.ofNullable(i.kubelet));
  }

  /** An earlier drop-in of ours set it, and this plan leaves it to the node's owner. */
  private static String left(Change change) {
    return "%s is %s, and is no longer wanted: %s"
        .formatted(
            change.field(),
            change.from().orElse("not set"),
            change.to().map(value -> "the node's own is " + value).orElse("the node sets none"));
  }
}
