package io.numaoperator.plan.scheduler;

import io.numaoperator.api.SchedulerPolicy.Provider;
import io.numaoperator.plan.scheduler.SchedulerProvider.Input;

/** The name that pods put into spec.schedulerName. */
public final class SchedulerNames {
  private SchedulerNames() {}

  public static String of(Input input) {
    var setting = input.setting();
    return setting.provider == Provider.External
        ? ExternalScheduler.nameOf(setting)
        : setting.schedulerName;
  }
}
