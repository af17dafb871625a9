package io.numaoperator.api;

import io.fabric8.crdv2.generator.v1.SchemaCustomizer;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;

/**
 * Marks an array property as a list-map, which fabric8 has no annotation for: input is {@code
 * property=key}. Server-side apply then merges the entries by key. The key must be a required field
 * of the entry.
 */
public class ListMap implements SchemaCustomizer.Customizer {
  @Override
  public JSONSchemaProps apply(
      JSONSchemaProps props, String input, KubernetesSerialization serialization) {
    var parts = input.split("=", 2);
    var list = props.getProperties().get(parts[0]);
    if (list == null || !"array".equals(list.getType())) {
      throw new IllegalArgumentException("no array property " + parts[0]);
    }
    list.setXKubernetesListType("map");
    list.setXKubernetesListMapKeys(List.of(parts[1]));
    return props;
  }
}
