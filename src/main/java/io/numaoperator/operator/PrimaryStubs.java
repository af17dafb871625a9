package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import io.numaoperator.api.NumaNodeState;
import java.util.stream.Stream;

/**
 * What JOSDK keeps of NumaNodeStates: that they are there. What is in them, {@link ClusterCache}
 * has; a second copy of 5,000 would be tens of megabytes, and JOSDK copies its own once more for
 * each pass.
 */
public final class PrimaryStubs implements ItemStore<NumaNodeState> {
  private final BasicItemStore<NumaNodeState> kept =
      new BasicItemStore<>(Cache::metaNamespaceKeyFunc);

  @Override
  public NumaNodeState put(String key, NumaNodeState state) {
    return kept.put(key, stub(state));
  }

  private static NumaNodeState stub(NumaNodeState state) {
    var meta = state.getMetadata();
    var stub = new NumaNodeState();
    stub.setMetadata(
        new ObjectMetaBuilder()
            .withName(meta.getName())
            .withUid(meta.getUid())
            .withResourceVersion(meta.getResourceVersion())
            .withGeneration(meta.getGeneration())
            .withDeletionTimestamp(meta.getDeletionTimestamp())
            .withFinalizers(meta.getFinalizers())
            .build());
    return stub;
  }

  @Override
  public boolean isFullState() {
    return false;
  }

  @Override
  public String getKey(NumaNodeState state) {
    return kept.getKey(state);
  }

  @Override
  public NumaNodeState remove(String key) {
    return kept.remove(key);
  }

  @Override
  public Stream<String> keySet() {
    return kept.keySet();
  }

  @Override
  public Stream<NumaNodeState> values() {
    return kept.values();
  }

  @Override
  public int size() {
    return kept.size();
  }

  @Override
  public NumaNodeState get(String key) {
    return kept.get(key);
  }
}
