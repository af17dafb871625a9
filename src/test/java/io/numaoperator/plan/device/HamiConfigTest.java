package io.numaoperator.plan.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HamiConfigTest {
  private static final String OURS =
      """
      { "name" : "gpu-1", "operatingmode" : "hami-core", "enablenumatopology" : true,\
       "enablegetpreferredallocation" : true, "managedby" : "numa-operator" }\
      """;

  @Test
  void withoutAnExistingOneThereAreOurEntriesOnly() {
    assertThat(json(Optional.empty(), nodes("gpu-1")))
        .isEqualTo("{ \"nodeconfig\" : [\n  " + OURS + "\n] }\n");
  }

  @Test
  void othersEntriesAndUnknownKeysSurviveInTheirOrder() {
    var existing =
        """
        {"future": {"x": [1, 2]},
         "nodeconfig": [
          {"name": "other", "devicememoryscaling": 1.80, "migstrategy": "none", "later": null},
          {"name": "gpu-1", "operatingmode": "hami-core", "devicesplitcount": 10,
           "filterdevices": {"uuid": ["GPU-1"], "index": []}}],
         "last": true}
        """;
    assertThat(json(Optional.of(existing), nodes("gpu-1")))
        .isEqualTo(
            """
            { "future" : { "x" : [
              1,
              2
            ] }, "nodeconfig" : [
              { "name" : "other", "devicememoryscaling" : 1.80, "migstrategy" : "none", "later" : null },
              { "name" : "gpu-1", "operatingmode" : "hami-core", "devicesplitcount" : 10, "filterdevices" : { "uuid" : [
                "GPU-1"
              ], "index" : [ ] } },
              OURS
            ], "last" : true }
            """
                .replace("OURS", OURS));
  }

  @Test
  void mergingAgainChangesNothing() {
    var existing = "{\"nodeconfig\":[{\"name\":\"other\",\"devicecorescaling\":0.5}]}";
    var once = json(Optional.of(existing), nodes("gpu-1", "gpu-2"));
    assertThat(json(Optional.of(once), nodes("gpu-2", "gpu-1"))).isEqualTo(once);
  }

  @Test
  void anEntryOfOursGoesWithItsNode() {
    var existing = "{\"nodeconfig\":[{\"name\":\"gpu-2\",\"devicesplitcount\":3}]}";
    var both = json(Optional.of(existing), nodes("gpu-1", "gpu-2"));
    var one = json(Optional.of(both), nodes("gpu-1"));
    assertThat(one).isEqualTo(json(Optional.of(existing), nodes("gpu-1")));
    assertThat(one).contains("\"devicesplitcount\" : 3").contains(OURS);
  }

  @Test
  void splitCountIsSetWhereThePolicySaysSo() {
    var nodes = new TreeMap<String, OptionalInt>(Map.of("a", OptionalInt.of(4)));
    nodes.put("b", OptionalInt.empty());
    var json = json(Optional.empty(), nodes);
    assertThat(json.lines().filter(line -> line.contains("devicesplitcount")))
        .singleElement()
        .asString()
        .contains("\"name\" : \"a\"", "\"devicesplitcount\" : 4");
  }

  @Test
  void aNodeInMigModeIsLeftInIt() {
    var existing =
        """
        {"NodeConfig": [{"Name": "gpu-1", "OperatingMode": "mig"},
                        {"name": "gpu-2", "operatingmode": "mig"},
                        {"name": "gpu-2", "operatingmode": ""}]}
        """;
    var merged = merged(Optional.of(existing), nodes("gpu-1", "gpu-2", "gpu-3"));
    assertThat(merged.otherMode()).containsExactly("gpu-1", "gpu-2");
    assertThat(merged.json()).containsOnlyOnce("managedby").doesNotContain("\"nodeconfig\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"nodeconfig": [               | line 1
          {"nodeconfig": []} x           | Unrecognized token
          {"nodeconfig": []} {}          | Trailing token
          {"nodeconfig": [], "nodeconfig": []} | Duplicate
          {'nodeconfig': []}             | Unexpected character
          []                             | not a JSON object
          "text"                         | not a JSON object
          {"nodeconfig": {}}             | not a list
          {"nodeconfig": ["gpu-1"]}      | not an object
          {"nodeconfig": [{"name": 1}]}  | not a string
          {"nodeconfig": [{"operatingmode": true}]} | not a string
          """,
      quoteCharacter = '`')
  void refusesWhatHamiWouldDropForItsDefaults(String existing, String why) {
    assertThat(HamiConfig.merge(Optional.of(existing), nodes("gpu-1"), Set.of()))
        .isInstanceOfSatisfying(
            HamiConfig.Invalid.class, invalid -> assertThat(invalid.why()).contains(why));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"{}", "{\"nodeconfig\": null}", "{\"nodeconfig\": []}", "`  `"},
      quoteCharacter = '`')
  void anEmptyOneIsFine(String existing) {
    assertThat(merged(Optional.of(existing), nodes("gpu-1")).json()).contains(OURS);
  }

  @Test
  void fiveThousandNodesFitIntoAConfigMap() {
    var names =
        IntStream.range(0, 5000).mapToObj("ip-10-0-%d.eu-west-1.compute"::formatted).toList();
    assertThat(json(Optional.empty(), nodes(names.toArray(String[]::new))).length())
        .isLessThan(1 << 20);
  }

  private static String json(Optional<String> existing, SortedMap<String, OptionalInt> nodes) {
    return merged(existing, nodes).json();
  }

  private static HamiConfig.Merged merged(
      Optional<String> existing, SortedMap<String, OptionalInt> nodes) {
    var result = HamiConfig.merge(existing, nodes, Set.of());
    assertThat(result).isInstanceOf(HamiConfig.Merged.class);
    return (HamiConfig.Merged) result;
  }

  private static SortedMap<String, OptionalInt> nodes(String... names) {
    var nodes = new TreeMap<String, OptionalInt>();
    List.of(names).forEach(name -> nodes.put(name, OptionalInt.empty()));
    return nodes;
  }
}
