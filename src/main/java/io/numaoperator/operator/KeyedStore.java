package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.dsl.Informable;
import java.util.Optional;
import java.util.function.Function;

/**
 * A store that is opened at the first question. It is of one name, of a namespace say; when asked
 * of another one, it is of that one from then on.
 *
 * @param <T> the kind
 */
final class KeyedStore<T extends HasMetadata> implements AutoCloseable {
  private final Function<String, Informable<T>> source;
  private Optional<Opened<T>> opened = Optional.empty();

  private record Opened<T extends HasMetadata>(String name, Store<T> store) {}

  /**
   * @param source what to watch, by the name
   */
  KeyedStore(Function<String, Informable<T>> source) {
    this.source = source;
  }

  synchronized Store<T> of(String name) {
    if (opened.filter(o -> o.name().equals(name)).isEmpty()) {
      close();
      opened = Optional.empty(); // the next one may be refused
      opened = Optional.of(new Opened<>(name, new Store<>(source.apply(name))));
    }
    return opened.get().store();
  }

  @Override
  public synchronized void close() {
    opened.ifPresent(o -> o.store().close());
  }
}
