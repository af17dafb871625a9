package io.numaoperator.kubelet;

import static io.numaoperator.kubelet.Fragments.fragment;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class MainFileTest {
  private static final String FRAGMENT =
      "{cpuManagerPolicy: none, topologyManagerPolicy: restricted, systemReserved: {memory: 1Gi}}";

  @Test
  void yamlStaysYamlAndSaysWhoEditedIt() throws IOException {
    var file =
        with(
            """
            # of kubeadm
            apiVersion: kubelet.config.k8s.io/v1beta1
            kind: KubeletConfiguration
            cpuManagerPolicyOptions: {full-pcpus-only: "true"}
            enforceNodeAllocatable: []
            staticPodPath: /etc/kubernetes/manifests
            systemReserved: {memory: 200Mi, cpu: 100m}
            """);
    assertThat(file)
        .startsWith("# Edited by the NUMA Operator")
        .endsWith(
            """
            apiVersion: "kubelet.config.k8s.io/v1beta1"
            kind: "KubeletConfiguration"
            enforceNodeAllocatable: []
            staticPodPath: "/etc/kubernetes/manifests"
            systemReserved:
              memory: "1Gi"
              cpu: "100m"
            cpuManagerPolicy: "none"
            topologyManagerPolicy: "restricted"
            """);
  }

  @Test
  void jsonStaysJson() throws IOException {
    assertThat(with("\n{\"kind\": \"KubeletConfiguration\", \"maxPods\": 58}"))
        .startsWith("{")
        .contains("\"maxPods\" : 58", "\"memory\" : \"1Gi\"");
  }

  @Test
  void anotherFileIsRefused() {
    assertThatThrownBy(() -> with("kind: ClusterConfiguration"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no KubeletConfiguration");
  }

  private static String with(String owners) throws IOException {
    return new String(MainFile.with(owners.getBytes(UTF_8), fragment(FRAGMENT)), UTF_8);
  }
}
