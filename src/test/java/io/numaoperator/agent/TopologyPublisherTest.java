package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.agent.TopologyPublisher.Duty;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class TopologyPublisherTest {
  private final FakeApiServer api = new FakeApiServer();
  private final TopologyPublisher publisher = new TopologyPublisher(api, Time.system(), "gpu-1");

  private static TopologyReport report() {
    var inventory = new Inventory();
    inventory.zones = List.of();
    return TopologyReport.of(
        inventory,
        new KubeletFragment(),
        new PodResources.Allocatable(List.of(), CpuSet.parse("0-3"), List.of()),
        List.of(),
        ManagerState.UNKNOWN);
  }

  /** As after a change of the provider: server-side apply leaves the owners of others there. */
  @Test
  void anOwnerThatAnotherUpdaterAddedIsNotWrittenOverAgainAndAgain() throws IOException {
    publisher.sync(report(), "uid", new Duty.Publish());
    var there = (ObjectNode) api.applied.getFirst().deepCopy();
    ((ObjectNode) there.path("metadata"))
        .withArray("ownerReferences")
        .insertObject(0)
        .put("kind", "Namespace");
    publisher.seen(Optional.of(there));
    publisher.sync(report(), "uid", new Duty.Publish());
    assertThat(api.applied).hasSize(1);
    publisher.sync(report(), "another-uid", new Duty.Publish());
    assertThat(api.applied).hasSize(2);
  }

  @Test
  void whoOnlyComparesWritesNothing() throws IOException {
    var seen = publisher.sync(report(), "uid", new Duty.Compare(Duration.ZERO));
    assertThat(seen.published).isFalse();
    assertThat(api.applied).isEmpty();
  }

  /** Stands for the API server. */
  private static final class FakeApiServer implements ApiServer {
    final List<JsonNode> applied = new ArrayList<>();

    @Override
    public JsonNode applyTopology(JsonNode topology) {
      applied.add(topology);
      return topology;
    }

    @Override
    public boolean applyStatus(JsonNode status) {
      throw new UnsupportedOperationException("a topology is no status");
    }

    @Override
    public NodeView node() {
      throw new UnsupportedOperationException("publishing reads nothing");
    }

    @Override
    public Optional<JsonNode> state() {
      throw new UnsupportedOperationException("publishing reads nothing");
    }

    @Override
    public Optional<JsonNode> topology() {
      throw new UnsupportedOperationException("what is there is told by the watch");
    }

    @Override
    public void watchTopology(
        String version, Duration limit, Consumer<Optional<JsonNode>> changed) {
      throw new UnsupportedOperationException("what is there is told by the watch");
    }

    @Override
    public void watchState(String version, Duration limit, Consumer<Optional<JsonNode>> changed) {
      throw new UnsupportedOperationException("publishing reads nothing");
    }
  }
}
