package io.numaoperator.api.nrt;

import io.fabric8.kubernetes.api.model.DefaultKubernetesResourceList;

/** A list of them. */
public class NodeResourceTopologyList extends DefaultKubernetesResourceList<NodeResourceTopology> {}
