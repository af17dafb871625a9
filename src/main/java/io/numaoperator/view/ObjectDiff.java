package io.numaoperator.view;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What applying an object would change in a live one: only what it says is compared, since what it
 * does not say is others'.
 *
 * @param object kind and name, for a person
 * @param exists whether there is a live one
 * @param changes each field that differs
 */
public record ObjectDiff(String object, boolean exists, List<Change> changes) {
  private static final int LONGEST = 120;

  public ObjectDiff {
    changes = List.copyOf(changes);
  }

  /**
   * A field.
   *
   * @param path such as spec.template.spec.containers[0].image
   * @param live its value; empty when it is not set
   * @param wanted its value when applied
   */
  public record Change(String path, Optional<String> live, String wanted) {}

  /** Of one that there is not yet. */
  public static ObjectDiff missing(String object) {
    return new ObjectDiff(object, false, List.of());
  }

  /** Of an object and the live one. */
  public static ObjectDiff of(String object, JsonNode wanted, JsonNode live) {
    var changes = new ArrayList<Change>();
    compare("", wanted, live, changes);
    return new ObjectDiff(object, true, changes);
  }

  /** Whether applying it changes nothing. */
  public boolean isSame() {
    return exists && changes.isEmpty();
  }

  private static void compare(String path, JsonNode wanted, JsonNode live, List<Change> changes) {
    if (wanted.isObject() && live.isObject()) {
      wanted
          .properties()
          .forEach(
              field ->
                  compare(
                      path.isEmpty() ? field.getKey() : path + "." + field.getKey(),
                      field.getValue(),
                      live.path(field.getKey()),
                      changes));
    } else if (wanted.isArray() && live.isArray() && wanted.size() == live.size()) {
      for (int i = 0; i < wanted.size(); i++) {
        compare("%s[%d]".formatted(path, i), wanted.get(i), live.get(i), changes);
      }
    } else if (!isSame(wanted, live)) {
      changes.add(
          new Change(
              path,
              live.isMissingNode() || live.isNull() ? Optional.empty() : Optional.of(text(live)),
              text(wanted)));
    }
  }

  /** The API server leaves out what is empty. */
  private static boolean isSame(JsonNode wanted, JsonNode live) {
    return wanted.equals(live)
        || (wanted.isValueNode() && live.isValueNode() && wanted.asText().equals(live.asText()))
        || ((live.isMissingNode() || live.isNull())
            && (wanted.isNull()
                || (wanted.isContainerNode() && wanted.isEmpty())
                || (wanted.isTextual() && wanted.asText().isEmpty())));
  }

  private static String text(JsonNode value) {
    var text = value.isValueNode() ? value.asText() : value.toString();
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST - 3) + "...";
  }
}
