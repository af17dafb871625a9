package io.numaoperator.plan.device;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The GPUs that HAMi accounts to a pod, in its annotation: {@code UUID,type,memory,cores:} a device
 * and {@code ;} between containers (HAMi's pkg/device/devices.go).
 */
public record HamiAllocation(List<List<Share>> containers) {
  public static final String ANNOTATION = "hami.io/vgpu-devices-allocated";

  public HamiAllocation {
    containers = containers.stream().map(List::copyOf).toList();
  }

  /**
   * @param memory MiB, as it is written
   * @param cores percent, as it is written
   */
  public record Share(String uuid, String memory, String cores) {}

  /** Empty for what is not of this form. */
  public static Optional<HamiAllocation> parse(String text) {
    var containers = new ArrayList<List<Share>>();
    for (var container : text.split(";")) {
      var shares = new ArrayList<Share>();
      for (var device : container.split(":")) {
        if (device.isBlank()) {
          continue;
        }
        var parts = device.strip().split(",");
        if (parts.length < 4) {
          return Optional.empty();
        }
        shares.add(new Share(parts[0], parts[2], parts[3]));
      }
      containers.add(shares);
    }
    return Optional.of(new HamiAllocation(containers));
  }

  public Set<String> gpus() {
    return containers.stream()
        .flatMap(List::stream)
        .map(Share::uuid)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Some container has other amounts on one GPU than on another: HAMi does not move those. */
  public boolean isUneven() {
    return containers.stream()
        .map(shares -> shares.stream().map(share -> share.memory() + "," + share.cores()).toList())
        .anyMatch(amounts -> new HashSet<>(amounts).size() > 1);
  }
}
