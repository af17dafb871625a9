/**
 * The operator: two reconcilers over one cache. {@link io.numaoperator.operator.NodeReconciler}
 * plans and judges one node, {@link io.numaoperator.operator.PolicyReconciler} takes nodes, rolls
 * out and sums up. What they decide comes from the pure packages; what is here reads the cache and
 * writes to the API server.
 */
package io.numaoperator.operator;
