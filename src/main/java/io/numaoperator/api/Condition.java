package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** metav1.Condition. Our own class, since fabric8's has no required fields in a CRD. */
public class Condition {
  @Required
  @Size(max = 63)
  @JsonPropertyDescription("What is judged, in CamelCase.")
  public String type;

  @Required
  @JsonPropertyDescription("True, False or Unknown.")
  public Status status;

  @Required
  @Size(min = 1, max = 128)
  @Pattern("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
  @JsonPropertyDescription("Why, in one CamelCase word; stable, for scripts and alerts.")
  public String reason;

  @Required
  @Size(max = 4096)
  @JsonPropertyDescription("Why, for a person, with what to do about it.")
  public String message;

  @JsonPropertyDescription("metadata.generation of the object that this was judged from.")
  public Long observedGeneration;

  @Required
  @JsonPropertyDescription("When status last changed (RFC 3339).")
  public String lastTransitionTime;

  @Override
  public String toString() {
    return "%s=%s (%s): %s".formatted(type, status, reason, message);
  }

  /** A condition's status. */
  public enum Status {
    True,
    False,
    Unknown
  }
}
