package io.numaoperator.plan.scheduler;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.numaoperator.api.Names;
import io.numaoperator.api.SchedulerPolicy.AssignNamespaces;
import io.numaoperator.api.admission.MutatingAdmissionPolicy;
import io.numaoperator.api.admission.MutatingAdmissionPolicyBinding;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A scheduler, and for scheduler.assignNamespaces Labelled the policy by which the API server
 * itself gives new pods of labelled namespaces that scheduler's name. No webhook: nothing of ours
 * has to be up for a pod to be made.
 */
record WithNamespaces(SchedulerProvider scheduler) implements SchedulerProvider {
  static final String NAME = "numa-scheduler-assignment";

  @Override
  public Provision plan(Input input) {
    var provision = scheduler.plan(input);
    if (input.setting().assignNamespaces != AssignNamespaces.Labelled
        || !(provision instanceof Provision.Objects planned)) {
      return provision;
    }
    return input.seen().mutatingAdmissionPolicies()
        ? with(planned, policies(planned.provider(), input), List.of())
        : with(
            planned,
            List.of(),
            List.of(
                new Provision.Remark(
                    "MutatingAdmissionPolicyNotServed",
                    "scheduler.assignNamespaces Labelled needs an API server that serves"
                        + " MutatingAdmissionPolicy of admissionregistration.k8s.io/v1 (Kubernetes"
                        + " 1.36"
                        + " or newer, this one is %s): give pods spec.schedulerName by hand"
                            .formatted(input.facts().server()))));
  }

  private static Provision with(
      Provision.Objects planned, List<HasMetadata> more, List<Provision.Remark> first) {
    var objects = new ArrayList<>(planned.objects());
    objects.addAll(more);
    var remarks = new ArrayList<>(first);
    remarks.addAll(planned.remarks());
    return new Provision.Objects(planned.provider(), objects, planned.contributions(), remarks);
  }

  private static List<HasMetadata> policies(String provider, Input input) {
    var ownership = Ownership.of(Part.SCHEDULER, provider, input.policies());
    var policy = new MutatingAdmissionPolicy();
    policy.setMetadata(ownership.metadata(NAME));
    policy.setSpec(spec(SchedulerNames.of(input)));
    var binding = new MutatingAdmissionPolicyBinding();
    binding.setMetadata(ownership.metadata(NAME));
    binding.setSpec(new MutatingAdmissionPolicyBinding.Spec(NAME));
    return List.of(policy, binding);
  }

  private static MutatingAdmissionPolicy.Spec spec(String schedulerName) {
    return new MutatingAdmissionPolicy.Spec(
        "Fail",
        "Never",
        new MutatingAdmissionPolicy.MatchConstraints(
            labelled(),
            List.of(
                new MutatingAdmissionPolicy.ResourceRule(
                    List.of(""), List.of("v1"), List.of("pods"), List.of("CREATE")))),
        List.of(
            // the API server has put in the default by now
            new MutatingAdmissionPolicy.MatchCondition(
                "names-no-other-scheduler", "object.spec.schedulerName == 'default-scheduler'"),
            new MutatingAdmissionPolicy.MatchCondition(
                "is-of-no-daemonset",
                "!has(object.metadata.ownerReferences) ||"
                    + " object.metadata.ownerReferences.all(o, o.kind != 'DaemonSet')")),
        List.of(
            new MutatingAdmissionPolicy.Mutation(
                "ApplyConfiguration",
                new MutatingAdmissionPolicy.Expression(
                    "Object{spec: Object.spec{schedulerName: '%s'}}".formatted(schedulerName)))));
  }

  private static LabelSelector labelled() {
    return new LabelSelectorBuilder()
        .withMatchLabels(Map.of(Names.ASSIGN_SCHEDULER_LABEL, "true"))
        .build();
  }
}
