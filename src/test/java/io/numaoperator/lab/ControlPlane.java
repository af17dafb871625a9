package io.numaoperator.lab;

import io.fabric8.kubernetes.client.Config;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.util.Map;

/** A real control plane without nodes, for the operator inside a Quarkus test. */
public final class ControlPlane implements QuarkusTestResourceLifecycleManager {
  private Lab lab;

  @Override
  public Map<String, String> start() {
    lab = Lab.up("--no-nodes");
    lab.kubectl("apply", "-k", "config/crd");
    lab.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=180s");
    lab.kubectl("create", "namespace", "numa-operator-system");
    Config config = lab.client().getConfiguration();
    return Map.of(
        "quarkus.kubernetes-client.api-server-url", config.getMasterUrl(),
        "quarkus.kubernetes-client.ca-cert-data", config.getCaCertData(),
        "quarkus.kubernetes-client.client-cert-data", config.getClientCertData(),
        "quarkus.kubernetes-client.client-key-data", config.getClientKeyData(),
        "quarkus.kubernetes-client.client-key-algo", config.getClientKeyAlgo());
  }

  @Override
  public void stop() {
    if (lab != null) {
      lab.close();
    }
  }
}
