package io.numaoperator.agent;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;

/**
 * The fingerprint of a set of pods that NodeResourceTopologyMatch compares with its own count
 * before it believes a NodeResourceTopology: XXH64 over the sorted hashes of the pods, each as
 * eight bytes, the lowest first. A pod's hash is XXH64 of its name with XXH64 of its namespace as
 * the seed (k8stopologyawareschedwg/podfingerprint, version v001).
 */
final class PodFingerprint {
  private static final String VERSION = "pfp0v001";
  private static final long SEED = 0;

  private PodFingerprint() {}

  /** A pod by namespace and name. */
  record Pod(String namespace, String name) {}

  static String of(Set<Pod> pods) {
    // the plain Java variant: neither a native library nor sun.misc.Unsafe
    XXHash64 hash = XXHashFactory.safeInstance().hash64();
    var sorted =
        pods.stream()
            .mapToLong(pod -> hash(hash, pod.name(), hash(hash, pod.namespace(), SEED)))
            .boxed()
            .sorted(Long::compareUnsigned)
            .toList();
    var all = ByteBuffer.allocate(sorted.size() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    sorted.forEach(all::putLong);
    all.flip();
    return VERSION + "%016x".formatted(hash.hash(all, SEED));
  }

  private static long hash(XXHash64 hash, String text, long seed) {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    return hash.hash(bytes, 0, bytes.length, seed);
  }
}
