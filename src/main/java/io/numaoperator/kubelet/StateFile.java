package io.numaoperator.kubelet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.numaoperator.api.KubeletFragment;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a manager's state file says. The kubelet exits when it contradicts the configuration. These
 * files carry a checksum over a dump of Go structs: they are deleted or restored, never edited.
 */
public sealed interface StateFile {
  /** The state files that the operator knows how to treat, in the kubelet's root directory. */
  enum Kind {
    CPU("cpu_manager_state"),
    MEMORY("memory_manager_state");

    private final String fileName;

    Kind(String fileName) {
      this.fileName = fileName;
    }

    public String fileName() {
      return fileName;
    }
  }

  /** Readable, for this policy, as the kubelet writes it: none, static; None, Static. */
  record Recorded(String policy) implements StateFile {}

  /** Not readable: the kubelet could not start from it either. */
  record Corrupt(String why) implements StateFile {}

  /**
   * Reads a state file. The name of the policy is at the same place in the formats V2 to V4; the
   * checksum is not verified.
   */
  static StateFile parse(byte[] content) {
    JsonNode file;
    try {
      file =
          JsonMapper.builder()
              .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
              .build()
              .readTree(content);
    } catch (JsonProcessingException notJson) {
      return new Corrupt("not JSON: " + notJson.getOriginalMessage());
    } catch (IOException neverFromMemory) {
      return new Corrupt(neverFromMemory.getMessage());
    }
    var policy = file.path("policyName");
    return policy.isTextual() && !policy.asText().isEmpty()
        ? new Recorded(policy.asText())
        : new Corrupt("it names no policy");
  }

  /**
   * The files that a change makes invalid, to be deleted while the kubelet is stopped. When in
   * doubt a file is cleared: an option may be gone that an older drop-in set, and nothing is lost,
   * since no container holds exclusive CPUs or memory then.
   *
   * @param before the settings that the kubelet ran with
   * @param fragment what it will run with
   */
  static Set<Kind> toClear(KubeletFragment before, KubeletFragment fragment) {
    var clear = EnumSet.noneOf(Kind.class);
    if (cpuState(before, fragment)) {
      clear.add(Kind.CPU);
    }
    if (memoryState(before, fragment)) {
      clear.add(Kind.MEMORY);
    }
    return clear;
  }

  private static boolean cpuState(KubeletFragment before, KubeletFragment fragment) {
    if (fragment.cpuManagerPolicy == null) {
      return Objects.equals(before.cpuManagerPolicy, "static"); // perhaps by an older drop-in
    }
    if (changed(
        ManagedField.CPU_MANAGER_POLICY, before.cpuManagerPolicy, fragment.cpuManagerPolicy)) {
      return true;
    }
    // the state of policy none holds nothing but the name
    return fragment.cpuManagerPolicy.equals("static")
        && (!sorted(before.cpuManagerPolicyOptions).equals(sorted(fragment.cpuManagerPolicyOptions))
            || !ConfigComparison.canonical(before.reservedSystemCPUs)
                .equals(ConfigComparison.canonical(fragment.reservedSystemCPUs)));
  }

  private static boolean memoryState(KubeletFragment before, KubeletFragment fragment) {
    if (fragment.memoryManagerPolicy == null) {
      return Objects.equals(before.memoryManagerPolicy, "Static"); // perhaps by an older drop-in
    }
    return changed(
            ManagedField.MEMORY_MANAGER_POLICY,
            before.memoryManagerPolicy,
            fragment.memoryManagerPolicy)
        || (fragment.memoryManagerPolicy.equals("Static")
            && !ConfigComparison.byZone(before).equals(ConfigComparison.byZone(fragment)));
  }

  private static boolean changed(ManagedField field, String before, String after) {
    return !Objects.equals(
        KubeletSettings.orDefault(field, before), KubeletSettings.orDefault(field, after));
  }

  private static Map<String, String> sorted(Map<String, String> map) {
    return map == null ? Map.of() : new TreeMap<>(map);
  }
}
