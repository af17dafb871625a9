/**
 * {@code make bench}: what operator, agent and extender cost at 100, 1,000 and 5,000 nodes, on one
 * machine in one run. Control plane, operator and kube-scheduler are real; {@link
 * io.numaoperator.bench.Fleet} stands for the nodes. Times are printed, never asserted: a run fails
 * on wrong results alone.
 */
package io.numaoperator.bench;
