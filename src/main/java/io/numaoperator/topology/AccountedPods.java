package io.numaoperator.topology;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The pods that a NodeResourceTopology's numbers account for: the agent writes them next to the
 * numbers, so that a scheduler knows which of the pods bound to the node are not in them yet.
 *
 * <p>As text: {@code 3fa94c01@0,91d2b7aa,e07f3312@0+1}, sorted; a mark, and where the pod holds
 * exclusive CPUs, pinned memory or devices, the zones of these. PodResources knows a pod by
 * namespace and name only, not by uid.
 *
 * @param zones by {@link #mark}; an empty set for a pod that holds nothing of its own
 */
public record AccountedPods(Map<String, Set<Integer>> zones) {
  /** Annotation of a NodeResourceTopology. */
  public static final String ANNOTATION = "numaoperator.io/pods";

  private static final int MARK_BYTES = 4;
  private static final Pattern ENTRY =
      Pattern.compile("(?<mark>[0-9a-f]{8})(@(?<zones>[0-9]{1,5}(\\+[0-9]{1,5})*))?");

  public AccountedPods {
    var sorted = new TreeMap<String, Set<Integer>>();
    zones.forEach((mark, ids) -> sorted.put(mark, Collections.unmodifiableSet(new TreeSet<>(ids))));
    zones = Collections.unmodifiableMap(sorted);
  }

  /** The first 8 hexadecimal digits of SHA-256 of {@code namespace/name}. */
  public static String mark(String namespace, String name) {
    try {
      var hash =
          MessageDigest.getInstance("SHA-256")
              .digest((namespace + "/" + name).getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, MARK_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** Empty when the text is not in that format. */
  public static Optional<AccountedPods> parse(String text) {
    var zones = new TreeMap<String, Set<Integer>>();
    for (var entry : text.isEmpty() ? new String[0] : text.split(",", -1)) {
      var match = ENTRY.matcher(entry);
      if (!match.matches()) {
        return Optional.empty();
      }
      var ids = new TreeSet<Integer>();
      if (match.group("zones") != null) {
        for (var id : match.group("zones").split("\\+", -1)) {
          ids.add(Integer.valueOf(id));
        }
      }
      zones.put(match.group("mark"), ids);
    }
    return Optional.of(new AccountedPods(zones));
  }

  /** The same pods always give the same text. */
  public String format() {
    return zones.entrySet().stream()
        .map(
            entry ->
                entry.getValue().isEmpty()
                    ? entry.getKey()
                    : entry.getKey()
                        + "@"
                        + entry.getValue().stream()
                            .map(String::valueOf)
                            .collect(Collectors.joining("+")))
        .collect(Collectors.joining(","));
  }

  public boolean contains(String mark) {
    return zones.containsKey(mark);
  }
}
