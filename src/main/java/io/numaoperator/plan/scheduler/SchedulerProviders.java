package io.numaoperator.plan.scheduler;

import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import java.util.Locale;

/** The schedulers that there are. */
public final class SchedulerProviders {
  private SchedulerProviders() {}

  public static SchedulerProvider of(SchedulerPolicy.Provider provider) {
    return switch (provider) {
      case Auto ->
          new AutoScheduler(
              of(SchedulerPolicy.Provider.NodeResourceTopologyMatch),
              of(SchedulerPolicy.Provider.BuiltIn));
      case NodeResourceTopologyMatch -> new NodeResourceTopologyMatch();
      case External, None -> _ -> Provision.Objects.none(provider.name().toLowerCase(Locale.ROOT));
      case BuiltIn -> new BuiltInScheduler();
      case KAI -> _ -> Provision.NotYet.of(Part.SCHEDULER, provider.name());
    };
  }
}
