/**
 * The kubelet's configuration language: the drop-in file that the operator owns, what a kubelet of
 * a version accepts, how a running kubelet's settings compare with the wanted ones, and its
 * managers' state files. Shared by the planner and the agent. Pure: no clock, client or file
 * access.
 *
 * <p>Source references are to k8s.io/kubernetes v1.36.3; {@code cm/} is pkg/kubelet/cm/.
 */
package io.numaoperator.kubelet;
