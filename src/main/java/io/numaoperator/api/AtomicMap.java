package io.numaoperator.api;

import io.fabric8.crdv2.generator.v1.SchemaCustomizer;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/**
 * Marks object properties as written whole, which fabric8 has no annotation for: input is {@code
 * property,property}. Server-side apply then leaves nothing in them of who wrote them before: a
 * result that a restored backup brought along would end an attempt that has just begun.
 */
public class AtomicMap implements SchemaCustomizer.Customizer {
  @Override
  public JSONSchemaProps apply(
      JSONSchemaProps props, String input, KubernetesSerialization serialization) {
    for (var name : input.split(",", -1)) {
      var map = props.getProperties().get(name);
      if (map == null || !"object".equals(map.getType())) {
        throw new IllegalArgumentException("no object property " + name);
      }
      map.setXKubernetesMapType("atomic");
    }
    return props;
  }
}
