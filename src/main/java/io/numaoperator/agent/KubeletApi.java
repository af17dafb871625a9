package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;

/** The running kubelet's own HTTPS API. */
interface KubeletApi {
  /** The configuration that the kubelet runs with. */
  Configz configz();

  /** What came back. */
  sealed interface Configz {
    /** The object {@code kubeletconfig} of /configz. */
    record Live(JsonNode config) implements Configz {}

    /**
     * What its files say, where it is not to be asked: their merge, without the kubelet's defaults.
     */
    record OnDisk(JsonNode config) implements Configz {}

    /**
     * The kubelet answers but does not serve us: it asks the API server who we are (TokenReview,
     * SubjectAccessReview), so an API server that is away looks like a refusal (facts: kubelet.md
     * §0.8). This says nothing about the kubelet.
     */
    record Denied(String why) implements Configz {}

    /** Nothing answers: the kubelet is down or not yet up. */
    record Unreachable(String why) implements Configz {}
  }
}
