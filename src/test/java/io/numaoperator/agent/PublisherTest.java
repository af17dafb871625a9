package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.numaoperator.api.NumaNodeStateStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class PublisherTest {
  private final FakeApiServer api = new FakeApiServer();
  private final Publisher publisher = new Publisher(api);
  private final NumaNodeStateStatus status = new NumaNodeStateStatus();

  @Test
  void writesWhatChangedAndNothingElse() throws IOException {
    status.bootId = "one";
    assertThat(publisher.publish(status)).isTrue();
    assertThat(publisher.publish(status)).isTrue();
    assertThat(api.applied).hasSize(1);
    status.bootId = "two";
    assertThat(publisher.publish(status)).isTrue();
    assertThat(api.applied)
        .extracting(s -> s.path("bootId").asText())
        .containsExactly("one", "two");
  }

  @Test
  void neverAppliesTheOperatorsConditions() throws IOException {
    publisher.publish(status);
    assertThat(api.applied.getFirst().has("conditions")).isFalse();
  }

  @Test
  void leavesOutWhatIsEmpty() throws IOException {
    status.stateFiles = new NumaNodeStateStatus.StateFiles();
    status.effective = new NumaNodeStateStatus.EffectiveKubelet();
    publisher.publish(status);
    assertThat(api.applied.getFirst().toString()).isEqualTo("{}");
  }

  @Test
  void writesAgainAfterAFailure() throws IOException {
    api.away = true;
    assertThatThrownBy(() -> publisher.publish(status)).isInstanceOf(IOException.class);
    api.away = false;
    assertThat(publisher.publish(status)).isTrue();
    assertThat(api.applied).hasSize(1);
  }

  @Test
  void writesToAnObjectThatWasMadeAnew() throws IOException {
    api.there = false;
    assertThat(publisher.publish(status)).isFalse();
    api.there = true;
    assertThat(publisher.publish(status)).isTrue();
    publisher.forget();
    assertThat(publisher.publish(status)).isTrue();
    assertThat(api.applied).hasSize(2);
  }

  /** As after a restore of etcd: the object is the same, and says what was so once. */
  @Test
  void writesAgainWhereTheObjectTellsOfAnotherAttempt() throws IOException {
    status.attempt = new NumaNodeStateStatus.Attempt();
    status.attempt.number = 2L;
    status.attempt.step = NumaNodeStateStatus.Step.Done;
    publisher.publish(status);
    assertThat(publisher.isStale(json("{'attempt': {'number': 2, 'step': 'Done'}}"))).isFalse();
    publisher.publish(status);
    assertThat(api.applied).hasSize(1);
    assertThat(publisher.isStale(json("{'attempt': {'number': 1, 'step': 'Preparing'}}"))).isTrue();
    publisher.publish(status);
    assertThat(api.applied).hasSize(2);
    assertThat(publisher.isStale(json("{}"))).isTrue();
  }

  private static JsonNode json(String text) throws IOException {
    return new ObjectMapper().readTree(text.replace('\'', '"'));
  }

  /** Stands for the API server. */
  private static final class FakeApiServer implements ApiServer {
    final List<JsonNode> applied = new ArrayList<>();
    boolean away;
    boolean there = true;

    @Override
    public boolean applyStatus(JsonNode status) throws IOException {
      if (away) {
        throw new IOException("away");
      }
      if (there) {
        applied.add(status.deepCopy());
      }
      return there;
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
      throw new UnsupportedOperationException("publishing a status reads nothing");
    }

    @Override
    public void watchTopology(
        String version, Duration limit, Consumer<Optional<JsonNode>> changed) {
      throw new UnsupportedOperationException("publishing a status reads nothing");
    }

    @Override
    public JsonNode applyTopology(JsonNode topology) {
      throw new UnsupportedOperationException("publishing a status reads nothing");
    }

    @Override
    public void watchState(String version, Duration limit, Consumer<Optional<JsonNode>> changed) {
      throw new UnsupportedOperationException("publishing reads nothing");
    }
  }
}
