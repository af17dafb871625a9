package io.numaoperator.plan.device;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What HAMi's plugin says of a node's GPUs, in an annotation of the Node: a JSON array of {@code
 * {id, index, count, devmem, devcore, type, numa, mode, migProfiles, health}}, all left out when
 * zero. So {@code numa} that is absent is NUMA node 0 or unknown (sysfs says -1): nobody can tell.
 */
public record HamiRegister(List<Gpu> gpus) {
  public static final String ANNOTATION = "hami.io/node-nvidia-register";

  public HamiRegister {
    gpus = List.copyOf(gpus);
  }

  /**
   * @param numa its NUMA node; empty when it is not said
   * @param mig it is split by MIG
   */
  public record Gpu(String id, Optional<Integer> numa, boolean mig) {}

  /** Empty for what is no such array: an older HAMi writes another format. */
  public static Optional<HamiRegister> parse(String text) {
    try {
      var json = new ObjectMapper().readTree(text);
      if (!json.isArray()) {
        return Optional.empty();
      }
      var gpus = new ArrayList<Gpu>();
      json.forEach(gpu -> gpus.add(gpu(gpu)));
      return Optional.of(new HamiRegister(gpus));
    } catch (JsonProcessingException e) {
      return Optional.empty();
    }
  }

  private static Gpu gpu(JsonNode gpu) {
    var numa = gpu.path("numa");
    return new Gpu(
        gpu.path("id").asText(),
        numa.isInt() && numa.asInt() > 0 ? Optional.of(numa.asInt()) : Optional.empty(),
        gpu.path("mode").asText().equalsIgnoreCase("mig"));
  }

  /** MIG partitions take no part in HAMi's alignment: there is nothing to move them to. */
  public boolean usesMig() {
    return gpus.stream().anyMatch(Gpu::mig);
  }
}
