package io.numaoperator.plan;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;

/** What a provider wants, or why there is nothing to want. */
public sealed interface Provision {
  /**
   * Apply these. What else carries the part's label is a former provider's and goes, unless it
   * carries {@link Ownership#RETAIN_LABEL}.
   *
   * @param provider value of {@link Ownership#PROVIDER_LABEL} on each object
   * @param objects in the order in which to apply them
   * @param contributions fields inside objects of others, and nothing but these fields; a former
   *     provider's are taken back
   * @param remarks what the cluster's owner should know or do
   */
  record Objects(
      String provider,
      List<HasMetadata> objects,
      List<HasMetadata> contributions,
      List<Remark> remarks)
      implements Provision {
    public Objects {
      objects = List.copyOf(objects);
      contributions = List.copyOf(contributions);
      remarks = List.copyOf(remarks);
    }

    public Objects(String provider, List<HasMetadata> objects, List<Remark> remarks) {
      this(provider, objects, List.of(), remarks);
    }

    /** For who tells them otherwise than in the part's condition. */
    public Objects withoutRemarks() {
      return new Objects(provider, objects, contributions, List.of());
    }

    public static Objects none(String provider) {
      return new Objects(provider, List.of(), List.of());
    }
  }

  /**
   * It cannot work in this cluster. What is there stays as it is: nothing is deleted for it.
   *
   * @param reason a condition's reason (CamelCase)
   * @param message a sentence that says what to change
   */
  record Refused(String reason, String message) implements Provision {}

  /**
   * This operator cannot do it yet: the part's condition is Unknown, never True, and what is there
   * stays as it is.
   */
  record NotYet(String reason, String message) implements Provision {
    public static NotYet of(Part part, String provider) {
      return new NotYet(
          "ProviderNotAvailable",
          "this version of the operator does not have %s provider %s"
              .formatted(part.label(), provider));
    }
  }

  /** Something that the owner should know or do; reason is CamelCase, message a sentence. */
  record Remark(String reason, String message) {}
}
