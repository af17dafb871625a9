package io.numaoperator.api.nrt;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class NodeResourceTopologyTest {
  private static final Path CRD =
      Path.of("src/main/resources/crds/topology.node.k8s.io_noderesourcetopologies.yaml");

  @Test
  void namesAreThoseOfTheCrd() throws IOException {
    var crd = crd();
    assertThat(crd.getMetadata().getName()).isEqualTo(NodeResourceTopology.CRD);
    assertThat(crd.getSpec().getNames().getKind())
        .isEqualTo(HasMetadata.getKind(NodeResourceTopology.class));
    assertThat(crd.getSpec().getNames().getPlural())
        .isEqualTo(HasMetadata.getPlural(NodeResourceTopology.class));
    assertThat(crd.getSpec().getScope()).isEqualTo("Cluster");
    assertThat(Namespaced.class.isAssignableFrom(NodeResourceTopology.class)).isFalse();
  }

  @Test
  void fieldsAreThoseOfTheStoredVersion() throws IOException {
    var schema = schema();
    var zone = schema.getProperties().get("zones").getItems().getSchema();
    assertThat(fields(NodeResourceTopology.class)).isEqualTo(own(schema));
    assertThat(fields(NodeResourceTopology.Attribute.class))
        .isEqualTo(own(schema.getProperties().get("attributes").getItems().getSchema()));
    assertThat(fields(NodeResourceTopology.Zone.class)).isEqualTo(own(zone));
    assertThat(fields(NodeResourceTopology.Cost.class))
        .isEqualTo(own(zone.getProperties().get("costs").getItems().getSchema()));
    assertThat(fields(NodeResourceTopology.ZoneResource.class))
        .isEqualTo(own(zone.getProperties().get("resources").getItems().getSchema()));
  }

  @Test
  void whatIsWrittenIsWhatWasRead() {
    var yaml =
        """
        apiVersion: "topology.node.k8s.io/v1alpha2"
        kind: "NodeResourceTopology"
        metadata:
          name: "gpu-07"
        attributes:
        - name: "topologyManagerPolicy"
          value: "single-numa-node"
        topologyPolicies:
        - "SingleNUMANodePodLevel"
        zones:
        - name: "node-0"
          type: "Node"
          costs:
          - name: "node-0"
            value: 10
          resources:
          - name: "cpu"
            capacity: "8"
            allocatable: "7"
            available: "3500m"
        """;
    var topology = Serialization.unmarshal(yaml, NodeResourceTopology.class);
    assertThat(Serialization.asYaml(topology)).isEqualTo("---\n" + yaml);
  }

  /** The schema takes integers as well as strings, and NFD's objects have been seen with both. */
  @Test
  void readsQuantitiesThatAreNumbers() {
    var json =
        """
        {"apiVersion": "topology.node.k8s.io/v1alpha2", "kind": "NodeResourceTopology",
         "metadata": {"name": "n"},
         "zones": [{"name": "node-0", "type": "Node", "resources": [
           {"name": "memory", "capacity": 8589934592, "allocatable": "8432648192",
            "available": "8Gi"}]}]}
        """;
    var resource =
        Serialization.unmarshal(json, NodeResourceTopology.class)
            .zones
            .getFirst()
            .resources
            .getFirst();
    assertThat(Quantity.getAmountInBytes(resource.capacity)).isEqualByComparingTo("8589934592");
    assertThat(Quantity.getAmountInBytes(resource.available)).isEqualByComparingTo("8589934592");
  }

  private static CustomResourceDefinition crd() throws IOException {
    return Serialization.unmarshal(Files.readString(CRD), CustomResourceDefinition.class);
  }

  private static JSONSchemaProps schema() throws IOException {
    return crd().getSpec().getVersions().stream()
        .filter(version -> version.getName().equals(NodeResourceTopology.VERSION))
        .filter(version -> version.getStorage())
        .findFirst()
        .orElseThrow()
        .getSchema()
        .getOpenAPIV3Schema();
  }

  private static Set<String> own(JSONSchemaProps schema) {
    var names = new TreeSet<>(schema.getProperties().keySet());
    names.removeAll(List.of("apiVersion", "kind", "metadata"));
    return names;
  }

  private static Set<String> fields(Class<?> type) {
    return Arrays.stream(type.getDeclaredFields())
        .filter(field -> !Modifier.isStatic(field.getModifiers()))
        .map(Field::getName)
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
