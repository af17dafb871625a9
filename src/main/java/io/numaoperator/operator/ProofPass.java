package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.agent.ProofPod;
import io.numaoperator.rollout.Drain.Resident;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.Proof;
import io.numaoperator.rollout.Proof.Ask;
import io.numaoperator.rollout.Proof.Next;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.logging.Logger;

/**
 * Carries on the proofs of changed nodes, one step a node and pass. All that it goes by is in
 * objects; what is remembered here is only the API server's last answer, for a person to read.
 */
@ApplicationScoped
class ProofPass {
  private static final Logger LOG = Logger.getLogger(ProofPass.class);
  private static final int LONGEST_MESSAGE = 1000;

  private final KubernetesClient client;
  private final ClusterCache cache;
  private final Writer writer;
  private final NodeStory story;
  private final OperatorSettings settings;
  private final Map<String, String> refusals = new ConcurrentHashMap<>();

  @Inject
  ProofPass(
      KubernetesClient client,
      ClusterCache cache,
      Writer writer,
      NodeStory story,
      OperatorSettings settings) {
    this.client = client;
    this.cache = cache;
    this.writer = writer;
    this.story = story;
    this.settings = settings;
  }

  /**
   * @param due when time alone changes something
   * @param failure the first write that failed; one holds up its own node only
   */
  record Outcome(Optional<Instant> due, Optional<KubernetesClientException> failure) {}

  /** A change of a proof pod that a proof waits for. */
  static boolean differ(Pod old, Pod pod) {
    return !Objects.equals(phase(old), phase(pod))
        || (old.getMetadata().getDeletionTimestamp() == null)
            != (pod.getMetadata().getDeletionTimestamp() == null);
  }

  /**
   * @param progress the same nodes, with their pods where these are known
   */
  Outcome proceed(
      NumaPolicy policy, List<NodeAssessment> nodes, List<NodeProgress> progress, Instant now) {
    Optional<Instant> due = Optional.empty();
    Optional<KubernetesClientException> failure = Optional.empty();
    var byName = progress.stream().collect(Collectors.toMap(NodeProgress::name, node -> node));
    for (var node : nodes) {
      var evidence = evidence(policy, node, byName.get(node.name()));
      try {
        due = Stream.of(due, step(evidence, now)).flatMap(Optional::stream).min(Instant::compareTo);
      } catch (KubernetesClientException e) {
        LOG.warnf("proof of node %s: %s", node.name(), e.getMessage());
        failure = failure.or(() -> Optional.of(e));
      }
    }
    return new Outcome(due, failure);
  }

  private ProofEvidence evidence(NumaPolicy policy, NodeAssessment node, NodeProgress progress) {
    return new ProofEvidence(
        cache.states().get(node.name()).orElse(node.state()),
        node.node(),
        settings.namespace(),
        Optional.of(policy),
        pods(node.name()),
        arriving(progress),
        progress.agentAlive(),
        Optional.ofNullable(refusals.get(node.name())));
  }

  /** No policy has the node any more: nothing is begun, what is there is removed. */
  void end(NumaNodeState state, Node node) {
    step(
        new ProofEvidence(
            state,
            node,
            settings.namespace(),
            Optional.empty(),
            pods(node.getMetadata().getName()),
            List.of(),
            true,
            Optional.empty()),
        Instant.now());
  }

  private List<Pod> pods(String node) {
    return cache
        .proofPods()
        .list()
        .filter(pod -> node.equals(pod.getSpec().getNodeName()))
        .toList();
  }

  /** Pods of others whose admission the agent may not have told of. */
  private List<String> arriving(NodeProgress node) {
    return node.drain().residents().stream()
        .filter(Resident::mayHold)
        .map(Resident::name)
        .filter(name -> cache.proofPods().get(name).isEmpty())
        .toList();
  }

  /**
   * @return when to look again
   */
  private Optional<Instant> step(ProofEvidence evidence, Instant now) {
    if (!evidence.isOfInterest()) {
      return Optional.empty();
    }
    if (evidence.isGrantedAnother()) {
      writer.revoke(evidence.state()); // attempt numbers go back only over no grant at all
      return Optional.of(now);
    }
    var next = Proof.next(evidence.view(), now);
    if (!(next instanceof Next.Nothing || next instanceof Next.Wait)) {
      LOG.infof("proof of node %s: %s", evidence.name(), next);
    }
    return switch (next) {
      case Next.Nothing() -> Optional.empty();
      case Next.Wait(var until) -> Optional.of(until);
      case Next.Note(var asks) -> {
        refusals.remove(evidence.name());
        writer.grant(evidence.state(), evidence.noted(asks, now.truncatedTo(ChronoUnit.SECONDS)));
        yield Optional.of(now);
      }
      case Next.Make(var asks) -> {
        asks.forEach(ask -> make(evidence, ask));
        yield Optional.of(now.plus(Proof.RETRY));
      }
      case Next.Judge(var verdict, var message) -> {
        judge(evidence, verdict, Texts.shortened(message, LONGEST_MESSAGE));
        yield Optional.of(now);
      }
      case Next.Remove(var pods) -> {
        pods.forEach(this::remove);
        yield Optional.empty();
      }
    };
  }

  private void judge(ProofEvidence evidence, ProofVerdict verdict, String message) {
    writer.grant(evidence.state(), evidence.judged(verdict, message));
    refusals.remove(evidence.name());
    if (verdict == ProofVerdict.NotProven) {
      story.notProven(evidence.node(), evidence.attempt(), message);
    }
    evidence.pods().forEach(pod -> remove(Residents.name(pod)));
  }

  /** What the API server has against it is no failure of the node. */
  private void make(ProofEvidence evidence, Ask ask) {
    var pod =
        ProofPod.of(
            evidence.state(),
            settings.namespace(),
            settings.image(),
            ask.name().substring(ask.name().indexOf('/') + 1),
            evidence.attempt(),
            ask.cpus(),
            ask.device(),
            evidence.scheduler());
    try {
      cache.proofPods().wrote(client.resource(pod).create());
    } catch (KubernetesClientException e) {
      switch (e.getCode()) {
        case HttpURLConnection.HTTP_CONFLICT -> {} // made already
        case HttpURLConnection.HTTP_BAD_REQUEST, HttpURLConnection.HTTP_FORBIDDEN, 422 -> {
          LOG.warnf("proof pod %s: %s", ask.name(), e.getMessage());
          refusals.put(evidence.name(), e.getMessage());
        }
        default -> throw e;
      }
    }
  }

  private void remove(String pod) {
    client
        .pods()
        .inNamespace(settings.namespace())
        .withName(pod.substring(pod.indexOf('/') + 1))
        .delete();
  }

  private static String phase(Pod pod) {
    return Optional.ofNullable(pod.getStatus()).map(s -> s.getPhase()).orElse("");
  }
}
