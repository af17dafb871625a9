/**
 * Would a node's kubelet admit this pod, and into which zones? A model of the kubelet's Topology
 * Manager with its three hint providers (Device, CPU and Memory Manager), over a node's free
 * resources per zone. Where the kubelet decides by the identity of a CPU or a device and only
 * counts are known here, {@link io.numaoperator.topology.fit.Fit.Fits#after} takes the lower bound.
 *
 * <p>Source: k8s.io/kubernetes v1.36.3, pkg/kubelet/cm; file names in comments are relative to it.
 * Not modelled: align-by-socket (the kubelet admits more with it than is said here) and pod-level
 * resources with the gate PodLevelResourceManagers (alpha in 1.36, off in 1.37).
 */
package io.numaoperator.topology.fit;
