package io.numaoperator.web;

import java.util.List;

/**
 * All that the page says, in words, pictures and relative addresses; the template puts it into
 * HTML.
 *
 * @param title of the document
 * @param question as it was understood
 * @param policies every one, with its rollout
 * @param chips the states to choose from, with their counts
 * @param overview all nodes at a glance, when they are on several pages
 * @param nodes those on this page
 * @param found how many nodes there are for the question, in words
 * @param notice why there is nothing to show; empty when there is
 * @param pager to other pages; empty when there is one
 */
public record Sheet(
    String title,
    Question question,
    List<PolicyRow> policies,
    List<Chip> chips,
    List<Dot> overview,
    int overviewHeight,
    List<NodeRow> nodes,
    String found,
    String notice,
    List<Link> pager) {

  /** An address with what it is called; current when it is where we are. */
  public record Link(String href, String label, boolean current) {}

  /** A state to choose, with its sign in the overview. */
  public record Chip(
      String href, String label, String word, String sign, String count, boolean current) {}

  /** A node in the overview. */
  public record Dot(String href, String kind, String sign, String title) {}

  /**
   * A policy and its rollout.
   *
   * @param bar how many nodes are how, as a bar
   * @param counts the same in words
   */
  public record PolicyRow(
      String name,
      String href,
      boolean current,
      String mode,
      String word,
      String standing,
      String reason,
      String message,
      String counts,
      Drawing bar) {}

  /**
   * A node.
   *
   * @param id of its element
   * @param word its standing, for the style sheet, and {@code standing} for people
   * @param reason why, in a word: the step, while it is being changed
   * @param next why, and what happens or what to do next
   * @param kubelet its topology policy and scope; empty when it is not known
   * @param crossing a sentence for each container across zones, and {@code moreCrossing} that are
   *     not told
   * @param chain its conditions, when it is shown alone
   * @param holders who holds what, when it is shown alone
   */
  public record NodeRow(
      String name,
      String id,
      String href,
      String policy,
      String word,
      String standing,
      String reason,
      String next,
      String kubelet,
      List<ZoneBox> zones,
      List<String> crossing,
      String moreCrossing,
      List<String> remarks,
      List<ConditionRow> chain,
      List<HolderRow> holders,
      String moreHolders) {}

  /** A zone. */
  public record ZoneBox(String name, List<Resource> resources, String distances) {}

  /** Something that a zone has: its picture, and the same in words. */
  public record Resource(String name, String fullName, Drawing picture, String words) {}

  /** A link of the chain to readiness. */
  public record ConditionRow(
      String type, String word, String status, String reason, String message) {}

  /** A container that holds something. */
  public record HolderRow(
      String pod,
      String container,
      boolean crosses,
      String placement,
      String cpus,
      String cpuZones,
      String memoryZones,
      String devices,
      String deviceZones) {}
}
