package io.numaoperator.operator;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.NumaPolicyStatus;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Our own CRDs, which whoever installs the operator brings. Where they are older than the operator
 * the API server drops the fields that they do not know, and an agent would carry out half of what
 * was meant: such an operator does not start. Newer ones do no harm.
 */
@ApplicationScoped
class OwnCrds {
  private static final int MOST = 5;

  private final KubernetesClient client;

  @Inject
  OwnCrds(KubernetesClient client) {
    this.client = client;
  }

  /**
   * @throws IllegalStateException when one is older than this operator
   */
  void check() {
    check("numapolicies", Map.of("spec", NumaPolicySpec.class, "status", NumaPolicyStatus.class));
    check(
        "numanodestates",
        Map.of("spec", NumaNodeStateSpec.class, "status", NumaNodeStateStatus.class));
  }

  private void check(String plural, Map<String, Class<?>> parts) {
    var name = plural + "." + Names.GROUP;
    var crd =
        Optional.ofNullable(
            client.apiextensions().v1().customResourceDefinitions().withName(name).get());
    var missing = new ArrayList<String>();
    crd.ifPresent(
        found -> parts.forEach((part, type) -> missing.addAll(missing(found, part, type))));
    if (!missing.isEmpty()) {
      throw new IllegalStateException(
          "CRD %s is older than this operator: it has no %s. Apply the CRDs of this version, the operator starts then"
              .formatted(name, String.join(", ", missing.stream().sorted().limit(MOST).toList())));
    }
  }

  /** Fields of the class that the CRD does not have, as paths. */
  static List<String> missing(CustomResourceDefinition crd, String part, Class<?> type) {
    var missing = new ArrayList<String>();
    crd.getSpec().getVersions().stream()
        .filter(version -> version.getName().equals(Names.VERSION))
        .map(version -> version.getSchema().getOpenAPIV3Schema().getProperties().get(part))
        .forEach(
            schema ->
                compare(
                    part,
                    schema,
                    Serialization.jsonMapper().constructType(type),
                    Serialization.jsonMapper(),
                    missing));
    return missing;
  }

  private static void compare(
      String path,
      JSONSchemaProps schema,
      JavaType type,
      ObjectMapper mapper,
      List<String> missing) {
    if (schema == null) {
      missing.add(path);
    } else if (type.isMapLikeType()) {
      compare(
          path,
          schema.getAdditionalProperties().getSchema(),
          type.getContentType(),
          mapper,
          missing);
    } else if (type.isCollectionLikeType()) {
      compare(path + "[]", schema.getItems().getSchema(), type.getContentType(), mapper, missing);
    } else if (isOurs(type)) {
      for (var field : mapper.getSerializationConfig().introspect(type).findProperties()) {
        var inner = schema.getProperties().get(field.getName());
        compare(path + "." + field.getName(), inner, field.getPrimaryType(), mapper, missing);
      }
    }
  }

  private static boolean isOurs(JavaType type) {
    return !type.isEnumType()
        && type.getRawClass().getPackageName().equals(NumaPolicy.class.getPackageName());
  }
}
