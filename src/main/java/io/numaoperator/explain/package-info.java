/**
 * Why a pod can, cannot or could not be on a node, in sentences and in numbers per zone. Pure, and
 * the one place where it is worked out: the operator's Events and conditions, {@code kubectl numa
 * explain} and the web page say what is said here.
 *
 * <ul>
 *   <li>{@link io.numaoperator.explain.NodeAnswer#of}: what one node's kubelet would say to a pod
 *       now, from the node's {@link io.numaoperator.explain.NodeFacts}.
 *   <li>{@link io.numaoperator.explain.Rejection#of}: that a kubelet rejected a pod, and why.
 *   <li>{@link io.numaoperator.explain.Crossing#sentence}: how a running container lies across
 *       zones.
 * </ul>
 */
package io.numaoperator.explain;
