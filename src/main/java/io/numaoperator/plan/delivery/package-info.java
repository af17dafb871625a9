/**
 * How a kubelet gets its configuration, by who owns the node: our agent, OpenShift's Machine Config
 * Operator, or an owner whom nobody can do it for. A delivery is one class that implements {@link
 * io.numaoperator.plan.delivery.KubeletDelivery}.
 */
package io.numaoperator.plan.delivery;
