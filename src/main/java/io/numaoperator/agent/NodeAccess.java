package io.numaoperator.agent;

/** Everything outside of this process that an attempt touches. */
record NodeAccess(
    KubeletHost host,
    ServiceManager services,
    PodResources podResources,
    KubeletApi kubelet,
    ApiServer api,
    Time time) {}
