package io.numaoperator.rollout;

import java.time.Instant;
import java.util.Optional;

/** How the settings of a node's device plugin stand to what is wanted. */
public sealed interface Devices {
  /**
   * Nothing is to be done about them, or nothing can be done now; the node's conditions say.
   *
   * @param loaded when the plugin was last told to load some
   */
  record AsWanted(Optional<Instant> loaded) implements Devices {
    public AsWanted() {
      this(Optional.empty());
    }
  }

  /**
   * The plugin has to load others.
   *
   * @param hash of what it has to load
   * @param notBefore until then the plugin may not find them yet
   */
  record Change(String hash, Instant notBefore) implements Devices {}

  /**
   * It was told to.
   *
   * @param back the plugin runs with them, and the kubelet has its devices again
   * @param settles when that is judged, not earlier
   */
  record Loading(String hash, boolean back, Instant settles) implements Devices {}

  /** The devices did not come back with these settings; only others are tried again. */
  record Failed(String hash) implements Devices {}
}
