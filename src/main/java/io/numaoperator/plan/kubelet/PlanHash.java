package io.numaoperator.plan.kubelet;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletPolicy.MemoryManager;
import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.kubelet.EvictionThreshold;
import io.numaoperator.plan.ContentHash;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Names a plan for a person to approve.
 *
 * <p>Machines of one kind differ by some pages of memory, and so does what is computed from that:
 * the shares of zones, the absolute form of an eviction threshold, and systemReserved, which takes
 * the rest. A hash over these would be another one for each machine that an autoscaler brings, so
 * it is over what they are computed from: the policy's amount and the node's own reservations.
 */
public final class PlanHash {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .serializationInclusion(JsonInclude.Include.NON_NULL)
          .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
          .build();

  private PlanHash() {}

  /**
   * Of one node's plan.
   *
   * @param own the node's own settings
   */
  public static String of(MemoryManager policy, KubeletFragment own, KubeletFragment planned) {
    ObjectNode content = MAPPER.valueToTree(planned);
    if (policy.policy == StaticOrNone.Static) {
      content.remove("reservedMemory");
      content.remove("systemReserved");
      content.remove("evictionHard");
      var zones = content.putArray("zones");
      planned.reservedMemoryOrEmpty().forEach(reservation -> zones.add(reservation.numaNode));
      content.set("reserved", MAPPER.valueToTree(policy.reserved));
      content.put("own systemReserved", value(own.systemReserved, "memory"));
      content.put("own evictionHard", value(own.evictionHard, EvictionThreshold.MEMORY_AVAILABLE));
    }
    return ContentHash.of(content.toString());
  }

  /**
   * Of all nodes' plans: it says which different plans there are, not how many nodes have each.
   * Empty when there is none.
   */
  public static Optional<String> ofAll(Collection<String> nodePlans) {
    return nodePlans.isEmpty()
        ? Optional.empty()
        : Optional.of(ContentHash.of(String.join("\n", new TreeSet<>(nodePlans))));
  }

  private static String value(Map<String, String> map, String key) {
    return map == null ? null : map.get(key);
  }
}
