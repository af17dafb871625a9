package io.numaoperator.kubelet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.KubeletFragment;

/** Writes fragments and configurations of a kubelet in YAML. */
public final class Fragments {
  private Fragments() {}

  public static JsonNode config(String yaml) {
    try {
      return new YAMLMapper().readTree(yaml);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** Unlike the agent's reader, this does not mind what it is given. */
  public static KubeletFragment fragment(String yaml) {
    return KubeletSettings.of(config(yaml));
  }
}
