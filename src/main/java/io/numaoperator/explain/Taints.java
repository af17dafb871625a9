package io.numaoperator.explain;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.Objects;

/** Whether a pod tolerates a taint (k8s.io/api/core/v1/toleration.go). */
final class Taints {
  static final String NO_SCHEDULE = "NoSchedule";
  static final String NO_EXECUTE = "NoExecute";

  private Taints() {}

  static boolean tolerates(Pod pod, Taint taint) {
    return pod.getSpec().getTolerations().stream().anyMatch(t -> tolerates(t, taint));
  }

  /**
   * Lt and Gt compare whole numbers, since Kubernetes 1.35 and where a gate allows them; elsewhere
   * no pod has them.
   */
  private static boolean tolerates(Toleration toleration, Taint taint) {
    var effect = text(toleration.getEffect());
    var key = text(toleration.getKey());
    if (!(effect.isEmpty() || effect.equals(taint.getEffect()))
        || !(key.isEmpty() || key.equals(taint.getKey()))) {
      return false;
    }
    var has = text(taint.getValue());
    var wants = text(toleration.getValue());
    return switch (text(toleration.getOperator())) {
      case "", "Equal" -> has.equals(wants);
      case "Exists" -> true;
      case "Lt" -> NodeAffinities.isLess(has, wants);
      case "Gt" -> NodeAffinities.isLess(wants, has);
      default -> false;
    };
  }

  private static String text(String value) {
    return Objects.requireNonNullElse(value, "");
  }
}
