package io.numaoperator.plan.device;

import io.numaoperator.api.DevicePluginPolicy.Provider;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Optional;

/**
 * What is remembered, as an annotation of its Node, of the settings that a device plugin was given.
 *
 * @param hash of the settings; {@link #NOTHING} where it was given back what it had before
 * @param since when it was told to load them, in whole seconds
 * @param was the node's configuration label of before; empty where it had none
 */
public record DeviceMark(Provider provider, State state, String hash, Instant since, String was) {
  /** No settings of ours. */
  public static final String NOTHING = "none";

  /** How far it is. */
  public enum State {
    Loading,
    Loaded,
    Failed
  }

  public DeviceMark {
    since = since.truncatedTo(ChronoUnit.SECONDS);
  }

  public DeviceMark as(State now) {
    return new DeviceMark(provider, now, hash, since, was);
  }

  public String format() {
    return String.join("/", provider.name(), state.name(), hash, since.toString(), was);
  }

  /** What a person spoiled is taken as absent: then the plugin loads its settings once more. */
  public static Optional<DeviceMark> parse(String text) {
    var parts = text.split("/", -1);
    if (parts.length != 5 || parts[2].isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new DeviceMark(
              constant(Provider.values(), parts[0]),
              constant(State.values(), parts[1]),
              parts[2],
              Instant.parse(parts[3]),
              parts[4]));
    } catch (DateTimeException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static <E extends Enum<E>> E constant(E[] values, String name) {
    return Arrays.stream(values)
        .filter(value -> value.name().equals(name))
        .findFirst()
        .orElseThrow(IllegalArgumentException::new);
  }
}
