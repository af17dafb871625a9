package io.numaoperator.operator;

import io.numaoperator.plan.scheduler.BuiltInScheduler;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** What the operator's Deployment sets; the names of the environment are in config/manager. */
@ConfigMapping(prefix = "numa-operator")
public interface OperatorSettings {
  /** The namespace of everything that the operator makes for itself. */
  @WithDefault("numa-operator-system")
  String namespace();

  /** The image of operator and agent. */
  @WithDefault("ghcr.io/numaoperator/numa-operator:0.1.0")
  String image();

  /** The name of this replica's pod; empty outside of one. */
  Optional<String> podName();

  /** How long a leader that was lost without a word keeps its successor waiting. */
  @WithDefault("15s")
  Duration leaseDuration();

  /** How long to wait before a node whose agent refused a grant is tried again. */
  @WithDefault("30s")
  Duration retryDelay();

  /**
   * After a ConfigMap was written, when every kubelet has brought it to the pods that mount it: its
   * sync period of one minute, and some more.
   */
  @WithDefault("90s")
  Duration configPropagation();

  /** Where the extender of the BuiltIn scheduler listens; its Service leads to the default. */
  @WithDefault("" + BuiltInScheduler.PORT)
  int extenderPort();

  /** The page that people look at. */
  Page page();

  /** Where it is served. */
  interface Page {
    @WithDefault("true")
    boolean enabled();

    /** On the pod's loopback, for kubectl port-forward. */
    @WithDefault("8081")
    int loopbackPort();

    /** For others, with TLS and a bearer token. */
    @WithDefault("8443")
    int port();

    /** Where tls.crt and tls.key are; without them, a certificate is made at each start. */
    @WithDefault("/etc/numa-operator/page-tls")
    Path certificateDirectory();
  }
}
