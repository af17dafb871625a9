package io.numaoperator.view;

import io.numaoperator.api.Condition;
import java.util.List;
import java.util.Optional;

/** What is read from an object's conditions. */
public final class Conditions {
  private Conditions() {}

  /**
   * @param conditions null where nobody judged the object yet
   */
  public static Optional<Condition> find(List<Condition> conditions, String type) {
    return conditions == null
        ? Optional.empty()
        : conditions.stream().filter(c -> type.equals(c.type)).findFirst();
  }
}
