package io.numaoperator.kubelet;

import io.numaoperator.api.KubeletFragment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The kubelet drop-in file. The same fragment always gives the same bytes, and the hash is over
 * these, so that operator, agent and disk can be compared.
 *
 * <p>The kubelet merges it over its main file as a JSON merge patch (RFC 7386): maps merge by key,
 * lists replace, an explicit null deletes. Every file needs apiVersion and kind.
 */
public final class DropIn {
  static final String API_VERSION = "kubelet.config.k8s.io/v1beta1";
  static final String KIND = "KubeletConfiguration";

  private static final int HASH_LENGTH = 32;
  private static final String HEADER =
      """
      # Written by the NUMA Operator (numaoperator.io) from the NumaPolicy that has this node.
      # Edits are undone. Change the NumaPolicy; to take this node out, annotate it numaoperator.io/skip=true.
      apiVersion: %s
      kind: %s
      """
          .formatted(API_VERSION, KIND);

  /** Words without a second meaning in YAML 1.1; anything else is quoted. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z][A-Za-z0-9]*([-.][A-Za-z0-9]+)*");

  private static final Pattern GUESSED =
      Pattern.compile("(?i)y|n|yes|no|on|off|true|false|null|nan|inf");

  private DropIn() {}

  /**
   * The exact content of the file. Absent fields are left out; empty strings and lists are kept.
   */
  public static byte[] render(KubeletFragment fragment) {
    var yaml = new StringBuilder(HEADER);
    scalar(yaml, "cpuManagerPolicy", fragment.cpuManagerPolicy);
    if (Objects.equals(fragment.cpuManagerPolicy, "none")) {
      // The policy none accepts no options (cm/cpumanager/policy_none.go), and in a merge only null
      // takes away those of the main file.
      yaml.append("cpuManagerPolicyOptions: null\n");
    } else {
      map(yaml, "cpuManagerPolicyOptions", fragment.cpuManagerPolicyOptions);
    }
    scalar(yaml, "reservedSystemCPUs", fragment.reservedSystemCPUs);
    scalar(yaml, "memoryManagerPolicy", fragment.memoryManagerPolicy);
    reservedMemory(yaml, fragment.reservedMemory);
    scalar(yaml, "topologyManagerPolicy", fragment.topologyManagerPolicy);
    scalar(yaml, "topologyManagerScope", fragment.topologyManagerScope);
    map(yaml, "topologyManagerPolicyOptions", fragment.topologyManagerPolicyOptions);
    map(yaml, "kubeReserved", fragment.kubeReserved);
    map(yaml, "systemReserved", fragment.systemReserved);
    map(yaml, "evictionHard", fragment.evictionHard);
    scalar(yaml, "kubeReservedCgroup", fragment.kubeReservedCgroup);
    scalar(yaml, "systemReservedCgroup", fragment.systemReservedCgroup);
    list(yaml, "enforceNodeAllocatable", fragment.enforceNodeAllocatable);
    return yaml.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** The first 32 hexadecimal digits of the content's SHA-256. */
  public static String hash(byte[] content) {
    try {
      var digest = MessageDigest.getInstance("SHA-256").digest(content);
      return HexFormat.of().formatHex(digest).substring(0, HASH_LENGTH);
    } catch (NoSuchAlgorithmException everyJavaHasIt) {
      throw new IllegalStateException(everyJavaHasIt);
    }
  }

  /** The hash of the file that this fragment renders to. */
  public static String hash(KubeletFragment fragment) {
    return hash(render(fragment));
  }

  private static void scalar(StringBuilder yaml, String name, String value) {
    if (value != null) {
      yaml.append(name).append(": ").append(quoted(value)).append('\n');
    }
  }

  private static void map(StringBuilder yaml, String name, Map<String, String> map) {
    if (map != null && !map.isEmpty()) { // an empty map means nothing in a merge
      yaml.append(name).append(":\n");
      entries(yaml, "  ", map);
    }
  }

  private static void entries(StringBuilder yaml, String indent, Map<String, String> map) {
    new TreeMap<>(map)
        .forEach(
            (key, value) ->
                yaml.append(indent)
                    .append(quoted(key))
                    .append(": ")
                    .append(quoted(value))
                    .append('\n'));
  }

  private static void list(StringBuilder yaml, String name, List<String> list) {
    if (list != null) {
      yaml.append(name).append(list.isEmpty() ? ": []\n" : ":\n");
      list.forEach(item -> yaml.append("- ").append(quoted(item)).append('\n'));
    }
  }

  private static void reservedMemory(
      StringBuilder yaml, List<KubeletFragment.MemoryReservation> reservations) {
    if (reservations != null) {
      yaml.append("reservedMemory:").append(reservations.isEmpty() ? " []\n" : "\n");
      for (var reservation : reservations) {
        yaml.append("- numaNode: ").append(reservation.numaNode).append("\n  limits:\n");
        entries(yaml, "    ", reservation.limits);
      }
    }
  }

  private static String quoted(String text) {
    if (PLAIN.matcher(text).matches() && !GUESSED.matcher(text).matches()) {
      return text;
    }
    var quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      switch (c) {
        case '"', '\\' -> quoted.append('\\').append(c);
        default -> {
          if (c < ' ' || c > '~') {
            quoted.append("\\u%04x".formatted((int) c));
          } else {
            quoted.append(c);
          }
        }
      }
    }
    return quoted.append('"').toString();
  }
}
