package io.numaoperator.bench;

import io.numaoperator.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;

/**
 * A real etcd, kube-apiserver and kube-scheduler without nodes, the operator's CRDs and roles in
 * it. The controller manager is ended once the namespace is ready: at its 20 requests a second,
 * making the pods of a DaemonSet of thousands of nodes would take minutes, and {@link Fleet} stands
 * for it.
 */
final class BenchCluster implements AutoCloseable {
  static final String OPERATOR = "system:serviceaccount:numa-operator-system:numa-operator";
  private static final String TOPOLOGY_CRD =
      "src/main/resources/crds/topology.node.k8s.io_noderesourcetopologies.yaml";
  private static final int CONNECTIONS = 32;

  private final Lab lab;
  private final RawApi api;
  private final Path directory;
  private final AuditLog audit;

  private BenchCluster(Lab lab, Path directory) {
    this.lab = lab;
    this.directory = directory;
    api = new RawApi(lab.client().getConfiguration(), CONNECTIONS);
    audit = new AuditLog(lab.file("audit.log"), OPERATOR);
  }

  /**
   * @param directory for logs and recordings
   */
  static BenchCluster start(Path directory) throws IOException {
    Files.createDirectories(directory);
    var lab = Lab.up("--no-nodes", "--node-grace=50s");
    // the requests of thousands of kubelets would weigh in the log
    Files.writeString(lab.file("audit-policy.yaml"), AuditLog.policy(OPERATOR));
    lab.numalab("apiserver", "stop");
    lab.numalab("apiserver", "start");
    lab.kubectl("apply", "-k", "config/crd");
    lab.kubectl("apply", "-f", TOPOLOGY_CRD);
    lab.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=180s");
    lab.kubectl("apply", "-f", "config/manager/namespace.yaml");
    lab.kubectl("apply", "-k", "config/rbac");
    lab.kubectl("-n", "numa-operator-system", "wait", "--for=create", "serviceaccount/default");
    withoutControllers(lab);
    return new BenchCluster(lab, directory);
  }

  /** The lab starts what ends again: so its next start is one of a program that does nothing. */
  private static void withoutControllers(Lab lab) throws IOException {
    long manager = pid(lab, "kube-controller-manager");
    var program = lab.file("bin").resolve("kube-controller-manager");
    Files.delete(program);
    Files.writeString(program, "#!/bin/sh\nexec sleep infinity\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    new ProcessBuilder("kill", Long.toString(manager)).start();
  }

  /** The operator as its ServiceAccount; returns when it is ready. */
  OperatorProcess operator(String options) throws IOException, InterruptedException {
    var token =
        lab.kubectl(
                "-n", "numa-operator-system", "create", "token", "numa-operator", "--duration=24h")
            .strip();
    var config = lab.client().getConfiguration();
    var kubeconfig =
        Files.writeString(
            directory.resolve("kubeconfig"),
            """
            apiVersion: v1
            kind: Config
            clusters:
            - name: lab
              cluster: {server: "%s", certificate-authority-data: "%s"}
            users:
            - name: operator
              user: {token: "%s"}
            contexts:
            - name: operator
              context: {cluster: lab, user: operator, namespace: numa-operator-system}
            current-context: operator
            """
                .formatted(config.getMasterUrl(), config.getCaCertData(), token));
    return OperatorProcess.start(
        kubeconfig.toAbsolutePath(), directory.resolve("operator.log"), options);
  }

  RawApi api() {
    return api;
  }

  AuditLog audit() {
    return audit;
  }

  Lab lab() {
    return lab;
  }

  /** Of one of the control plane's programs. */
  Usage usage(String program) throws IOException {
    return Usage.of(pid(lab, program));
  }

  private static long pid(Lab lab, String program) throws IOException {
    return Usage.pidOf(lab.file("bin").resolve(program))
        .orElseThrow(() -> new IllegalStateException(program + " does not run"));
  }

  /** Until the operator has written nothing for some seconds. */
  void settle() throws InterruptedException {
    var limit = System.nanoTime() + Duration.ofMinutes(5).toNanos();
    audit.next();
    do {
      Thread.sleep(Duration.ofSeconds(4));
    } while (writes(audit.next()) > 0 && System.nanoTime() < limit);
  }

  /** Its own lease aside. */
  static int writes(AuditLog.Requests requests) {
    return requests.of("create")
        + requests.of("update")
        + requests.of("patch")
        + requests.of("delete")
        - requests.byKind().getOrDefault("update leases", 0)
        - requests.byKind().getOrDefault("patch leases", 0);
  }

  @Override
  public void close() {
    api.close();
    lab.close();
  }
}
