package io.numaoperator.plan.scheduler;

import java.util.Optional;

/**
 * What a scheduler's plan has to know of the cluster beside {@link
 * io.numaoperator.plan.ClusterFacts}.
 *
 * @param topologyRevision a scheduler with a cache is restarted when this changes; see {@link
 *     TopologyRevision}. Empty while there is no NodeResourceTopology at all
 * @param mutatingAdmissionPolicies whether the API server serves MutatingAdmissionPolicy v1
 * @param kai what there is of KAI Scheduler
 */
public record SchedulerFacts(
    Optional<String> topologyRevision, boolean mutatingAdmissionPolicies, KaiFacts kai) {}
