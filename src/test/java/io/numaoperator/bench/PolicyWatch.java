package io.numaoperator.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;

/** The status of the one policy, as a watch shows it. */
final class PolicyWatch implements AutoCloseable {
  static final String POLICIES = "/apis/numaoperator.io/v1alpha1/numapolicies";

  private final AutoCloseable watch;
  private JsonNode status = MissingNode.getInstance();
  private long seen;

  PolicyWatch(RawApi api) {
    watch = api.watch(POLICIES, "", this::changed);
  }

  private synchronized void changed(JsonNode event) {
    status = event.path("object").path("status");
    seen = System.nanoTime();
    notifyAll();
  }

  /**
   * @return when the status came that is as wanted, as System.nanoTime; empty when none did in time
   */
  synchronized Optional<Long> await(Duration limit, Predicate<JsonNode> wanted)
      throws InterruptedException {
    long until = System.nanoTime() + limit.toNanos();
    while (!wanted.test(status)) {
      long left = (until - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return Optional.empty();
      }
      wait(left);
    }
    return Optional.of(seen);
  }

  synchronized JsonNode status() {
    return status;
  }

  static Predicate<JsonNode> ready(int nodes) {
    return status -> status.path("nodes").path("ready").asInt(-1) == nodes;
  }

  static boolean namesNotReady(JsonNode status, String node) {
    for (var one : status.path("notReady")) {
      if (one.path("name").asText().equals(node)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() throws Exception {
    watch.close();
  }
}
