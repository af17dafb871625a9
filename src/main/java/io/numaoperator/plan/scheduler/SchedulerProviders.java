package io.numaoperator.plan.scheduler;

import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.Provision;
import java.util.Locale;

/** The schedulers that there are. */
public final class SchedulerProviders {
  private SchedulerProviders() {}

  public static SchedulerProvider of(SchedulerPolicy.Provider provider) {
    return provider == SchedulerPolicy.Provider.None
        ? alone(provider)
        : new WithNamespaces(alone(provider));
  }

  private static SchedulerProvider alone(SchedulerPolicy.Provider provider) {
    return switch (provider) {
      case Auto ->
          new AutoScheduler(
              alone(SchedulerPolicy.Provider.NodeResourceTopologyMatch),
              alone(SchedulerPolicy.Provider.BuiltIn));
      case NodeResourceTopologyMatch -> new NodeResourceTopologyMatch();
      case None -> _ -> Provision.Objects.none(provider.name().toLowerCase(Locale.ROOT));
      case External -> new ExternalScheduler();
      case BuiltIn -> new BuiltInScheduler();
      case KAI -> new KaiScheduler();
    };
  }
}
