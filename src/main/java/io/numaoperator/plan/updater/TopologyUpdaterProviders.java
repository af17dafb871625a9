package io.numaoperator.plan.updater;

import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Provision;
import java.util.Map;

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

  /** Labels of the pods of NFD's updater, as long as it is ours. */
  public static Map<String, String> nfdPods() {
    return Map.of(
        Ownership.NAME_LABEL, NfdTopologyUpdater.NAME, Ownership.PART_OF_LABEL, Ownership.OPERATOR);
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
