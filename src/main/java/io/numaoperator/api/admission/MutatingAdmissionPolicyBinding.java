package io.numaoperator.api.admission;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** Puts a MutatingAdmissionPolicy in force. */
@Group(MutatingAdmissionPolicy.GROUP)
@Version(MutatingAdmissionPolicy.VERSION)
@Kind("MutatingAdmissionPolicyBinding")
@Plural("mutatingadmissionpolicybindings")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class MutatingAdmissionPolicyBinding
    extends CustomResource<MutatingAdmissionPolicyBinding.Spec, Void> {

  /** Which policy. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Spec(String policyName) {}
}
