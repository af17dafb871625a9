package io.numaoperator.agent;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.numaoperator.agent.podresources.AllocatableResourcesRequest;
import io.numaoperator.agent.podresources.ContainerDevices;
import io.numaoperator.agent.podresources.ContainerMemory;
import io.numaoperator.agent.podresources.ContainerResources;
import io.numaoperator.agent.podresources.ListPodResourcesRequest;
import io.numaoperator.agent.podresources.NUMANode;
import io.numaoperator.agent.podresources.PodResourcesListerGrpc;
import io.numaoperator.agent.podresources.TopologyInfo;
import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/** PodResources over the kubelet's unix socket: the JDK's sockets through Netty, one thread. */
final class PodResourcesClient implements PodResources, AutoCloseable {
  private static final long DEADLINE_SECONDS = 10;

  /** A node with hundreds of pods passes gRPC's default of 4 MiB. */
  private static final int LARGEST_ANSWER = 32 << 20;

  private final EventLoopGroup loop = new NioEventLoopGroup(1);
  private final Supplier<Path> where;
  private Path socket;
  private ManagedChannel channel; // to socket; null before the first call

  /**
   * @param where the socket, usually /var/lib/kubelet/pod-resources/kubelet.sock of the node; asked
   *     at each call, since a kubelet may come back with another --root-dir
   */
  PodResourcesClient(Supplier<Path> where) {
    this.where = where;
  }

  private synchronized ManagedChannel channel() {
    var wanted = where.get();
    if (channel == null || !wanted.equals(socket)) {
      close(channel);
      socket = wanted;
      channel =
          NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(wanted))
              .channelType(NioDomainSocketChannel.class, UnixDomainSocketAddress.class)
              .eventLoopGroup(loop)
              .overrideAuthority("localhost")
              .maxInboundMessageSize(LARGEST_ANSWER)
              .directExecutor()
              .usePlaintext()
              .build();
    }
    return channel;
  }

  /** A channel that failed is not used again: its backoff would hide a kubelet that is back. */
  private synchronized void forget(ManagedChannel failed) {
    close(failed);
    if (failed.equals(channel)) {
      channel = null;
    }
  }

  private static void close(ManagedChannel channel) {
    if (channel != null) {
      channel.shutdownNow();
    }
  }

  @Override
  public List<Container> list() throws IOException {
    var answer = call(stub -> stub.list(ListPodResourcesRequest.getDefaultInstance()));
    var containers = new ArrayList<Container>();
    for (var pod : answer.getPodResourcesList()) {
      for (var container : pod.getContainersList()) {
        containers.add(container(pod.getNamespace(), pod.getName(), container));
      }
    }
    return containers;
  }

  private static Container container(String namespace, String pod, ContainerResources container) {
    return new Container(
        namespace,
        pod,
        container.getName(),
        CpuSet.of(container.getCpuIdsList().stream().mapToInt(Long::intValue)),
        container.getMemoryList().stream().map(PodResourcesClient::memory).toList(),
        devices(container.getDevicesList()),
        container.getDynamicResourcesCount() > 0);
  }

  @Override
  public Allocatable allocatable() throws IOException {
    var answer =
        call(
            stub -> stub.getAllocatableResources(AllocatableResourcesRequest.getDefaultInstance()));
    return new Allocatable(
        devices(answer.getDevicesList()),
        CpuSet.of(answer.getCpuIdsList().stream().mapToInt(Long::intValue)),
        answer.getMemoryList().stream().map(PodResourcesClient::memory).toList());
  }

  private static Memory memory(ContainerMemory memory) {
    return new Memory(memory.getMemoryType(), memory.getSize(), zones(memory.getTopology()));
  }

  /** A device on several zones comes as several entries; here it is one. */
  private static List<Device> devices(List<ContainerDevices> entries) {
    record Key(String resource, String id) {}
    var merged = new LinkedHashMap<Key, Set<Integer>>();
    for (var entry : entries) {
      for (var id : entry.getDeviceIdsList()) {
        merged
            .computeIfAbsent(new Key(entry.getResourceName(), id), k -> new TreeSet<>())
            .addAll(zones(entry.getTopology()));
      }
    }
    var devices = new ArrayList<Device>();
    merged.forEach((key, zones) -> devices.add(new Device(key.resource(), key.id(), zones)));
    return devices;
  }

  private static Set<Integer> zones(TopologyInfo topology) {
    var zones = new TreeSet<Integer>();
    for (NUMANode node : topology.getNodesList()) {
      zones.add((int) node.getID());
    }
    return zones;
  }

  private <T> T call(Function<PodResourcesListerGrpc.PodResourcesListerBlockingStub, T> rpc)
      throws IOException {
    var used = channel();
    try {
      return rpc.apply(
          PodResourcesListerGrpc.newBlockingStub(used)
              .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS));
    } catch (StatusRuntimeException e) {
      forget(used);
      throw new IOException("PodResources at " + where.get() + ": " + text(e.getStatus()), e);
    }
  }

  private static String text(Status status) {
    var cause = status.getCause() == null ? "" : ": " + Errors.text(status.getCause());
    return Optional.ofNullable(status.getDescription()).orElse(status.getCode().name()) + cause;
  }

  @Override
  public synchronized void close() {
    close(channel);
    var _ = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
