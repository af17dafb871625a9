package io.numaoperator.web;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * What the page is asked for. What cannot be understood is as if it were not asked.
 *
 * @param text words that a node must have, in any order: in its name, policy, reason or pods
 * @param standing which nodes
 * @param policy nodes of that policy only; empty for all
 * @param node this one only, with all there is to tell; empty for many
 * @param byName in the order of names instead of trouble first
 * @param page from 1
 */
record Question(
    String text, Standing standing, String policy, String node, boolean byName, int page) {
  static final Question EVERYTHING = new Question("", Standing.Any, "", "", false, 1);
  private static final int LONGEST = 256;
  private static final int MOST_DIGITS = 6;

  /**
   * @param parameters of the URL, decoded
   */
  static Question of(Function<String, Optional<String>> parameters) {
    Function<String, String> text =
        name ->
            parameters
                .apply(name)
                .map(value -> value.substring(0, Math.min(LONGEST, value.length())).strip())
                .orElse("");
    var page = text.apply("page");
    return new Question(
        text.apply("q"),
        Standing.of(text.apply("state")),
        text.apply("policy"),
        text.apply("node"),
        text.apply("order").equals("name"),
        page.matches("[0-9]{1," + MOST_DIGITS + "}") ? Math.max(1, Integer.parseInt(page)) : 1);
  }

  Question standing(Standing other) {
    return new Question(text, other, policy, "", byName, 1);
  }

  Question policy(String other) {
    return new Question(text, standing, other, "", byName, 1);
  }

  Question byName(boolean other) {
    return new Question(text, standing, policy, "", other, 1);
  }

  Question page(int other) {
    return new Question(text, standing, policy, "", byName, other);
  }

  /** One node's own address. It does not carry the filter: it is made to be passed on. */
  static Question node(String name) {
    return new Question("", Standing.Any, "", name, false, 1);
  }

  public boolean isAboutOneNode() {
    return !node.isEmpty();
  }

  public boolean isFiltered() {
    return !text.isEmpty() || standing != Standing.Any || !policy.isEmpty();
  }

  List<String> words() {
    return Arrays.stream(text.toLowerCase(Locale.ROOT).split("\\s+", -1))
        .filter(word -> !word.isEmpty())
        .toList();
  }

  /** Relative, so that the page works below any path. */
  String href() {
    var parts = new ArrayList<String>();
    add(parts, "node", node);
    add(parts, "q", text);
    add(parts, "state", standing.word());
    add(parts, "policy", policy);
    add(parts, "order", byName ? "name" : "");
    add(parts, "page", page > 1 ? Integer.toString(page) : "");
    return "?" + String.join("&", parts);
  }

  private static void add(List<String> parts, String name, String value) {
    if (!value.isEmpty()) {
      parts.add(name + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8));
    }
  }
}
