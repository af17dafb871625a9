package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Condition;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.plan.device.DeviceMark;
import io.numaoperator.plan.device.NvidiaConfig;
import io.numaoperator.rollout.Action;
import io.numaoperator.rollout.Drain.GivenUp;
import io.numaoperator.rollout.Drain.Phase;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Function;

/**
 * The writes to our own kinds and to Nodes. What starts or ends an attempt carries the resource
 * version that the decision was made on: with a newer object the API server refuses it (409) and
 * the decision is made again, so that neither a slow cache nor a former leader can act on an old
 * view.
 */
@ApplicationScoped
class Writer {
  /** Grants have a field manager of their own: who plans does not touch them. */
  private static final String ROLLOUT_FIELD_MANAGER = Names.OPERATOR_FIELD_MANAGER + "-rollout";

  /** Fewer than the requests that an API server has under way for all by default (400). */
  private static final int CLAIMS_AT_ONCE = 24;

  private final KubernetesClient client;
  private final ClusterCache cache;

  @Inject
  Writer(KubernetesClient client, ClusterCache cache) {
    this.client = client;
    this.cache = cache;
  }

  /**
   * The states of these nodes are made, each owned by its Node. A new cluster has thousands, and
   * one after the other they would take the time of as many round trips.
   *
   * @param desired what is wanted of a node from the first
   * @throws KubernetesClientException the first failure, when all have been tried
   */
  void claim(List<Node> nodes, Function<Node, NumaNodeStateSpec> desired) {
    var atOnce = new Semaphore(CLAIMS_AT_ONCE);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var begun =
          nodes.stream()
              .map(
                  node ->
                      CompletableFuture.runAsync(
                          () -> {
                            atOnce.acquireUninterruptibly();
                            try {
                              plan(node, desired.apply(node));
                            } finally {
                              atOnce.release();
                            }
                          },
                          threads))
              .toList();
      begun.forEach(CompletableFuture::join);
    } catch (CompletionException e) {
      throw e.getCause() instanceof KubernetesClientException refused ? refused : e;
    }
  }

  /** What the node should become; the grant is left as it is. */
  void plan(Node node, NumaNodeStateSpec spec) {
    var state = bare(node.getMetadata().getName());
    state
        .getMetadata()
        .setOwnerReferences(
            List.of(
                new OwnerReferenceBuilder()
                    .withApiVersion("v1")
                    .withKind("Node")
                    .withName(node.getMetadata().getName())
                    .withUid(node.getMetadata().getUid())
                    .build()));
    state.getMetadata().setLabels(Map.of(Names.POLICY_LABEL, spec.policy));
    var planned = new NumaNodeStateSpec();
    planned.policy = spec.policy;
    planned.kubelet = spec.kubelet;
    planned.topology = spec.topology;
    state.setSpec(planned);
    var written = apply(state, Names.OPERATOR_FIELD_MANAGER);
    if (planned.kubelet == null && written.getSpec().kubelet != null) {
      written = remove(written, "kubelet", Names.OPERATOR_FIELD_MANAGER);
    }
    if (planned.topology == null && written.getSpec().topology != null) {
      remove(written, "topology", Names.OPERATOR_FIELD_MANAGER);
    }
  }

  void grant(NumaNodeState current, NumaNodeStateSpec.Grant grant) {
    var state = bare(current.getMetadata().getName());
    state.getMetadata().setResourceVersion(current.getMetadata().getResourceVersion());
    var spec = new NumaNodeStateSpec();
    spec.grant = grant;
    state.setSpec(spec);
    apply(state, ROLLOUT_FIELD_MANAGER);
  }

  void revoke(NumaNodeState current) {
    remove(current, "grant", ROLLOUT_FIELD_MANAGER);
  }

  /**
   * What an apply leaves out stays where somebody else owns the field too: who restores a backup
   * does so with its own field manager.
   */
  private NumaNodeState remove(NumaNodeState current, String field, String manager) {
    var spec = new LinkedHashMap<String, Object>();
    spec.put(field, null);
    var body =
        Map.of(
            "metadata",
            Map.of("resourceVersion", current.getMetadata().getResourceVersion()),
            "spec",
            spec);
    var written = client.resource(current).patch(merge(manager), Serialization.asJson(body));
    cache.states().wrote(written);
    return written;
  }

  private NumaNodeState apply(NumaNodeState state, String manager) {
    var written = client.resource(state).patch(apply(manager));
    cache.states().wrote(written);
    return written;
  }

  private static PatchContext apply(String manager) {
    return new PatchContext.Builder()
        .withPatchType(PatchType.SERVER_SIDE_APPLY)
        .withFieldManager(manager)
        .withForce(true)
        .build();
  }

  /** All of the status that is the operator's: what is left out of an apply is removed. */
  void judgement(
      NumaNodeState current, List<Condition> conditions, Optional<NumaNodeStateStatus.Plan> plan) {
    var state = bare(current.getMetadata().getName());
    var status = new NumaNodeStateStatus();
    status.conditions = conditions;
    status.plan = plan.orElse(null);
    state.setStatus(status);
    cache
        .states()
        .wrote(
            client
                .resource(state)
                .subresource("status")
                .patch(apply(Names.OPERATOR_FIELD_MANAGER)));
  }

  void status(NumaPolicy current, NumaPolicyStatus status) {
    var policy = new NumaPolicy();
    policy.setMetadata(meta(current.getMetadata().getName()));
    policy.setSpec(null);
    policy.setStatus(status);
    cache
        .policies()
        .wrote(
            client
                .resource(policy)
                .subresource("status")
                .patch(apply(Names.OPERATOR_FIELD_MANAGER)));
  }

  /** Puts the finalizer on a policy, or takes it off; those of others stay. */
  void finalizer(NumaPolicy current, boolean there) {
    var finalizers = new ArrayList<>(current.getMetadata().getFinalizers());
    finalizers.remove(Names.RESTORE_FINALIZER);
    if (there) {
      finalizers.add(Names.RESTORE_FINALIZER);
    }
    var body =
        Map.of(
            "metadata",
            Map.of(
                "resourceVersion",
                current.getMetadata().getResourceVersion(),
                "finalizers",
                finalizers));
    var written =
        client
            .resource(current)
            .patch(merge(Names.OPERATOR_FIELD_MANAGER), Serialization.asJson(body));
    if (written.getMetadata().getDeletionTimestamp() == null || there) {
      cache.policies().wrote(written); // else it is gone
    }
  }

  void delete(NumaNodeState state) {
    client.resource(state).delete();
  }

  void cordon(Node node, String policy, Action.Cordon cordon) {
    var marks = new LinkedHashMap<String, Object>();
    marks.put(Names.CORDONED_ANNOTATION, policy + "/" + cordon.attempt());
    marks.put(Names.DRAIN_ANNOTATION, DrainMarks.write(cordon.phase()));
    marks.put(Names.DRAINED_WITH_ANNOTATION, cordon.gang().orElse(null));
    fenced(node, marks, Map.of("unschedulable", true));
  }

  void phase(Node node, Phase phase) {
    fenced(node, Map.of(Names.DRAIN_ANNOTATION, DrainMarks.write(phase)), Map.of());
  }

  void uncordon(Node node, Optional<GivenUp> givenUp) {
    var marks = new LinkedHashMap<String, Object>();
    marks.put(Names.CORDONED_ANNOTATION, null);
    marks.put(Names.DRAIN_ANNOTATION, null);
    marks.put(Names.DRAINED_WITH_ANNOTATION, null);
    marks.put(Names.DRAIN_GIVEN_UP_ANNOTATION, givenUp.map(DrainMarks::write).orElse(null));
    var spec = new LinkedHashMap<String, Object>();
    spec.put("unschedulable", null);
    fenced(node, marks, spec);
  }

  /** The list is written as a whole, so it must be the one that was read. */
  void untaint(Node node, String key) {
    var taints = node.getSpec().getTaints().stream().filter(t -> !key.equals(t.getKey())).toList();
    fenced(node, Map.of(), Map.of("taints", taints));
  }

  private void fenced(Node node, Map<String, Object> annotations, Map<String, Object> spec) {
    fenced(node, annotations, Map.of(), spec);
  }

  private void fenced(
      Node node,
      Map<String, Object> annotations,
      Map<String, Object> labels,
      Map<String, Object> spec) {
    patch(
        node,
        Map.of(
            "metadata",
            Map.of(
                "resourceVersion",
                node.getMetadata().getResourceVersion(),
                "annotations",
                annotations,
                "labels",
                labels),
            "spec",
            spec));
  }

  /** What is remembered of the node's device plugin. */
  void devices(Node node, Optional<DeviceMark> mark) {
    fenced(node, deviceMark(mark), Map.of());
  }

  /** The same, with the label that has NVIDIA's plugin load a configuration. */
  void devices(Node node, Optional<DeviceMark> mark, Optional<String> label) {
    var labels = new LinkedHashMap<String, Object>();
    labels.put(NvidiaConfig.NODE_LABEL, label.orElse(null));
    fenced(node, deviceMark(mark), labels, Map.of());
  }

  private static Map<String, Object> deviceMark(Optional<DeviceMark> mark) {
    var annotations = new LinkedHashMap<String, Object>();
    annotations.put(Names.DEVICE_PLUGIN_ANNOTATION, mark.map(DeviceMark::format).orElse(null));
    return annotations;
  }

  void label(Node node, boolean aligned) {
    var labels = new LinkedHashMap<String, Object>();
    labels.put(Names.ALIGNED_LABEL, aligned ? "true" : null);
    patch(node, Map.of("metadata", Map.of("labels", labels)));
  }

  /** Takes from a Node what tells of the past of a policy that does not have it any more. */
  void forget(Node node) {
    var labels = new LinkedHashMap<String, Object>();
    labels.put(Names.ALIGNED_LABEL, null);
    var annotations = new LinkedHashMap<String, Object>();
    annotations.put(Names.DRAIN_GIVEN_UP_ANNOTATION, null);
    patch(node, Map.of("metadata", Map.of("labels", labels, "annotations", annotations)));
  }

  private void patch(Node node, Map<String, Object> body) {
    cache
        .nodes()
        .wrote(
            client
                .resource(node)
                .patch(merge(Names.OPERATOR_FIELD_MANAGER), Serialization.asJson(body)));
  }

  private static PatchContext merge(String manager) {
    return new PatchContext.Builder()
        .withPatchType(PatchType.JSON_MERGE)
        .withFieldManager(manager)
        .build();
  }

  /** Only what is set is applied: the constructor fills in an empty spec and status. */
  private static NumaNodeState bare(String name) {
    var state = new NumaNodeState();
    state.setMetadata(meta(name));
    state.setSpec(null);
    state.setStatus(null);
    return state;
  }

  private static ObjectMeta meta(String name) {
    return new ObjectMetaBuilder().withName(name).build();
  }
}
