package io.numaoperator.api.admission;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;

/** What the API server changes of objects that somebody creates. */
@Group(MutatingAdmissionPolicy.GROUP)
@Version(MutatingAdmissionPolicy.VERSION)
@Kind("MutatingAdmissionPolicy")
@Plural("mutatingadmissionpolicies")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class MutatingAdmissionPolicy extends CustomResource<MutatingAdmissionPolicy.Spec, Void> {
  public static final String GROUP = "admissionregistration.k8s.io";
  public static final String VERSION = "v1";

  /** Of what, when and how. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Spec(
      String failurePolicy,
      String reinvocationPolicy,
      MatchConstraints matchConstraints,
      List<MatchCondition> matchConditions,
      List<Mutation> mutations) {}

  /** Which objects. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record MatchConstraints(
      LabelSelector namespaceSelector, List<ResourceRule> resourceRules) {}

  /** Kinds and verbs. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record ResourceRule(
      List<String> apiGroups,
      List<String> apiVersions,
      List<String> resources,
      List<String> operations) {}

  /** A CEL expression that must hold. */
  public record MatchCondition(String name, String expression) {}

  /** One change. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Mutation(String patchType, Expression applyConfiguration) {}

  /** A CEL expression that gives the fields to set. */
  public record Expression(String expression) {}
}
