package io.numaoperator.plan.agent;

import java.util.List;
import java.util.stream.Stream;

/**
 * Which agents make room for those of the operator's own version. The DaemonSet replaces none by
 * itself (OnDelete): an agent ends only between two attempts, and few are away at once, since
 * nothing is known of a node without one.
 */
public final class AgentReplacement {
  /** One in so many may be away. */
  private static final int SHARE = 20;

  private AgentReplacement() {}

  /**
   * The agent of a node that is Ready and is to have one.
   *
   * @param pod name of its pod; empty while there is none
   * @param current it is made from what the operator would make one from now
   * @param ready it gives signs of life
   * @param busy an attempt on its node is granted or under way
   */
  public record Agent(String pod, boolean current, boolean ready, boolean busy) {
    private boolean isAway() {
      return pod.isEmpty() || (current && !ready);
    }
  }

  /** The pods to delete now. One that gives no signs of life is missed by nobody. */
  public static List<String> next(List<Agent> agents) {
    var outdated = agents.stream().filter(a -> !a.pod().isEmpty() && !a.current()).toList();
    long away = agents.stream().filter(Agent::isAway).count();
    long room = Math.max(0, Math.max(1, agents.size() / SHARE) - away);
    var silent = outdated.stream().filter(a -> !a.ready());
    var idle = outdated.stream().filter(a -> a.ready() && !a.busy()).limit(room);
    return Stream.concat(silent, idle).map(Agent::pod).sorted().toList();
  }
}
