package io.numaoperator.plan.device;

import java.util.Optional;

/** What a node's device plugin is to load. */
public sealed interface Wish {
  /** Nothing of ours: what it was given goes again. */
  record Nothing() implements Wish {}

  /** It cannot be told now: what is there stays. */
  record Unknown() implements Wish {}

  /**
   * Settings that our ConfigMap has.
   *
   * @param hash of the settings
   * @param label the value of {@link NvidiaConfig#NODE_LABEL} that has them loaded; empty where the
   *     plugin's pod has to start anew
   * @param from the ConfigMap
   * @param reachable the node's plugin mounts it
   */
  record Load(String hash, Optional<String> label, ConfigMapRef from, boolean reachable)
      implements Wish {}
}
