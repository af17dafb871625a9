package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.numaoperator.api.Names;
import io.numaoperator.api.nrt.NodeResourceTopology;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * The CRD of NodeResourceTopology. It belongs to the cluster, not to us: installed when it is
 * absent or too old to have v1alpha2, never replaced by an older one, never deleted (others'
 * objects would go with it).
 */
@ApplicationScoped
class TopologyCrd {
  private static final Logger LOG = Logger.getLogger(TopologyCrd.class);
  private static final String FILE = "/crds/topology.node.k8s.io_noderesourcetopologies.yaml";

  private final KubernetesClient client;

  @Inject
  TopologyCrd(KubernetesClient client) {
    this.client = client;
  }

  /** Returns when the API server serves v1alpha2. */
  void ensure() {
    var there = Optional.ofNullable(resource().get());
    if (there.filter(TopologyCrd::servesOurVersion).isEmpty()) {
      LOG.infof("installing CRD %s", NodeResourceTopology.CRD);
      install();
    }
    resource().waitUntilCondition(TopologyCrd::isEstablished, 30, TimeUnit.SECONDS);
  }

  private Resource<CustomResourceDefinition> resource() {
    return client
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .withName(NodeResourceTopology.CRD);
  }

  private void install() {
    try (var file = TopologyCrd.class.getResourceAsStream(FILE)) {
      var crd = client.getKubernetesSerialization().unmarshal(file, CustomResourceDefinition.class);
      client
          .resource(crd)
          .patch(
              new PatchContext.Builder()
                  .withPatchType(PatchType.SERVER_SIDE_APPLY)
                  .withFieldManager(Names.OPERATOR_FIELD_MANAGER)
                  .withForce(true)
                  .build());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean servesOurVersion(CustomResourceDefinition crd) {
    return crd.getSpec().getVersions().stream()
        .anyMatch(v -> v.getName().equals(NodeResourceTopology.VERSION) && v.getServed());
  }

  private static boolean isEstablished(CustomResourceDefinition crd) {
    return crd != null
        && crd.getStatus() != null
        && crd.getStatus().getConditions() != null // the API server says null at first
        && crd.getStatus().getConditions().stream()
            .anyMatch(c -> c.getType().equals("Established") && c.getStatus().equals("True"));
  }
}
