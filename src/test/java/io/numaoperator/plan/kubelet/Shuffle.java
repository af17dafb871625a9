package io.numaoperator.plan.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Random;

/** Gives the same content in another order. */
final class Shuffle {
  private Shuffle() {}

  /** With the fields of all objects in another order, and the entries of reservedMemory. */
  static JsonNode objects(JsonNode node, Random random) {
    if (node.isArray()) {
      var array = JsonNodeFactory.instance.arrayNode();
      node.forEach(item -> array.add(objects(item, random)));
      return array;
    }
    if (!node.isObject()) {
      return node;
    }
    var fields = new ArrayList<>(node.properties());
    Collections.shuffle(fields, random);
    var object = JsonNodeFactory.instance.objectNode();
    for (var field : fields) {
      object.set(field.getKey(), objects(field.getValue(), random));
    }
    return object;
  }

  static Inventory inventory(Inventory inventory, Random random) {
    var copy = Serialization.clone(inventory);
    Collections.shuffle(copy.zones, random);
    copy.zones.forEach(zone -> Collections.shuffle(zone.cores, random));
    copy.zones.forEach(zone -> Collections.shuffle(zone.sockets, random));
    return copy;
  }
}
