package io.numaoperator.scheduler;

import static io.numaoperator.scheduler.Given.resource;
import static io.numaoperator.scheduler.Given.topology;
import static io.numaoperator.scheduler.Given.zone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.api.nrt.NodeResourceTopology.Attribute;
import io.numaoperator.api.nrt.NodeResourceTopology.Cost;
import io.numaoperator.topology.AccountedPods;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.KubeletRules.Scope;
import io.numaoperator.topology.fit.NodeTopology;
import io.numaoperator.topology.fit.ZoneFree;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class NodeTopologyTest {
  @Test
  void readsWhatOurAgentWrites() {
    var object = topology("n", "restricted", "container", zone(0, 3, 4, 2), zone(8, 7, 8, 4));
    object.attributes.add(new Attribute("numaoperator.io/full-pcpus-only", "4"));
    object.attributes.add(new Attribute("numaoperator.io/prefer-closest-numa-nodes", "true"));
    object.zones.getFirst().attributes =
        List.of(new Attribute("numaoperator.io/memory-group", "0,8"));
    object.zones.getFirst().costs = List.of(new Cost("node-0", 10), new Cost("node-8", 21));
    Given.accounting(object, Map.of("a", Set.of(0)));
    var topology = NodeTopology.of(object);
    var rules = topology.free().rules();
    assertThat(rules.policy()).isEqualTo(Policy.Restricted);
    assertThat(rules.scope()).isEqualTo(Scope.Container);
    assertThat(rules.fullCoresOnly()).isTrue();
    assertThat(rules.threadsPerCore()).isEqualTo(4);
    assertThat(rules.preferClosest()).isTrue();
    assertThat(topology.free().zones().getFirst())
        .isEqualTo(
            new ZoneFree(
                0,
                8,
                7,
                3,
                3,
                Map.of("memory", new ZoneFree.Memory(8L << 30, 4L << 30)),
                Set.of(0, 8),
                Map.of(0, 10, 8, 21)));
    assertThat(topology.free().zones().get(1).id()).isEqualTo(8);
    assertThat(topology.accounted().orElseThrow().contains(AccountedPods.mark("default", "a")))
        .isTrue();
  }

  @Test
  void seesByTheZonesWhichManagersAreOn() {
    var object = topology("n", 4, 4);
    object.zones.forEach(
        zone -> zone.resources = List.of(resource("cpu", 8, 0, 0), resource(Given.GPU, 4, 4, 4)));
    var rules = NodeTopology.of(object).free().rules();
    assertThat(rules.staticCpus()).isFalse();
    assertThat(rules.staticMemory()).isFalse();
  }

  /** NFD: no annotation of ours, quantities with units allowed, memory in use by single zones. */
  @Test
  void readsWhatOthersWrite() {
    var object = topology("n", "single-numa-node", "pod", zone(0, 3, 4, 2), zone(1, 7, 8, 4));
    object.getMetadata().setAnnotations(null);
    object.zones.getFirst().resources.get(1).available = new Quantity("4Gi");
    var topology = NodeTopology.of(object);
    assertThat(topology.accounted()).isEmpty();
    assertThat(topology.free().zones().getFirst().memory().get("memory").free())
        .isEqualTo(4L << 30);
    assertThat(topology.free().zones().getFirst().memoryGroup()).containsExactly(0);
    assertThat(topology.free().zones().get(1).memoryGroup()).isEmpty();
  }

  @Test
  void refusesWhatItCannotUnderstand() {
    var policy = topology("n", "single-node", "pod", zone(0, 3, 4, 2));
    assertThatThrownBy(() -> NodeTopology.of(policy)).hasMessageContaining("\"single-node\"");
    var scope = topology("n", "none", "node", zone(0, 3, 4, 2));
    assertThatThrownBy(() -> NodeTopology.of(scope)).hasMessageContaining("\"node\"");
    var twice = topology("n", "none", "pod", zone(0, 3, 4, 2), zone(0, 3, 4, 2));
    assertThatThrownBy(() -> NodeTopology.of(twice)).hasMessageContaining("twice");
    var none = topology("n", "none", "pod");
    assertThatThrownBy(() -> NodeTopology.of(none)).hasMessageContaining("no zones");
    var marks = topology("n", "none", "pod", zone(0, 3, 4, 2));
    marks.getMetadata().getAnnotations().put(AccountedPods.ANNOTATION, "a,b");
    assertThatThrownBy(() -> NodeTopology.of(marks)).hasMessageContaining("malformed");
  }
}
