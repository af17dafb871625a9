package io.numaoperator.plan.device;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.plan.Provision.Remark;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What the owner of HAMi's Helm release has to set, from what its plugins were started with: one
 * command with all of it.
 *
 * @param config the ConfigMap that its plugins are to mount
 * @param plugins its plugins on our nodes
 * @param deviceConfig device-config.yaml of its scheduler; empty text where that is not known
 * @param staticCpus a policy wants the CPU Manager Static
 */
public record HamiValues(
    ConfigMapRef config, List<RunningPlugin> plugins, String deviceConfig, boolean staticCpus) {
  static final String ENDPOINT = "HAMI_SCHEDULER_ENDPOINT";
  static final String TLS_INSECURE = "HAMI_SCHEDULER_TLS_INSECURE";
  static final String CA_FILE = "HAMI_SCHEDULER_CA_FILE";

  /** The Secret that docs/hami.md makes of the webhook's CA. */
  private static final String CA_SECRET = "hami-refit-ca";

  /** Whether the plugin asks HAMi's scheduler to move allocations. */
  public static boolean hasRefit(RunningPlugin plugin) {
    return plugin.env(ENDPOINT).isPresent();
  }

  List<Remark> remarks() {
    var remarks = new ArrayList<Remark>();
    var sets = new ArrayList<String>();
    var missing = plugins.isEmpty() || !plugins.stream().allMatch(p -> p.mounts(config));
    if (missing) {
      sets.add("devicePlugin.nodeConfiguration.externalConfigName=" + config.name());
    }
    if (isGloballyOn()) {
      sets.addAll(globalOff());
    }
    if (staticCpus && plugins.stream().anyMatch(HamiValues::losesDevices)) {
      sets.add("devicePlugin.passDeviceSpecsEnabled=true");
    }
    var refit = version().filter(HamiVersion::canRefit).isPresent();
    if (refit && plugins.stream().anyMatch(p -> !hasRefit(p))) {
      sets.addAll(
          List.of(
              "devicePlugin.numaRefit.enabled=true",
              "devicePlugin.numaRefit.tlsInsecure=false",
              "devicePlugin.numaRefit.caSecret=" + CA_SECRET));
    } else if (refit) {
      if (plugins.stream().anyMatch(HamiValues::isInsecure)) {
        sets.add("devicePlugin.numaRefit.tlsInsecure=false");
      }
      if (plugins.stream().anyMatch(plugin -> plugin.env(CA_FILE).isEmpty())) {
        sets.add("devicePlugin.numaRefit.caSecret=" + CA_SECRET);
      }
    }
    if (!sets.isEmpty()) {
      remarks.add(
          missing
              ? new Remark("HelmOwnerMustReferToConfig", command(sets))
              : new Remark("HelmOwnerMustSetValues", command(sets)));
    }
    unverified().ifPresent(remarks::add);
    if (!plugins.isEmpty() && !refit) {
      remarks.add(
          new Remark(
              "HAMiTooOld",
              "HAMi's NUMA refit needs a HAMi newer than v2.10.0; %s runs here: without it the GPU that HAMi accounts for and the one that the kubelet gives may differ"
                  .formatted(
                      version().map(HamiVersion::toString).orElse(plugins.getFirst().image()))));
    }
    return remarks;
  }

  /** The oldest: a rollout of HAMi is not over before the last. */
  private Optional<HamiVersion> version() {
    var known =
        plugins.stream().flatMap(p -> HamiVersion.ofImage(p.image()).stream()).sorted().toList();
    return known.size() == plugins.size() ? known.stream().findFirst() : Optional.empty();
  }

  private static boolean losesDevices(RunningPlugin plugin) {
    return plugin.env("PASS_DEVICE_SPECS").filter("true"::equalsIgnoreCase).isEmpty()
        && plugin.env("DEVICE_LIST_STRATEGY").filter(NvidiaConfig::usesCdi).isEmpty();
  }

  /** Where a CA is set too, insecure wins. */
  static boolean isInsecure(RunningPlugin plugin) {
    return plugin.env(TLS_INSECURE).filter("true"::equalsIgnoreCase).isPresent();
  }

  /** Also where the owner wants it so: it is told for as long as it is so. */
  private Optional<Remark> unverified() {
    var pods =
        plugins.stream()
            .filter(HamiValues::hasRefit)
            .filter(plugin -> isInsecure(plugin) || isPlain(plugin))
            .map(plugin -> plugin.namespace() + "/" + plugin.pod())
            .sorted()
            .toList();
    return pods.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Remark(
                "HAMiRefitNotVerified",
                "%d plugins ask HAMi's scheduler to move allocations without looking at its certificate (%s=true wins over a CA, and http has none), so whoever answers in its place decides: first pod %s; docs/hami.md says how to give them the CA"
                    .formatted(pods.size(), TLS_INSECURE, pods.getFirst())));
  }

  private static boolean isPlain(RunningPlugin plugin) {
    return plugin.env(ENDPOINT).filter(endpoint -> endpoint.startsWith("http://")).isPresent();
  }

  /** A node's false cannot override it: all of HAMi's nodes would take part. */
  private boolean isGloballyOn() {
    try {
      return new YAMLMapper()
          .readTree(deviceConfig)
          .at("/nvidia/enableNumaTopology")
          .asText()
          .equals("true");
    } catch (JsonProcessingException e) {
      return false; // HAMi's to say
    }
  }

  private List<String> globalOff() {
    return version().filter(HamiVersion::hasRenamedValues).isPresent()
        ? List.of("devices.nvidia.enableNumaTopology=false", "devicePlugin.enableNumaTopology=null")
        : List.of("devicePlugin.enableNumaTopology=false");
  }

  private String command(List<String> sets) {
    return "the owner of HAMi's Helm release runs, once: helm upgrade RELEASE hami-charts/hami"
        + " --namespace %s --reuse-values".formatted(config.namespace())
        + sets.stream().map(set -> " --set " + set).collect(Collectors.joining())
        + (sets.stream().anyMatch(set -> set.endsWith(CA_SECRET))
            ? " (docs/hami.md: how to make Secret " + CA_SECRET + ")"
            : "");
  }
}
