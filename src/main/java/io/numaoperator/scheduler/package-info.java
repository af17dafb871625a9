/**
 * The extender of the BuiltIn scheduler: the stock kube-scheduler asks it, over HTTPS, on which
 * nodes the kubelet would admit a pod, and lets it bind. A node's free resources are what its
 * NodeResourceTopology says, less the pods that are bound to the node and not in it yet.
 *
 * <p>What is decided is in {@link io.numaoperator.scheduler.Judge} and its values, without clock,
 * client or cache; what asks and answers, in {@link io.numaoperator.scheduler.Extender}, {@link
 * io.numaoperator.scheduler.Binder} and {@link io.numaoperator.scheduler.ExtenderServer}.
 */
package io.numaoperator.scheduler;
