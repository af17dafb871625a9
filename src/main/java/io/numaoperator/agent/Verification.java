package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.numaoperator.agent.Phase.Done;
import io.numaoperator.agent.Phase.RollbackStage;
import io.numaoperator.agent.Phase.RollingBack;
import io.numaoperator.agent.Phase.Verifying;
import io.numaoperator.agent.Phase.VerifyingRollback;
import io.numaoperator.agent.Verifier.Wanted;
import io.numaoperator.agent.Verifier.Watch;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.kubelet.ConfigComparison;
import io.numaoperator.kubelet.ConfigComparison.Difference;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.kubelet.Merge;
import io.numaoperator.kubelet.UnmanagedChanges;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/** Watches a started kubelet until it can be judged. */
final class Verification {
  private static final Duration POLL = Duration.ofSeconds(2);

  private final NodeAccess node;
  private final JournalStore store;
  private final KubeletFiles files;
  private final Verifier verifier;
  private final Log log;

  Verification(NodeAccess node, JournalStore store, Log log) {
    this.node = node;
    this.store = store;
    this.files = new KubeletFiles(node.host());
    this.verifier = new Verifier(node);
    this.log = log;
  }

  /** Of the new configuration: what is definitely wrong, or not right in time, is rolled back. */
  Phase ofChange(Journal journal, Verifying phase) throws IOException, InterruptedException {
    var before = configBefore();
    var fragment = journal.granted().fragment();
    var wanted = wanted(journal, before, fragment, after -> complaints(before, after, fragment));
    var watch = new Watch(phase.start(), journal.granted().window(), node.time().now());
    Check told = new Check.Healthy();
    while (true) {
      var check = verifier.look(journal.granted(), phase.start(), phase.run(), wanted);
      var now = node.time().now();
      if (!check.equals(told)) {
        log.info("attempt %d: %s".formatted(journal.granted().attempt(), check));
        told = check;
      }
      switch (check) {
        case Check.Failed(var why) -> {
          return new RollingBack(RollbackStage.Stop, why, true);
        }
        case Check.Waiting(var what) when watch.overdue(now) -> {
          return new RollingBack(RollbackStage.Stop, "not well in time: " + what, true);
        }
        case Check.Healthy() when watch.windowPassed(now) -> {
          return journal.granted().proof()
              ? new Phase.Proving(phase.start(), phase.run())
              : new Done(Result.Succeeded, "");
        }
        case Check.Unknown u -> watch.outage(now);
        case Check.Healthy h -> {}
        case Check.Waiting w -> {}
      }
      node.time().sleep(POLL);
    }
  }

  /**
   * Of the old configuration. It needs no API server: a kubelet that stays up for the window is
   * back. What else is missing by the deadline is told, and does not make it less so. Neither does
   * what its owner has written into its files since it was last started, which counts by now.
   */
  Phase ofRollback(Journal journal, VerifyingRollback phase)
      throws IOException, InterruptedException {
    var before = configBefore();
    var owners = new AtomicReference<List<String>>(List.of());
    var wanted =
        wanted(
            journal,
            before,
            KubeletSettings.of(before),
            after -> {
              owners.set(UnmanagedChanges.between(before, after));
              return notBack(journal, before, after);
            });
    var watch = new Watch(phase.start(), journal.granted().window(), node.time().now());
    while (true) {
      var check = verifier.look(journal.granted(), phase.start(), phase.run(), wanted);
      var now = node.time().now();
      switch (check) {
        case Check.Failed(var why) -> {
          return KubeletChange.rollbackDown(phase.why(), why, phase.restoreState());
        }
        case Check.Healthy() when watch.windowPassed(now) -> {
          return new Done(Result.RolledBack, phase.why() + told(owners.get()));
        }
        case Check.Unknown(var why) when watch.windowPassed(now) -> {
          return late(journal, phase, why);
        }
        case Check.Waiting(var what) when watch.overdue(now) -> {
          return late(journal, phase, what);
        }
        case Check.Healthy h -> {}
        case Check.Unknown u -> {}
        case Check.Waiting w -> {}
      }
      node.time().sleep(POLL);
    }
  }

  private Phase late(Journal journal, VerifyingRollback phase, String missing) {
    var unit = verifier.unit(journal.granted().unit(), phase.start(), phase.run());
    var result = unit instanceof Check.Healthy ? Result.RolledBack : Result.RollbackFailed;
    return new Done(result, phase.why() + "; after the rollback: " + missing);
  }

  private static Wanted wanted(
      Journal journal,
      JsonNode before,
      KubeletFragment fragment,
      Function<JsonNode, List<String>> complaints) {
    var policies =
        StatePolicies.expected(
            journal.granted(), fragment, KubeletSettings.of(before), journal.before().clears());
    return new Wanted(complaints, policies, journal.before().devices());
  }

  /** What of the managed settings is neither as before nor as the restored files say. */
  private List<String> notBack(Journal journal, JsonNode before, JsonNode after) {
    var found = KubeletSettings.of(after);
    var changed = ConfigComparison.differences(KubeletSettings.of(before), found);
    if (changed.isEmpty()) {
      return List.of();
    }
    var ofFiles = KubeletSettings.of(Merge.patch(before, files(journal)));
    var unexplained =
        ConfigComparison.differences(ofFiles, found).stream().map(Difference::field).toList();
    return changed.stream()
        .filter(difference -> unexplained.contains(difference.field()))
        .map(Difference::message)
        .toList();
  }

  /**
   * What the kubelet's files say by now. They explain nothing while one that the change has written
   * is not back, or where they cannot be read.
   */
  private JsonNode files(Journal journal) {
    var kubelet = new KubeletFacts();
    kubelet.configFile =
        journal.granted().mainFile().isEmpty() ? null : journal.granted().mainFile();
    kubelet.dropInDirectory = journal.granted().dropInDirectory();
    var nothing = JsonNodeFactory.instance.objectNode();
    try {
      for (var saved : journal.savedConfiguration()) {
        if (!store.isAsBefore(saved)) {
          return nothing;
        }
      }
      return files.merged(kubelet).orElse(nothing);
    } catch (IOException e) {
      return nothing;
    }
  }

  private static String told(List<String> owners) {
    return owners.isEmpty()
        ? ""
        : "; after the rollback: not as before, and not by this operator: "
            + String.join(", ", owners);
  }

  private static List<String> complaints(JsonNode before, JsonNode after, KubeletFragment wanted) {
    var all = new ArrayList<String>();
    all.addAll(ConfigComparison.mismatches(wanted, after));
    all.addAll(unmanaged(before, after));
    return all;
  }

  private static List<String> unmanaged(JsonNode before, JsonNode after) {
    return UnmanagedChanges.between(before, after).stream()
        .map(path -> path + " changed, which nobody wanted")
        .toList();
  }

  private JsonNode configBefore() throws IOException {
    var bytes = node.host().read(JournalStore.CONFIGZ);
    if (bytes.isEmpty()) {
      throw new IOException("the backup " + JournalStore.CONFIGZ + " is gone");
    }
    return new ObjectMapper().readTree(bytes.get());
  }
}
