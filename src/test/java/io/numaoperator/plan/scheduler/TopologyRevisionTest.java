package io.numaoperator.plan.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.plan.Policies;
import java.util.List;
import org.junit.jupiter.api.Test;

class TopologyRevisionTest {
  @Test
  void isStable() {
    Policies.assertStable(
        List.of(node("a", "pod"), node("b", "container"), node("c", "pod")), TopologyRevision::of);
  }

  @Test
  void changesWithANodesFirstObject() {
    assertThat(TopologyRevision.of(List.of(node("a", "pod"), node("b", "pod"))))
        .isNotEqualTo(TopologyRevision.of(List.of(node("a", "pod"))));
  }

  @Test
  void changesWithANodesPolicyOrScope() {
    assertThat(TopologyRevision.of(List.of(node("a", "pod"))))
        .isNotEqualTo(TopologyRevision.of(List.of(node("a", "container"))));
  }

  @Test
  void doesNotChangeWithThePodsOnANode() {
    var later = node("a", "pod");
    later.attributes.add(
        new NodeResourceTopology.Attribute(
            NodeResourceTopology.FINGERPRINT_ATTRIBUTE, "pfp0v0019d"));
    later.zones.add(new NodeResourceTopology.Zone());
    assertThat(TopologyRevision.of(List.of(later)))
        .isEqualTo(TopologyRevision.of(List.of(node("a", "pod"))));
  }

  /** The scheduler's cache ignores it as it ignores every object that comes later. */
  @Test
  void changesWithAnObjectThatWasMadeAnew() {
    var anew = node("a", "pod");
    anew.getMetadata().setUid("another");
    assertThat(TopologyRevision.of(List.of(anew)))
        .isNotEqualTo(TopologyRevision.of(List.of(node("a", "pod"))));
  }

  @Test
  void ofNothingIsNone() {
    assertThat(TopologyRevision.ofAny(List.of())).isEmpty();
    assertThat(TopologyRevision.ofAny(List.of(node("a", "pod")))).isPresent();
  }

  @Test
  void takesAnObjectWithoutAttributes() {
    var bare = node("a", "pod");
    bare.attributes = null;
    assertThat(TopologyRevision.of(List.of(bare))).isNotEmpty();
  }

  private static NodeResourceTopology node(String name, String scope) {
    var topology = new NodeResourceTopology();
    topology.setMetadata(new ObjectMetaBuilder().withName(name).build());
    topology.attributes.add(
        new NodeResourceTopology.Attribute(
            NodeResourceTopology.POLICY_ATTRIBUTE, "single-numa-node"));
    topology.attributes.add(
        new NodeResourceTopology.Attribute(NodeResourceTopology.SCOPE_ATTRIBUTE, scope));
    return topology;
  }
}
