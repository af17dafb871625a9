package io.numaoperator.plan.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.plan.Provision.Remark;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the owner of HAMi's release is told to set, from what its plugins were started with. */
class HamiValuesTest {
  private static final ConfigMapRef OURS = new ConfigMapRef("hami-system", "ours");
  private static final Map<String, String> RIGHT =
      Map.of(
          HamiValues.ENDPOINT,
          "https://hami-scheduler.hami-system.svc:443",
          HamiValues.TLS_INSECURE,
          "false",
          HamiValues.CA_FILE,
          "/etc/hami/numa-refit-ca/ca.crt",
          "PASS_DEVICE_SPECS",
          "true");

  private static RunningPlugin plugin(String version, boolean mounts, Map<String, String> env) {
    return new RunningPlugin(
        RunningPlugin.Kind.HAMi,
        "hami-system",
        "hami-device-plugin-1",
        true,
        Instant.EPOCH,
        mounts ? Set.of("ours") : Set.of("hami-device-plugin"),
        env,
        "projecthami/hami:" + version,
        true);
  }

  private static List<Remark> remarks(String deviceConfig, RunningPlugin... plugins) {
    return new HamiValues(OURS, List.of(plugins), deviceConfig, true).remarks();
  }

  private static Map<String, String> without(String variable) {
    var env = new HashMap<>(RIGHT);
    env.remove(variable);
    return env;
  }

  @Test
  void nothingIsLeftToDo() {
    assertThat(remarks("nvidia: {enableNumaTopology: false}", plugin("v2.10.1", true, RIGHT)))
        .isEmpty();
  }

  @Test
  void allInOneCommand() {
    assertThat(remarks("nvidia: {enableNumaTopology: true}", plugin("v2.10.1", false, Map.of())))
        .singleElement()
        .satisfies(
            remark -> {
              assertThat(remark.reason()).isEqualTo("HelmOwnerMustReferToConfig");
              assertThat(remark.message())
                  .contains(
                      "helm upgrade RELEASE hami-charts/hami --namespace hami-system",
                      "--set devicePlugin.nodeConfiguration.externalConfigName=ours",
                      "--set devicePlugin.enableNumaTopology=false",
                      "--set devicePlugin.passDeviceSpecsEnabled=true",
                      "--set devicePlugin.numaRefit.enabled=true",
                      "--set devicePlugin.numaRefit.tlsInsecure=false",
                      "--set devicePlugin.numaRefit.caSecret=hami-refit-ca",
                      "docs/hami.md");
            });
  }

  /** Its chart refuses the old name. */
  @Test
  void namesOfTheReleaseThatRuns() {
    assertThat(remarks("nvidia: {enableNumaTopology: true}", plugin("v2.11.0", true, RIGHT)))
        .singleElement()
        .satisfies(
            remark ->
                assertThat(remark.message())
                    .contains(
                        "--set devices.nvidia.enableNumaTopology=false",
                        "--set devicePlugin.enableNumaTopology=null"));
  }

  @Test
  void withoutACaNothingIsVerified() {
    assertThat(remarks("", plugin("v2.10.1", true, without(HamiValues.CA_FILE))))
        .singleElement()
        .satisfies(
            remark -> {
              assertThat(remark.reason()).isEqualTo("HelmOwnerMustSetValues");
              assertThat(remark.message())
                  .contains("numaRefit.caSecret=hami-refit-ca")
                  .doesNotContain("enabled=true");
            });
  }

  /** Insecure wins over the CA that is there; plain http has nothing to verify. */
  @ParameterizedTest
  @CsvSource({
    "HAMI_SCHEDULER_TLS_INSECURE, true, true",
    "HAMI_SCHEDULER_TLS_INSECURE, True, true",
    "HAMI_SCHEDULER_ENDPOINT, http://hami-scheduler.hami-system.svc:80, false"
  })
  void aRefitThatVerifiesNobodyIsToldAsLongAsItIsSo(
      String variable, String value, boolean hasAValue) {
    var env = new HashMap<>(RIGHT);
    env.put(variable, value);
    var remarks = remarks("", plugin("v2.10.1", true, RIGHT), plugin("v2.10.1", true, env));
    assertThat(remarks)
        .last()
        .satisfies(
            remark -> {
              assertThat(remark.reason()).isEqualTo("HAMiRefitNotVerified");
              assertThat(remark.message())
                  .contains("1 plugins", "hami-system/hami-device-plugin-1");
            });
    if (hasAValue) {
      assertThat(remarks).hasSize(2);
      assertThat(remarks.getFirst().reason()).isEqualTo("HelmOwnerMustSetValues");
      assertThat(remarks.getFirst().message())
          .contains("--set devicePlugin.numaRefit.tlsInsecure=false")
          .doesNotContain("caSecret");
    } else {
      assertThat(remarks).hasSize(1);
    }
    assertThat(remarks("", plugin("v2.10.1", true, RIGHT))).isEmpty();
  }

  @Test
  void insecureWithoutACaNeedsBoth() {
    var env = without(HamiValues.CA_FILE);
    var insecure = new HashMap<>(env);
    insecure.put(HamiValues.TLS_INSECURE, "true");
    assertThat(remarks("", plugin("v2.10.1", true, insecure)).getFirst().message())
        .contains("tlsInsecure=false", "caSecret=hami-refit-ca", "docs/hami.md");
  }

  @ParameterizedTest
  @CsvSource({
    "v2.10.0, HAMiTooOld",
    "v2.9.1, HAMiTooOld",
    "latest, HAMiTooOld",
    "v2.10.1,",
    "2.11.0,",
    "v2.11.0-rc1,",
    "v3.0.0,"
  })
  void theRefitNeedsANewerRelease(String version, String reason) {
    var remarks = remarks("", plugin(version, true, RIGHT));
    if (reason == null) {
      assertThat(remarks).isEmpty();
    } else {
      assertThat(remarks).extracting(Remark::reason).containsExactly(reason);
    }
  }

  @Test
  void aRolloutOfHamiIsNotOverBeforeTheLast() {
    assertThat(remarks("", plugin("v2.11.0", true, RIGHT), plugin("v2.10.0", true, RIGHT)))
        .extracting(Remark::reason)
        .containsExactly("HAMiTooOld");
  }
}
