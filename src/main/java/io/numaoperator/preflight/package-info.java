/**
 * Whether a node can be given what its policy asks for: readable chains of small checks, the first
 * violation wins. {@link io.numaoperator.preflight.NodePlan} is the one call for the operator.
 * Pure.
 */
package io.numaoperator.preflight;
