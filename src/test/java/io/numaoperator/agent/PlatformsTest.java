package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.agent.Platforms.Seen;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Facts as machines of each platform show them. None of these runs here: the values are recorded
 * from the projects' documents and sources, not from the platforms.
 */
class PlatformsTest {
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "Kubeadm|kubelet.service|/var/lib/kubelet/config.yaml|v1.36.3|Debian GNU/Linux 12|a/b",
        "Systemd|kubelet.service|/etc/kubernetes/kubelet-config.yaml|v1.36.3|Ubuntu 24.04 LTS|a/b",
        "Systemd|kubelet.service|-|v1.36.3|Ubuntu 24.04 LTS|a/b",
        "K3s|k3s.service|-|v1.34.1+k3s1|Ubuntu 24.04 LTS|a/b",
        "K3s|k3s-agent.service|-|v1.34.1+k3s1|Ubuntu 24.04 LTS|a/b",
        "RKE2|rke2-server.service|-|v1.34.1+rke2r1|SUSE Linux Enterprise Server 15 SP6|a/b",
        "EKS|kubelet.service|/etc/kubernetes/kubelet/config.json|v1.34.2-eks-113cf36|Amazon Linux"
            + " 2023.9|eks.amazonaws.com/nodegroup",
        "Bottlerocket|kubelet.service|/etc/kubernetes/kubelet/config|v1.33.5-eks-113cf36|Bottlerocket"
            + " OS 1.50.0 (aws-k8s-1.33)|a/b",
        "OpenShift|kubelet.service|/etc/kubernetes/kubelet.conf|v1.33.5|Red Hat Enterprise Linux"
            + " CoreOS 9.6|machineconfiguration.openshift.io/currentConfig",
        "Talos|-|/etc/kubernetes/kubelet.yaml|v1.34.1|Talos (v1.11.3)|a/b",
        "GKE|kubelet.service|/home/kubernetes/kubelet-config.yaml|v1.33.5-gke.1080000|"
            + "Container-Optimized OS from Google|cloud.google.com/gke-nodepool",
        "AKS|kubelet.service|/etc/default/kubeletconfig.json|v1.33.3|Ubuntu 22.04.5 LTS|"
            + "kubernetes.azure.com/agentpool",
        "AKS|kubelet.service|-|v1.33.3|Azure Linux 3|kubernetes.azure.com/cluster"
      })
  void isRecognised(
      Platform platform, String unit, String config, String version, String os, String mark) {
    var node =
        new NodeView(
            "uid",
            version,
            Optional.empty(),
            10250,
            false,
            Optional.empty(),
            Optional.empty(),
            Instant.EPOCH,
            os,
            Set.of("kubernetes.io/os", mark));
    var seen = new Seen(unit == null ? "" : unit, config == null ? "" : config, Optional.of(node));
    assertThat(Platforms.of(seen)).contains(platform);
  }

  @Test
  void withoutItsNodeOnlyTheUnitSpeaks() {
    assertThat(Platforms.of(new Seen("k3s.service", "", Optional.empty()))).contains(Platform.K3s);
    assertThat(Platforms.of(new Seen("", "", Optional.empty()))).isEmpty();
  }

  @Test
  void eachPlatformIsRecognisedByATest() {
    var rows =
        Arrays.stream(PlatformsTest.class.getDeclaredMethods())
            .filter(method -> method.isAnnotationPresent(CsvSource.class))
            .flatMap(method -> Arrays.stream(method.getAnnotation(CsvSource.class).value()));
    assertThat(rows.map(row -> row.substring(0, row.indexOf('|'))))
        .containsAll(Arrays.stream(Platform.values()).map(Platform::name).toList());
  }
}
