package io.numaoperator.agent;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.numaoperator.agent.Grants.Decision.Go;
import io.numaoperator.agent.Grants.Decision.Nothing;
import io.numaoperator.agent.Grants.Decision.Refuse;
import io.numaoperator.agent.Journal.Form;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.FragmentRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the grant in a NumaNodeState: is there something new to do, and may it be done at all? */
final class Grants {
  /** Unknown fields are an error: what is left out silently could change what was meant. */
  private final ObjectMapper strict =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  /** What to do about a grant. */
  sealed interface Decision {
    /** No grant, or one that was used. */
    record Nothing() implements Decision {}

    /** A new one that must not be carried out. */
    record Refuse(Journal.Granted granted, String why) implements Decision {}

    /** A new one; what remains to be checked is the state of the node. */
    record Go(Journal.Granted granted) implements Decision {}
  }

  /**
   * @param state the NumaNodeState
   * @param lastAttempt number of the last attempt in the journal, 0 when there was none
   */
  Decision decide(JsonNode state, long lastAttempt, KubeletProcess kubelet) {
    var grant = state.path("spec").path("grant");
    long attempt = grant.path("attempt").asLong(0);
    if (attempt <= lastAttempt) {
      return new Nothing();
    }
    var reported = state.path("status").path("attempt");
    if (attempt < reported.path("number").asLong(0)) {
      return new Nothing();
    }
    boolean used = attempt == reported.path("number").asLong(0);
    var desired = state.path("spec").path("kubelet");
    KubeletFragment fragment;
    try {
      strict.treeToValue(desired, NumaNodeStateSpec.DesiredKubelet.class);
      strict.treeToValue(grant, NumaNodeStateSpec.Grant.class);
      fragment =
          form(desired) == Form.NONE
              ? new KubeletFragment()
              : strict.treeToValue(desired.path("fragment"), KubeletFragment.class);
    } catch (JsonProcessingException e) {
      var nothing = granted(state, kubelet, new KubeletFragment());
      return new Refuse(nothing, "operator and agent are of different versions: " + Errors.text(e));
    }
    var granted = granted(state, kubelet, fragment == null ? new KubeletFragment() : fragment);
    if (used) {
      return reported.path("step").asText().equals("Done")
          ? new Nothing()
          : new Refuse(
              granted,
              "the journal of this attempt is lost; it was at "
                  + reported.path("step").asText()
                  + " when last heard of");
    }
    return fault(desired, granted, kubelet)
        .<Decision>map(why -> new Refuse(granted, why))
        .orElse(new Go(granted));
  }

  private static Journal.Granted granted(
      JsonNode state, KubeletProcess kubelet, KubeletFragment fragment) {
    var spec = state.path("spec");
    var grant = spec.path("grant");
    var form = form(spec.path("kubelet"));
    var newDirectory =
        form == Form.DROP_IN ? kubelet.newDropInDirectory() : Optional.<String>empty();
    return new Journal.Granted(
        grant.path("attempt").asLong(),
        grant.path("hash").asText(),
        spec.path("policy").asText(),
        grant.path("bootId").asText(),
        fragment,
        window(spec.path("kubelet").path("verificationWindow").asText())
            .orElse(Duration.ZERO)
            .toMillis(),
        kubelet.unit(),
        kubelet.dropInDirectory().or(() -> newDirectory).orElse(""),
        kubelet.rootDirectory(),
        form,
        newDirectory.isPresent() ? kubelet.execStart() : List.of(),
        kubelet.commandLine().flag("config").orElse(""),
        grant.path("proof").isObject());
  }

  private static Form form(JsonNode desired) {
    if (desired.path("restore").asBoolean(false)) {
      return Form.NONE;
    }
    return desired.path("file").asText().equals(NumaNodeStateSpec.File.MainFile.name())
        ? Form.MAIN_FILE
        : Form.DROP_IN;
  }

  private static Optional<String> fault(
      JsonNode desired, Journal.Granted granted, KubeletProcess kubelet) {
    if (!granted.hash().equals(desired.path("hash").asText())) {
      return Optional.of(
          "the grant is for %s, but wanted is %s"
              .formatted(granted.hash(), desired.path("hash").asText("nothing")));
    }
    var hash = DropIn.hash(granted.fragment());
    if (!granted.hash().equals(hash)) {
      return Optional.of(
          "the fragment's hash is %s, not %s: operator and agent are of different versions, or it was edited"
              .formatted(hash, granted.hash()));
    }
    var violations = FragmentRules.violations(granted.fragment());
    if (!violations.isEmpty()) {
      return Optional.of(String.join("; ", violations));
    }
    if (granted.windowMillis() <= 0) {
      return Optional.of("verificationWindow is not a duration");
    }
    switch (granted.form()) {
      case MAIN_FILE -> {
        if (granted.mainFile().isEmpty()) {
          return Optional.of("the kubelet has no --config file that could be edited");
        }
      }
      case DROP_IN -> {
        if (granted.dropInDirectory().isEmpty()) {
          return Optional.of("the kubelet has no --config-dir, and cannot be given one");
        }
      }
      case NONE -> {
        return Optional.empty(); // nothing is set, so nothing can stand against a flag
      }
    }
    var flags = flagged(granted.fragment(), kubelet.commandLine().managedByFlag());
    return flags.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "set by flags of the kubelet, which win over files: " + String.join(", ", flags));
  }

  /** The fields of the fragment that flags set too. */
  private static List<String> flagged(KubeletFragment fragment, List<String> managedByFlag) {
    var fields = new ArrayList<String>();
    JsonNode tree = new ObjectMapper().valueToTree(fragment);
    for (var field : managedByFlag) {
      if (tree.hasNonNull(field) || !tree.has(field)) {
        fields.add(field);
      }
    }
    return fields;
  }

  /** Go's notation for durations, as far as the API allows it: 90s, 1m30s. */
  static Optional<Duration> window(String text) {
    try {
      return Optional.of(Duration.parse("PT" + text.toUpperCase(java.util.Locale.ROOT)));
    } catch (java.time.format.DateTimeParseException e) {
      return Optional.empty();
    }
  }
}
