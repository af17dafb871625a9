package io.numaoperator.plan.scheduler;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.numaoperator.plan.Access;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The stock kube-scheduler of the cluster's own release, which asks the operator's extender. It
 * keeps no topology: neither new nor changed NodeResourceTopology objects need its restart.
 */
public final class BuiltInScheduler implements SchedulerProvider {
  /** Name of the extender's Service. */
  public static final String SERVICE = "numa-extender";

  /** Where the operator's pods serve the extender. */
  public static final int PORT = 9444;

  /** Secret with ca.crt, tls.crt and tls.key: what kube-scheduler shows and trusts. */
  public static final String CLIENT_SECRET = "numa-extender-client";

  private static final String PROVIDER = "builtin";
  private static final String REPOSITORY = "registry.k8s.io/kube-scheduler";

  /** Name of the scheduler's Deployment. */
  public static final String DEPLOYMENT = NodeResourceTopologyMatch.NAME;

  /** Name of the Lease by which one of its replicas leads. */
  public static final String LEASE = SchedulerConfig.LEASE;

  /** Whether these objects are of this provider. */
  public static boolean isMadeBy(Provision.Objects objects) {
    return objects.provider().equals(PROVIDER);
  }

  /** Whether this object is of this provider. */
  public static boolean isMadeBy(HasMetadata object) {
    return Ownership.isOurs(object)
        && PROVIDER.equals(object.getMetadata().getLabels().get(Ownership.PROVIDER_LABEL));
  }

  /** The extender's host name, which its certificate is for. */
  public static String host(String namespace) {
    return "%s.%s.svc".formatted(SERVICE, namespace);
  }

  @Override
  public Provision plan(Input input) {
    var ownership = Ownership.of(Part.SCHEDULER, PROVIDER, input.policies());
    var namespace = input.facts().namespace();
    var access =
        new SchedulerAccess(new Access(ownership, namespace, NodeResourceTopologyMatch.NAME));
    var config = config(input.facts(), input.setting().schedulerName);
    var workload =
        new SchedulerWorkload(
            ownership, namespace, input.setting().replicas, Optional.of(CLIENT_SECRET));
    var objects = new ArrayList<HasMetadata>();
    objects.add(access.serviceAccount());
    objects.addAll(access.kubeScheduler());
    objects.add(service(ownership, namespace));
    objects.add(workload.configMap(config));
    objects.add(
        workload.deployment(REPOSITORY + ":" + input.facts().release().tag(), config, Map.of()));
    workload.disruptionBudget().ifPresent(objects::add);
    return new Provision.Objects(PROVIDER, objects, List.of());
  }

  private static Service service(Ownership ownership, String namespace) {
    return new ServiceBuilder()
        .withMetadata(ownership.metadata(namespace, SERVICE))
        .withNewSpec()
        .withSelector(ownership.selector(Ownership.OPERATOR))
        .addNewPort()
        .withName("https")
        .withPort(PORT)
        .withTargetPort(new IntOrString(PORT))
        .endPort()
        .endSpec()
        .build();
  }

  /**
   * Not ignorable: with the extender down, pods wait. Its weight is above that of the plugins, most
   * of which spread pods where zones want to be filled.
   */
  private static String config(ClusterFacts facts, String schedulerName) {
    return """
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    leaderElection:
      # with one replica too: an update runs two for a moment
      leaderElect: true
      resourceLock: leases
      resourceName: %s
      resourceNamespace: %s
    # a pod that waits for a zone is looked at soon after one is free
    podInitialBackoffSeconds: 1
    podMaxBackoffSeconds: 5
    profiles:
    - schedulerName: "%s"
    extenders:
    - urlPrefix: https://%s:%d/scheduler
      filterVerb: filter
      prioritizeVerb: prioritize
      preemptVerb: preempt
      bindVerb: bind
      weight: 5
      enableHTTPS: true
      tlsConfig:
        serverName: %s
        caFile: %s/ca.crt
        certFile: %s/tls.crt
        keyFile: %s/tls.key
      nodeCacheCapable: true
      ignorable: false
      httpTimeout: 10s
    """
        .formatted(
            SchedulerConfig.LEASE,
            facts.namespace(),
            schedulerName,
            host(facts.namespace()),
            PORT,
            host(facts.namespace()),
            SchedulerWorkload.SECRET_DIRECTORY,
            SchedulerWorkload.SECRET_DIRECTORY,
            SchedulerWorkload.SECRET_DIRECTORY);
  }
}
