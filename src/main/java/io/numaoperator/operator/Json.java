package io.numaoperator.operator;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.Objects;

/** Wire values compare as their JSON: the classes of the API have no equality of their own. */
final class Json {
  private Json() {}

  static JsonNode of(Object value) {
    return Serialization.jsonMapper().valueToTree(value);
  }

  static boolean same(Object left, Object right) {
    return Objects.equals(of(left), of(right));
  }
}
