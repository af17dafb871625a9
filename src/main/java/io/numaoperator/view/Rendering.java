package io.numaoperator.view;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import java.util.List;
import java.util.stream.Stream;

/**
 * Everything that the operator would apply for policies, were it to see a cluster as it is given.
 *
 * @param parts what each part wants, in the order in which it is applied
 * @param nodes by name
 * @param conflicts settings of younger policies that do not hold, a sentence each
 */
public record Rendering(
    List<RenderedPart> parts, List<RenderedNode> nodes, List<String> conflicts) {
  public Rendering {
    parts = List.copyOf(parts);
    nodes = List.copyOf(nodes);
    conflicts = List.copyOf(conflicts);
  }

  /**
   * One part.
   *
   * @param provider who makes it
   */
  public record RenderedPart(Part part, String provider, Provision provision) {}

  /** Whether nothing is refused, unknown or in conflict. */
  public boolean isWhole() {
    return conflicts.isEmpty()
        && parts.stream().allMatch(p -> p.provision() instanceof Provision.Objects)
        && nodes.stream().allMatch(RenderedNode.Planned.class::isInstance);
  }

  /** All objects, in the order in which they are applied. */
  public List<HasMetadata> objects() {
    return Stream.<HasMetadata>concat(
            parts.stream()
                .map(RenderedPart::provision)
                .filter(Provision.Objects.class::isInstance)
                .flatMap(p -> ((Provision.Objects) p).objects().stream()),
            nodes.stream()
                .filter(RenderedNode.Planned.class::isInstance)
                .map(n -> ((RenderedNode.Planned) n).state()))
        .toList();
  }
}
