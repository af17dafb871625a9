package io.numaoperator.plan.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.numaoperator.api.kai.KaiConfig;
import io.numaoperator.api.kai.SchedulingShard;
import java.util.stream.Collectors;

/** An object that Helm would set back at the next upgrade: its owner is told the values to set. */
final class HelmRelease {
  private HelmRelease() {}

  /** Whether the object says already what is wanted of its spec. */
  static boolean says(HasMetadata there, HasMetadata wanted) {
    var mapper = new JsonMapper();
    return covers(mapper.valueToTree(there).path("spec"), mapper.valueToTree(wanted).path("spec"));
  }

  private static boolean covers(JsonNode there, JsonNode wanted) {
    return wanted.isObject()
        ? wanted.properties().stream().allMatch(f -> covers(there.path(f.getKey()), f.getValue()))
        : wanted.equals(there);
  }

  /** What its owner runs to have it say so; values as the chart of KAI v0.17 names them. */
  static String command(String chart, HasMetadata wanted) {
    return "helm upgrade kai-scheduler "
        + chart
        + " -n kai-scheduler --reuse-values "
        + switch (wanted) {
          case SchedulingShard shard -> values(shard);
          case KaiConfig config -> values(config);
          default -> throw new IllegalArgumentException(wanted.getKind());
        };
  }

  private static String values(SchedulingShard shard) {
    var plugin = shard.getSpec().plugins.get(KaiScheduler.PLUGIN);
    return "--set scheduler.plugins.numa.enabled=true"
        + plugin.arguments.entrySet().stream()
            .map(
                argument ->
                    " --set-string 'scheduler.plugins.numa.arguments.%s=%s'"
                        .formatted(argument.getKey(), argument.getValue().replace(",", "\\,")))
            .collect(Collectors.joining());
  }

  private static String values(KaiConfig config) {
    return "--set numaPlacementExporter.enabled=true --set"
        + " 'numaPlacementExporter.tolerations[0].operator=Exists'"
        + config.getSpec().numaPlacementExporter.nodeSelector.entrySet().stream()
            .map(
                label ->
                    " --set-string 'numaPlacementExporter.nodeSelector.%s=%s'"
                        .formatted(label.getKey().replace(".", "\\."), label.getValue()))
            .collect(Collectors.joining());
  }
}
