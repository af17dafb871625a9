package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.numaoperator.agent.PodResources.Container;
import io.numaoperator.agent.PodResources.Device;
import io.numaoperator.agent.PodResources.Memory;
import io.numaoperator.agent.podresources.AllocatableResourcesRequest;
import io.numaoperator.agent.podresources.AllocatableResourcesResponse;
import io.numaoperator.agent.podresources.ContainerDevices;
import io.numaoperator.agent.podresources.ContainerMemory;
import io.numaoperator.agent.podresources.ContainerResources;
import io.numaoperator.agent.podresources.ListPodResourcesRequest;
import io.numaoperator.agent.podresources.ListPodResourcesResponse;
import io.numaoperator.agent.podresources.NUMANode;
import io.numaoperator.agent.podresources.PodResourcesListerGrpc.PodResourcesListerImplBase;
import io.numaoperator.agent.podresources.TopologyInfo;
import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Over a real unix socket; {@link FakeKubelet} stands for the kubelet's end. */
class PodResourcesClientTest {
  @TempDir Path directory;
  private final EventLoopGroup loop = new NioEventLoopGroup(1);

  @AfterEach
  void stop() throws Exception {
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
  }

  @Test
  void readsContainersAndDevices() throws Exception {
    var server = start(socket());
    try (var client = new PodResourcesClient(this::socket)) {
      assertThat(client.list())
          .containsExactly(
              new Container(
                  "train",
                  "llm-0",
                  "main",
                  CpuSet.of(2, 3),
                  List.of(new Memory("memory", 1L << 30, Set.of(1))),
                  List.of(new Device("nvidia.com/gpu", "gpu-1", Set.of(0, 1)))));
      assertThat(client.allocatable().devices())
          .containsExactly(
              new Device("nvidia.com/gpu", "gpu-1", Set.of(0, 1)),
              new Device("nvidia.com/gpu", "gpu-2", Set.of()));
      assertThat(client.allocatable().counts()).containsOnlyKeys("nvidia.com/gpu").containsValue(2);
    } finally {
      server.shutdownNow().awaitTermination();
    }
  }

  @Test
  void comesBackAtOnceWithTheKubelet() throws Exception {
    try (var client = new PodResourcesClient(this::socket)) {
      for (int i = 0; i < 5; i++) {
        assertThatThrownBy(client::list)
            .isInstanceOf(IOException.class)
            .hasMessageContaining(socket().toString());
      }
      var server = start(socket());
      assertThat(client.list()).hasSize(1);
      server.shutdownNow().awaitTermination();
      assertThatThrownBy(client::list).isInstanceOf(IOException.class);
      Files.deleteIfExists(socket());
      var second = start(socket());
      assertThat(client.list()).hasSize(1);
      second.shutdownNow().awaitTermination();
    }
  }

  private Path socket() {
    return directory.resolve("kubelet.sock");
  }

  private Server start(Path socket) throws IOException {
    return NettyServerBuilder.forAddress(UnixDomainSocketAddress.of(socket))
        .channelType(NioServerDomainSocketChannel.class)
        .bossEventLoopGroup(loop)
        .workerEventLoopGroup(loop)
        .directExecutor()
        .addService(new FakeKubelet())
        .build()
        .start();
  }

  private static final class FakeKubelet extends PodResourcesListerImplBase {
    @Override
    public void list(
        ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> observer) {
      var container =
          ContainerResources.newBuilder()
              .setName("main")
              .addAllCpuIds(List.of(2L, 3L))
              .addMemory(
                  ContainerMemory.newBuilder()
                      .setMemoryType("memory")
                      .setSize(1L << 30)
                      .setTopology(on(1)))
              // a device on two zones comes as two entries
              .addDevices(devices("gpu-1", on(0)))
              .addDevices(devices("gpu-1", on(1)));
      observer.onNext(
          ListPodResourcesResponse.newBuilder()
              .addPodResources(
                  io.numaoperator.agent.podresources.PodResources.newBuilder()
                      .setNamespace("train")
                      .setName("llm-0")
                      .addContainers(container))
              .build());
      observer.onCompleted();
    }

    @Override
    public void getAllocatableResources(
        AllocatableResourcesRequest request,
        StreamObserver<AllocatableResourcesResponse> observer) {
      observer.onNext(
          AllocatableResourcesResponse.newBuilder()
              .addDevices(devices("gpu-1", on(0)))
              .addDevices(devices("gpu-1", on(1)))
              .addDevices(devices("gpu-2", TopologyInfo.getDefaultInstance()))
              .build());
      observer.onCompleted();
    }

    private static ContainerDevices devices(String id, TopologyInfo topology) {
      return ContainerDevices.newBuilder()
          .setResourceName("nvidia.com/gpu")
          .addDeviceIds(id)
          .setTopology(topology)
          .build();
    }

    private static TopologyInfo on(long zone) {
      return TopologyInfo.newBuilder().addNodes(NUMANode.newBuilder().setID(zone)).build();
    }
  }
}
