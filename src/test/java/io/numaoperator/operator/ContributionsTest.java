package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What server-side apply has down as ours, against what is wanted. */
class ContributionsTest {
  @Test
  void theSameFieldsAreTheSamePaths() throws IOException {
    var json = new JsonMapper();
    var owned =
        Contributions.owned(
            json.readTree(
                """
                {"f:spec": {"f:plugins": {"f:numa": {".": {}, "f:enabled": {},
                  "f:arguments": {"f:ignoreList": {}}}}, "f:tolerations": {}}}
                """));
    var wanted =
        json.readTree(
            """
            {"plugins": {"numa": {"enabled": true, "arguments": {"ignoreList": "cpu"}}},
             "tolerations": [{"operator": "Exists"}]}
            """);
    assertThat(owned).isEqualTo(Contributions.fields("", wanted));
    var without = json.readTree("{\"plugins\": {\"numa\": {\"enabled\": true}}}");
    assertThat(owned).isNotEqualTo(Contributions.fields("", without));
  }
}
