/**
 * What a probe measured on a machine, and what follows from it: values and arithmetic. The node's
 * side ({@code probe}) writes them, the command line reads them.
 */
package io.numaoperator.topology.bandwidth;
