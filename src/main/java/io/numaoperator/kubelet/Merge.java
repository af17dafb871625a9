package io.numaoperator.kubelet;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.KubeletFragment;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The merge of drop-ins as a kubelet since 1.32 does it (cmd/kubelet/app/server.go,
 * mergeKubeletConfigurations): a JSON merge patch of RFC 7386.
 */
public final class Merge {
  private Merge() {}

  /** The target with the patch; both stay as they are. */
  public static JsonNode patch(JsonNode target, JsonNode patch) {
    if (!patch.isObject()) {
      return patch.deepCopy();
    }
    ObjectNode merged =
        target.isObject() ? target.deepCopy() : JsonNodeFactory.instance.objectNode();
    for (var field : patch.properties()) {
      if (field.getValue().isNull()) {
        merged.remove(field.getKey());
      } else {
        merged.set(field.getKey(), patch(merged.path(field.getKey()), field.getValue()));
      }
    }
    return merged;
  }

  /**
   * The managed settings that a kubelet starts with: the files before our drop-in, our drop-in, the
   * files after it.
   *
   * <p>The first go through Go's omitempty before the merge, so an explicit empty value of theirs
   * is lost: {@code enforceNodeAllocatable: []} comes back as its default, {@code [pods]} (seen in
   * the lab).
   */
  public static KubeletFragment settings(
      KubeletFragment below, KubeletFragment fragment, KubeletFragment above) {
    var merged = patch(withoutEmpties(tree(below)), read(DropIn.render(fragment)));
    return KubeletSettings.of(patch(merged, tree(above)));
  }

  private static ObjectNode tree(KubeletFragment settings) {
    return JsonMapper.builder()
        .serializationInclusion(JsonInclude.Include.NON_NULL)
        .build()
        .valueToTree(settings);
  }

  /** What remains of a main file when it goes through Go's omitempty; changes the argument. */
  static ObjectNode withoutEmpties(ObjectNode settings) {
    settings
        .properties()
        .removeIf(
            field ->
                field.getValue().isNull()
                    || (field.getValue().isContainerNode() && field.getValue().isEmpty())
                    || (field.getValue().isTextual() && field.getValue().asText().isEmpty()));
    return settings;
  }

  private static JsonNode read(byte[] dropIn) {
    try {
      return new YAMLMapper().readTree(dropIn);
    } catch (IOException ourOwnBytes) {
      throw new UncheckedIOException(ourOwnBytes);
    }
  }
}
