package io.numaoperator.plan.updater;

import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.plan.Provision;

/** The topology updaters that there are. */
public final class TopologyUpdaterProviders {
  private TopologyUpdaterProviders() {}

  public static TopologyUpdaterProvider of(TopologyUpdaterPolicy.Provider provider) {
    return switch (provider) {
      case BuiltIn -> new WithoutObjects("builtin", true);
      case External -> new WithoutObjects("external", false);
      case NFD -> new NfdTopologyUpdater();
    };
  }

  /** The agent does it, or somebody else: nothing to apply either way. */
  private record WithoutObjects(String name, boolean publishedByAgent)
      implements TopologyUpdaterProvider {
    @Override
    public Provision plan(Input input) {
      return Provision.Objects.none(name);
    }
  }
}
