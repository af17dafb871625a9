package io.numaoperator.agent;

import io.numaoperator.agent.Phase.Done;
import io.numaoperator.agent.Phase.Proved;
import io.numaoperator.agent.Phase.Proving;
import io.numaoperator.agent.Phase.RollbackStage;
import io.numaoperator.agent.Phase.RollingBack;
import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * Waits for what the operator says of the proof pods. Silence is no failure, however long: the
 * kubelet was verified and stays as it is, and the node stays out of service. A kubelet that ends
 * meanwhile is one: that needs nobody's word.
 */
final class ProofWait {
  private static final Duration POLL = Duration.ofSeconds(1);

  /** Of an operator or API server that has not answered for longer than {@link #SOON}. */
  private static final Duration SLOW_POLL = Duration.ofSeconds(5);

  private static final Duration SOON = Duration.ofMinutes(3);

  /** How long the kubelet has to end pods that sleep. */
  private static final Duration GONE = Duration.ofSeconds(60);

  private final NodeAccess node;
  private final Verifier verifier;
  private final Log log;

  ProofWait(NodeAccess node, Log log) {
    this.node = node;
    this.verifier = new Verifier(node);
    this.log = log;
  }

  Phase await(Journal journal, Proving phase) throws InterruptedException {
    var began = node.time().now();
    Optional<Instant> told = Optional.empty();
    while (true) {
      var unit = verifier.unit(journal.granted().unit(), phase.start(), phase.run());
      if (unit instanceof Check.Failed(var why)) {
        return new RollingBack(RollbackStage.Stop, why, true);
      }
      var proof = proof(journal.granted().attempt());
      var now = node.time().now();
      if (proof.flatMap(GrantedProof::verdict).isPresent()) {
        var verdict = proof.get().verdict().get();
        told = told.or(() -> told(journal, proof.get(), verdict, now));
        boolean gone = areGone(proof.get().pods());
        if (gone || !now.isBefore(told.get().plus(GONE))) {
          return end(proof.get(), verdict, gone);
        }
      }
      node.time().sleep(now.isBefore(began.plus(SOON)) ? POLL : SLOW_POLL);
    }
  }

  private Optional<Instant> told(
      Journal journal, GrantedProof proof, ProofVerdict verdict, Instant now) {
    log.info(
        "attempt %d: proof: %s: %s"
            .formatted(journal.granted().attempt(), verdict, proof.message()));
    return Optional.of(now);
  }

  /** Empty while the API server does not say. */
  private Optional<GrantedProof> proof(long attempt) {
    try {
      return node.api().state().map(GrantedProof::of).filter(proof -> proof.attempt() == attempt);
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Nothing of theirs is held any more, so that the next to ask finds the node as it is. */
  private boolean areGone(Set<String> pods) {
    try {
      return node.podResources().list().stream()
          .noneMatch(container -> pods.contains(container.podName()));
    } catch (IOException e) {
      return false;
    }
  }

  /** The old state files tell of no pod that came since. */
  private static Phase end(GrantedProof proof, ProofVerdict verdict, boolean gone) {
    return verdict == ProofVerdict.Failed
        ? new RollingBack(RollbackStage.Stop, "the proof failed: " + proof.message(), gone)
        : new Done(Result.Succeeded, "", new Proved(verdict.name(), proof.message()));
  }
}
