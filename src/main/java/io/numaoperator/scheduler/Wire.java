package io.numaoperator.scheduler;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;

/**
 * The extender API (k8s.io/kube-scheduler/extender/v1). Its Go types have no JSON tags, so the
 * fields are in upper camel case. With nodeCacheCapable only names are sent.
 */
final class Wire {
  private Wire() {}

  /** What filter and prioritize are asked. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record ExtenderArgs(
      @JsonProperty("Pod") Pod pod, @JsonProperty("NodeNames") List<String> nodeNames) {
    ExtenderArgs {
      nodeNames = nodeNames == null ? List.of() : nodeNames;
    }
  }

  /** FailedNodes can be helped by preemption, the unresolvable cannot. */
  record ExtenderFilterResult(
      @JsonProperty("NodeNames") List<String> nodeNames,
      @JsonProperty("FailedNodes") Map<String, String> failedNodes,
      @JsonProperty("FailedAndUnresolvableNodes") Map<String, String> unresolvableNodes,
      @JsonProperty("Error") String error) {}

  record HostPriority(@JsonProperty("Host") String host, @JsonProperty("Score") long score) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  record ExtenderPreemptionArgs(
      @JsonProperty("Pod") Pod pod,
      @JsonProperty("NodeNameToMetaVictims") Map<String, MetaVictims> victims) {
    ExtenderPreemptionArgs {
      victims = victims == null ? Map.of() : victims;
    }
  }

  record ExtenderPreemptionResult(
      @JsonProperty("NodeNameToMetaVictims") Map<String, MetaVictims> victims) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  record MetaVictims(
      @JsonProperty("Pods") List<MetaPod> pods,
      @JsonProperty("NumPDBViolations") long disruptionBudgetViolations) {
    MetaVictims {
      pods = pods == null ? List.of() : pods;
    }
  }

  @JsonIgnoreProperties(ignoreUnknown = true)
  record MetaPod(@JsonProperty("UID") String uid) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  record ExtenderBindingArgs(
      @JsonProperty("PodName") String name,
      @JsonProperty("PodNamespace") String namespace,
      @JsonProperty("PodUID") String uid,
      @JsonProperty("Node") String node) {}

  /** An empty error is success. */
  record ExtenderBindingResult(@JsonProperty("Error") String error) {}
}
