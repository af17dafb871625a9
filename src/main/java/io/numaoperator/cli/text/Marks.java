package io.numaoperator.cli.text;

import io.numaoperator.view.NodeMap;
import io.numaoperator.view.NodeMap.State;
import java.util.OptionalInt;

/**
 * One character for each CPU and device: who holds it. Containers on one NUMA node are small
 * letters, those across NUMA nodes capital ones, so that the map tells them apart without colours.
 */
final class Marks {
  private static final int LETTERS = 26;
  private static final char MANY = '*';

  private final NodeMap map;
  private final int crossing;

  Marks(NodeMap map) {
    this.map = map;
    this.crossing = (int) map.holders().stream().filter(NodeMap.Holder::crosses).count();
  }

  /** Of a container, by its place in the map's list: those across NUMA nodes come first. */
  char of(int holder) {
    boolean crosses = holder < crossing;
    int place = crosses ? holder : holder - crossing;
    return place < LETTERS ? (char) ((crosses ? 'A' : 'a') + place) : MANY;
  }

  char of(State state, OptionalInt holder) {
    return switch (state) {
      case Free -> '.';
      case Held -> holder.isPresent() ? of(holder.getAsInt()) : MANY;
      case Reserved -> '#';
      case Shared -> '-';
      case Unknown -> '?';
    };
  }

  Style style(State state, OptionalInt holder) {
    return switch (state) {
      case Free -> Style.Good;
      case Held -> map.isHeldAcross(holder) ? Style.Bad : Style.Plain;
      case Reserved, Shared -> Style.Minor;
      case Unknown -> Style.Doubtful;
    };
  }
}
