package io.numaoperator.plan.delivery;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import java.util.Optional;

/**
 * A node and what its kubelet should be set to.
 *
 * @param platform empty where it is not recognised
 * @param hash of the fragment
 * @param heldBack what must be there before the node may be changed; empty when nothing is missing
 */
public record PlannedNode(
    String name,
    Optional<Platform> platform,
    KubeletFragment fragment,
    String hash,
    Optional<String> heldBack) {}
