package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.numaoperator.api.Names;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RestorationLoopTest {
  private static Node node(String name, Map<String, String> annotations) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .withAnnotations(annotations)
        .endMetadata()
        .withNewSpec()
        .withUnschedulable(true)
        .endSpec()
        .build();
  }

  @Test
  void findsTheCordonsThatNobodyWouldTakeBack() {
    var ours = Map.of(Names.CORDONED_ANNOTATION, "gone/3");
    var orphans =
        RestorationLoop.orphans(
            Stream.of(
                node("orphan", ours),
                node("known", ours),
                node("selected", ours),
                node("theirs", Map.of())),
            "known"::equals,
            node -> node.getMetadata().getName().equals("selected"));
    assertThat(orphans).extracting(n -> n.getMetadata().getName()).containsExactly("orphan");
  }
}
