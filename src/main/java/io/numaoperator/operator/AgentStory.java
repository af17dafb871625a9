package io.numaoperator.operator;

import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.Provision;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Tells what the owner of a policy should know of its agents as an Event of the policy, once each.
 * No condition is for it: its agents work, and what they say is true.
 */
@ApplicationScoped
class AgentStory {
  private final Events events;
  private final Set<String> told = ConcurrentHashMap.newKeySet();

  @Inject
  AgentStory(Events events) {
    this.events = events;
  }

  void unconfined(List<NumaPolicy> policies, List<Provision.Remark> remarks) {
    for (var remark : remarks) {
      for (var policy : policies) {
        if (told.add(remark.reason() + " " + policy.getMetadata().getUid())) {
          events.tell(policy, remark.reason(), true, "AgentsNotConfined", remark.message());
        }
      }
    }
  }
}
