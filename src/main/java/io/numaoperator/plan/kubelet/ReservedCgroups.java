package io.numaoperator.plan.kubelet;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import java.util.List;
import java.util.Set;

/**
 * kubeReservedCgroup, systemReservedCgroup and enforceNodeAllocatable. Where reservedSystemCPUs is
 * set they have to give way: the kubelet does not start with both
 * (pkg/kubelet/apis/config/validation/validation.go), and EKS sets both cgroups by default.
 *
 * <p>They are written even where the running kubelet has no such cgroup. It may have none only
 * because of our last drop-in, and a next one without these lines would bring the main file's
 * cgroups back, and the kubelet down.
 */
final class ReservedCgroups {
  /** What needs one of the two cgroups. */
  private static final Set<String> NEED_CGROUP =
      Set.of(
          "kube-reserved",
          "kube-reserved-compressible",
          "system-reserved",
          "system-reserved-compressible");

  private static final List<String> NOTHING = List.of("none");

  private ReservedCgroups() {}

  static void write(Draft draft, KubeletFragment settings, Source source) {
    if (draft.fragment().reservedSystemCPUs == null) {
      keepEmpty(draft, settings.enforceNodeAllocatable, source);
      return;
    }
    draft.fragment().kubeReservedCgroup = "";
    draft.fragment().systemReservedCgroup = "";
    draft.fragment().enforceNodeAllocatable = enforced(settings.enforceNodeAllocatable, source);
    noteIfLost(draft, "kubeReservedCgroup", settings.kubeReservedCgroup);
    noteIfLost(draft, "systemReservedCgroup", settings.systemReservedCgroup);
  }

  /**
   * Without this, the first drop-in would make a kubelet that enforces nothing enforce pods, or
   * exit where it has no cgroups. "none" stays in the plan once it is there, which may be our own
   * doing.
   */
  private static void keepEmpty(Draft draft, List<String> now, Source source) {
    boolean empty = now == null ? source == Source.Configz : now.isEmpty();
    if (empty || NOTHING.equals(now)) {
      draft.fragment().enforceNodeAllocatable = NOTHING;
    }
  }

  /**
   * What remains to be enforced; null where that is the kubelet's default. An explicit empty list
   * is lost in the merge with a drop-in and comes back as the default, "none" is not. configz
   * always shows the default, so there absent means empty; files show what they say.
   */
  private static List<String> enforced(List<String> now, Source source) {
    if (now == null && source != Source.Configz) {
      return null;
    }
    var kept =
        now == null
            ? List.<String>of()
            : now.stream().filter(e -> !NEED_CGROUP.contains(e)).toList();
    return kept.isEmpty() ? NOTHING : kept;
  }

  private static void noteIfLost(Draft draft, String field, String value) {
    if (value != null && !value.isEmpty()) {
      draft.note(
          "%s (now %s) is cleared, and what enforceNodeAllocatable enforces on it ends: the kubelet"
              + " does not allow it together with reservedSystemCPUs.",
          field, value);
    }
  }
}
