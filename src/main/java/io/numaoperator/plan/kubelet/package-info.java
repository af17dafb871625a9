/**
 * From a policy and what is known of a node to the exact drop-in file for its kubelet, or to the
 * reason why there can be none. Pure, and a fixed point: planning again from the settings that a
 * plan led to gives the same plan, so that a node is not changed twice for one policy.
 */
package io.numaoperator.plan.kubelet;
