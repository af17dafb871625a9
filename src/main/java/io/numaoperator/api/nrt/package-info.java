/**
 * The foreign kind {@code topology.node.k8s.io/v1alpha2 NodeResourceTopology}: what a node has, can
 * hand out and has left, per NUMA node. Its CRD comes from
 * k8stopologyawareschedwg/noderesourcetopology-api (KEP kubernetes/enhancements#1870) and is
 * installed when absent, never deleted.
 */
package io.numaoperator.api.nrt;
