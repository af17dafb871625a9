/** The objects of the operator's own agent, one pod on each node that a policy selects. */
package io.numaoperator.plan.agent;
