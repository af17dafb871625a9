package io.numaoperator.web;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Who is let in at a port. May block. */
interface Gate {
  /**
   * Why somebody is not let in.
   *
   * @param status of HTTP
   */
  record Refusal(int status, String message) {}

  /** Empty for who is let in. */
  Optional<Refusal> check(HttpServerRequest request);

  /**
   * For the port on the pod's loopback: who comes here has come by port-forward, which the API
   * server has allowed him. It is his browser that may be tricked: a page of somebody else whose
   * name is made to resolve to 127.0.0.1 (DNS rebinding) would be read by that page. Its name is in
   * the request.
   */
  final class Loopback implements Gate {
    private static final Set<String> NAMES = Set.of("localhost", "127.0.0.1", "[::1]", "::1");
    private static final int MISDIRECTED = 421;

    @Override
    public Optional<Refusal> check(HttpServerRequest request) {
      var authority = request.authority();
      return authority != null && NAMES.contains(authority.host().toLowerCase(Locale.ROOT))
          ? Optional.empty()
          : Optional.of(
              new Refusal(
                  MISDIRECTED,
                  "Open this page as http://localhost:PORT/, through kubectl port-forward."));
    }
  }

  /** For the port that others reach: a bearer token that the API server knows. */
  final class BearerToken implements Gate {
    private static final String SCHEME = "bearer ";
    private static final int LONGEST = 16 << 10;
    private static final int UNAUTHENTICATED = 401;
    private static final int FORBIDDEN = 403;
    private static final int NO_ANSWER = 503;

    private final Access access;

    BearerToken(Access access) {
      this.access = access;
    }

    @Override
    public Optional<Refusal> check(HttpServerRequest request) {
      var header = request.getHeader(HttpHeaders.AUTHORIZATION);
      if (header == null
          || header.length() > LONGEST
          || !header.toLowerCase(Locale.ROOT).startsWith(SCHEME)
          || header.substring(SCHEME.length()).isBlank()) {
        return Optional.of(unauthenticated());
      }
      return switch (access.of(header.substring(SCHEME.length()).strip())) {
        case Allowed -> Optional.empty();
        case Unauthenticated -> Optional.of(unauthenticated());
        case Forbidden ->
            Optional.of(
                new Refusal(
                    FORBIDDEN,
                    "You may not list numanodestates, numapolicies (numaoperator.io) and"
                        + " noderesourcetopologies (topology.node.k8s.io), which this page shows."));
        case NoAnswer ->
            Optional.of(new Refusal(NO_ANSWER, "The API server did not say who you are."));
      };
    }

    private static Refusal unauthenticated() {
      return new Refusal(
          UNAUTHENTICATED,
          "This port wants a bearer token of the cluster. With a browser, use kubectl"
              + " port-forward: docs/page.md says how.");
    }
  }
}
