package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.agent.Grants.Decision;
import io.numaoperator.agent.Journal.Form;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.kubelet.DropIn;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GrantsTest {
  private final ObjectMapper json = new ObjectMapper();
  private final Grants grants = new Grants();
  private final ObjectNode state = state();

  @Test
  void aNewGrantIsTaken() {
    var decision = decide(2);
    assertThat(decision).isInstanceOf(Decision.Go.class);
    var granted = ((Decision.Go) decision).granted();
    assertThat(granted.attempt()).isEqualTo(3);
    assertThat(granted.cordon()).isEqualTo("gpu-nodes/3");
    assertThat(granted.bootId()).isEqualTo("boot-1");
    assertThat(granted.window()).isEqualTo(Duration.ofSeconds(90));
    assertThat(granted.dropIn()).isEqualTo("/etc/kubernetes/conf.d/90-numaoperator.conf");
    assertThat(granted.cpuState()).isEqualTo("/var/lib/kubelet/cpu_manager_state");
    assertThat(granted.memoryState()).isEqualTo("/var/lib/kubelet/memory_manager_state");
    assertThat(DropIn.hash(granted.fragment())).isEqualTo(granted.hash());
  }

  @Test
  void aGrantToRestoreNamesNoSettings() {
    var hash = DropIn.hash(new KubeletFragment());
    spec().withObject("/kubelet").put("restore", true).put("hash", hash).remove("fragment");
    grant().put("hash", hash);
    var granted = ((Decision.Go) decide(2)).granted();
    assertThat(granted.restore()).isTrue();
    assertThat(DropIn.hash(granted.fragment())).isEqualTo(hash);
  }

  /** Nothing is written, so nothing is needed; what is there to be removed, the disk tells. */
  @Test
  void aKubeletWithoutADropInDirectoryIsRestoredAndGivenNone() {
    var hash = DropIn.hash(new KubeletFragment());
    spec().withObject("/kubelet").put("restore", true).put("hash", hash).remove("fragment");
    grant().put("hash", hash);
    assertThat(decided(plain()))
        .satisfies(
            granted -> {
              assertThat(granted.form()).isEqualTo(Form.NONE);
              assertThat(granted.dropInDirectory()).isEmpty();
              assertThat(granted.enablesDirectory()).isFalse();
              assertThat(granted.needsDirectory()).isFalse();
              assertThat(granted.mainFile()).isEqualTo("/var/lib/kubelet/config.yaml");
            });
  }

  @Test
  void theSameKubeletIsGivenADirectoryForADropIn() {
    var granted = decided(plain());
    assertThat(granted.enablesDirectory()).isTrue();
    assertThat(granted.dropInDirectory()).isEqualTo("/etc/kubernetes/kubelet.conf.d");
    spec().withObject("/kubelet").put("file", "MainFile");
    assertThat(decided(plain()).form()).isEqualTo(Form.MAIN_FILE);
    assertThat(decided(plain()).enablesDirectory()).isFalse();
  }

  private Journal.Granted decided(KubeletProcess kubelet) {
    return ((Decision.Go) grants.decide(state, 2, kubelet)).granted();
  }

  private static KubeletProcess plain() {
    var words = List.of("--config=/var/lib/kubelet/config.yaml");
    return new KubeletProcess(
        "kubelet.service",
        1,
        0,
        CommandLine.of("/usr/bin/kubelet", words),
        "/var/lib/kubelet",
        Optional.empty(),
        List.of(),
        List.of("/usr/bin/kubelet", "$KUBELET_ARGS"));
  }

  @Test
  void withoutAGrantNothingIsDone() {
    spec().remove("grant");
    assertThat(decide(0)).isEqualTo(new Decision.Nothing());
  }

  @ParameterizedTest
  @CsvSource({"3", "4"})
  void aGrantIsUsedOnce(long lastAttempt) {
    assertThat(decide(lastAttempt)).isEqualTo(new Decision.Nothing());
  }

  @ParameterizedTest
  @CsvSource({"3, Done", "4, Verifying"})
  void whatTheObjectReportsAsDoneIsNotDoneAgainWithoutAJournal(long number, String step) {
    state.withObject("/status/attempt").put("number", number).put("step", step);
    assertThat(decide(0)).isEqualTo(new Decision.Nothing());
  }

  @Test
  void aRunningAttemptWithoutItsJournalIsNotGuessedAt() {
    state.withObject("/status/attempt").put("number", 3).put("step", "Writing");
    refused(0, "the journal of this attempt is lost; it was at Writing when last heard of");
  }

  @Test
  void aGrantForAnotherHashIsRefused() {
    grant().put("hash", "0123456789abcdef");
    refused("the grant is for 0123456789abcdef, but wanted is " + hash(fragment()));
  }

  @Test
  void aFragmentThatIsNotTheHashedOneIsRefused() {
    fragmentNode().put("topologyManagerScope", "container");
    refused("operator and agent are of different versions, or it was edited");
  }

  @Test
  void anUnmanagedFieldIsRefused() {
    fragmentNode().put("staticPodPath", "/tmp");
    refused("of different versions: Unrecognized field \"staticPodPath\"");
  }

  /** What a newer operator asks for beside the settings is not left out silently. */
  @ParameterizedTest
  @CsvSource({"/spec/kubelet", "/spec/grant"})
  void whatThisAgentDoesNotKnowIsRefused(String where) {
    state.withObject(where).put("somethingNew", true);
    refused("of different versions: Unrecognized field \"somethingNew\"");
  }

  @Test
  void aFormThatThisAgentDoesNotKnowIsRefused() {
    state.withObject("/spec/kubelet").put("file", "Registry");
    refused("of different versions: Cannot deserialize");
  }

  @Test
  void aFragmentThatBreaksTheRulesIsRefused() {
    var broken = fragment();
    broken.systemReservedCgroup = "/system.slice";
    wanted(broken);
    refused("systemReservedCgroup");
  }

  @Test
  void aFieldThatAFlagSetsIsRefused() {
    var line =
        "/usr/bin/kubelet\0--config-dir=/etc/kubernetes/conf.d\0--topology-manager-scope=pod\0";
    assertThat(grants.decide(state, 2, kubelet(line)))
        .isInstanceOfSatisfying(
            Decision.Refuse.class,
            refuse -> assertThat(refuse.why()).contains("flags").contains("topologyManagerScope"));
  }

  @Test
  void aFlagForAFieldThatIsNotWantedDoesNotMatter() {
    var line = "/usr/bin/kubelet\0--config-dir=/etc/kubernetes/conf.d\0--kube-reserved=cpu=1\0";
    assertThat(grants.decide(state, 2, kubelet(line))).isInstanceOf(Decision.Go.class);
  }

  @Test
  void aKubeletWithoutADropInDirectoryIsRefused() {
    assertThat(grants.decide(state, 2, kubelet("/usr/bin/kubelet\0")))
        .isInstanceOfSatisfying(
            Decision.Refuse.class,
            refuse ->
                assertThat(refuse.why())
                    .isEqualTo("the kubelet has no --config-dir, and cannot be given one"));
  }

  @ParameterizedTest
  @CsvSource({"5s, 5", "90s, 90", "1m30s, 90", "30m, 1800", "0.5h, -1", "soon, -1", "'', -1"})
  void readsDurations(String text, long seconds) {
    var expected =
        seconds < 0 ? Optional.<Duration>empty() : Optional.of(Duration.ofSeconds(seconds));
    assertThat(Grants.window(text)).isEqualTo(expected);
  }

  private void refused(String why) {
    refused(2, why);
  }

  private void refused(long lastAttempt, String why) {
    assertThat(decide(lastAttempt))
        .isInstanceOfSatisfying(
            Decision.Refuse.class,
            refuse -> {
              assertThat(refuse.why()).contains(why);
              assertThat(refuse.granted().attempt()).isEqualTo(3);
            });
  }

  private Decision decide(long lastAttempt) {
    return grants.decide(
        state, lastAttempt, kubelet("/usr/bin/kubelet\0--config-dir=/etc/kubernetes/conf.d\0"));
  }

  private static KubeletProcess kubelet(String line) {
    var commandLine = CommandLine.parse(line.getBytes(UTF_8));
    return new KubeletProcess(
        "kubelet.service",
        1,
        0,
        commandLine,
        "/var/lib/kubelet",
        commandLine.flag("config-dir"),
        List.of(),
        List.of());
  }

  private static KubeletFragment fragment() {
    var fragment = new KubeletFragment();
    fragment.topologyManagerPolicy = "single-numa-node";
    fragment.topologyManagerScope = "pod";
    return fragment;
  }

  private static String hash(KubeletFragment fragment) {
    return DropIn.hash(fragment);
  }

  private ObjectNode state() {
    var object = json.createObjectNode();
    object.withObject("/spec").put("policy", "gpu-nodes");
    object.withObject("/spec/kubelet").put("verificationWindow", "1m30s");
    object.withObject("/spec/grant").put("attempt", 3).put("bootId", "boot-1");
    wanted(object, fragment());
    return object;
  }

  private void wanted(KubeletFragment fragment) {
    wanted(state, fragment);
  }

  private void wanted(ObjectNode object, KubeletFragment fragment) {
    JsonNode tree = json.valueToTree(fragment);
    object.withObject("/spec/kubelet").put("hash", hash(fragment)).set("fragment", tree);
    object.withObject("/spec/grant").put("hash", hash(fragment));
  }

  private ObjectNode spec() {
    return state.withObject("/spec");
  }

  private ObjectNode grant() {
    return state.withObject("/spec/grant");
  }

  private ObjectNode fragmentNode() {
    return state.withObject("/spec/kubelet/fragment");
  }
}
