package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What a NumaNodeState says of the proof of an attempt.
 *
 * @param attempt its number; 0 where nothing is granted
 * @param pods namespace/name of the pods
 * @param verdict empty while it is under way; one that is not known is none
 */
record GrantedProof(
    long attempt, Set<String> pods, Optional<ProofVerdict> verdict, String message) {
  GrantedProof {
    pods = Set.copyOf(pods);
  }

  static GrantedProof of(JsonNode state) {
    var grant = state.path("spec").path("grant");
    var proof = grant.path("proof");
    var pods = new TreeSet<String>();
    proof.path("pods").forEach(pod -> pods.add(pod.path("pod").asText()));
    var verdict = proof.path("verdict").asText();
    return new GrantedProof(
        grant.path("attempt").asLong(0),
        pods,
        Stream.of(ProofVerdict.values()).filter(v -> v.name().equals(verdict)).findFirst(),
        proof.path("message").asText());
  }
}
