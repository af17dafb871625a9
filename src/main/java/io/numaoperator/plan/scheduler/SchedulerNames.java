package io.numaoperator.plan.scheduler;

import io.numaoperator.plan.scheduler.SchedulerProvider.Input;

/** The name that pods put into spec.schedulerName. */
public final class SchedulerNames {
  private SchedulerNames() {}

  public static String of(Input input) {
    var setting = input.setting();
    return switch (setting.provider) {
      case External -> ExternalScheduler.nameOf(setting);
      case KAI -> KaiScheduler.nameOf(input.seen().kai());
      case Auto, NodeResourceTopologyMatch, BuiltIn, None -> setting.schedulerName;
    };
  }
}
