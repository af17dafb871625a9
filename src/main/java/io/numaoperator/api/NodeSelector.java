package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A label selector over nodes; both parts must hold. */
public class NodeSelector {
  @Size(max = 32)
  @JsonPropertyDescription("Labels that a node must carry with exactly these values.")
  public Map<String, String> matchLabels = new TreeMap<>();

  @Size(max = 32)
  @JsonPropertyDescription("Further requirements on a node's labels; all must hold.")
  public List<Requirement> matchExpressions = new ArrayList<>();

  /** One requirement, with the meaning of metav1.LabelSelectorRequirement. */
  @ValidationRule(
      value =
          "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 :"
              + " !has(self.values) || size(self.values) == 0",
      message = "In and NotIn need values; Exists and DoesNotExist take none")
  public static class Requirement {
    @Required
    @Size(min = 1, max = 317)
    @JsonPropertyDescription("The label's key.")
    public String key;

    @Required
    @JsonPropertyDescription("In, NotIn, Exists or DoesNotExist.")
    public Operator operator;

    @Size(max = 64)
    @JsonPropertyDescription("The values for In and NotIn.")
    public List<String> values = new ArrayList<>();
  }

  /** How a label is compared. */
  public enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist
  }
}
