package io.numaoperator.plan.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import org.junit.jupiter.api.Test;

class VgpuResourcesTest {
  private static final Node PLAIN = node("cpu");
  private static final Node GPU_ALONE = node("cpu", "nvidia.com/gpu");
  private static final Node MOCKED =
      node("cpu", "nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpucores");

  private static Node node(String... resources) {
    var node = new NodeBuilder().withNewStatus().endStatus().build();
    for (var resource : resources) {
      node.getStatus().getAllocatable().put(resource, new Quantity("8"));
    }
    return node;
  }

  @Test
  void areAllocatableWhereEveryNodeWithGpusHasThem() {
    assertThat(VgpuResources.areAllocatable(List.of(MOCKED, PLAIN, MOCKED))).isTrue();
    assertThat(VgpuResources.areAllocatable(List.of(MOCKED, GPU_ALONE))).isFalse();
    assertThat(VgpuResources.areAllocatable(List.of(node("nvidia.com/gpu", "nvidia.com/gpumem"))))
        .isFalse();
  }

  @Test
  void areNotWhereNoNodeTells() {
    assertThat(VgpuResources.areAllocatable(List.of())).isFalse();
    assertThat(VgpuResources.areAllocatable(List.of(PLAIN, new Node()))).isFalse();
  }
}
