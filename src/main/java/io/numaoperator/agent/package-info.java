/**
 * The node side, one process a node: it publishes what the node is and how its containers are
 * placed, and carries a granted change of the kubelet's configuration from journal to verification
 * or rollback on its own.
 *
 * <p>The host stands behind small interfaces: {@link io.numaoperator.agent.KubeletHost} (files),
 * {@link io.numaoperator.agent.ServiceManager} (systemd), {@link
 * io.numaoperator.agent.PodResources} and {@link io.numaoperator.agent.KubeletApi} (the kubelet),
 * {@link io.numaoperator.agent.ApiServer}. All paths in them are the node's own; where the node's
 * files are mounted is known to {@link io.numaoperator.agent.LocalHost} alone.
 *
 * <p>Memory is counted here, since this runs on every node: no model classes of the Kubernetes
 * client, JSON trees instead.
 */
package io.numaoperator.agent;
