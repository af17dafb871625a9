package io.numaoperator.rbac;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.Set;

/**
 * One request that a ServiceAccount of the operator's namespace made, as the API server's audit log
 * has it.
 *
 * @param lab the test class that it was seen in
 * @param account name of the ServiceAccount
 * @param verb RBAC's word: get, list, patch, …
 * @param group API group; empty for the core's
 * @param resource with its subresource, {@code pods/eviction}; empty for a path that is none
 * @param namespace empty for what has none, or for all of them
 * @param name empty where the request names no object
 * @param code HTTP status of the answer; 0 when there is none
 * @param denied whether the authorizer refused it; an admission's refusal is a 403 without that
 */
public record AuditedRequest(
    String lab,
    String account,
    String verb,
    String group,
    String resource,
    String namespace,
    String name,
    int code,
    boolean denied) {
  private static final String ACCOUNTS = "system:serviceaccount:numa-operator-system:";

  /** Those whose objects have names that no rule can know. */
  private static final Set<String> NAMELESS = Set.of("pods", "events");

  /** Empty for another user's. */
  static Optional<AuditedRequest> of(String lab, JsonNode event) {
    var user = event.path("user").path("username").asText();
    if (!user.startsWith(ACCOUNTS)) {
      return Optional.empty();
    }
    var object = event.path("objectRef");
    var resource = object.path("resource").asText();
    var subresource = object.path("subresource").asText();
    return Optional.of(
        new AuditedRequest(
            lab,
            user.substring(ACCOUNTS.length()),
            event.path("verb").asText(),
            object.path("apiGroup").asText(),
            subresource.isEmpty() ? resource : resource + "/" + subresource,
            object.path("namespace").asText(),
            NAMELESS.contains(resource) ? "" : object.path("name").asText(),
            event.path("responseStatus").path("code").asInt(),
            event
                .path("annotations")
                .path("authorization.k8s.io/decision")
                .asText()
                .equals("forbid")));
  }

  /** The authorizer let it through, and what came after it too. */
  boolean succeeded() {
    return !denied && code >= 200 && code < 300;
  }

  /**
   * Let through by the authorizer: refused by an admission, or by RBAC's guard against granting.
   */
  boolean refusedLater() {
    return !denied && code == 403;
  }

  /**
   * The API server asks for create when an apply makes the object, without a word in the audit log.
   */
  boolean isVerb(String wanted) {
    return wanted.equals(verb) || (wanted.equals("create") && verb.equals("patch") && code == 201);
  }

  @Override
  public String toString() {
    return "%s: %s".formatted(account, Permission.text(verb, group, resource, namespace, name));
  }
}
