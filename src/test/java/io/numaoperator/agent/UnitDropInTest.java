package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class UnitDropInTest {
  @Test
  void saysTheCommandAgainWithOneFlagMore() {
    var command =
        List.of(
            "/usr/bin/kubelet",
            "$KUBELET_CONFIG_ARGS",
            "--node-labels=a=b,c/d=e",
            "${ONE WORD}",
            "50%",
            "say \"hi\"",
            ";",
            "back\\slash");
    assertThat(new String(UnitDropIn.render(command, "/etc/kubernetes/kubelet.conf.d"), UTF_8))
        .isEqualTo(
            """
            # Written by the NUMA Operator (numaoperator.io): the kubelet's own command with a drop-in directory.
            # To change the command, remove this file and run systemctl daemon-reload first.
            [Service]
            ExecStart=
            ExecStart=/usr/bin/kubelet $KUBELET_CONFIG_ARGS --node-labels=a=b,c/d=e "${ONE WORD}" "50%%" "say \\"hi\\"" ";" "back\\\\slash" --config-dir=/etc/kubernetes/kubelet.conf.d
            """);
    assertThat(UnitDropIn.path("kubelet.service"))
        .isEqualTo("/etc/systemd/system/kubelet.service.d/60-numaoperator-config-dir.conf");
  }
}
