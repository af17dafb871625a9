package io.numaoperator.probe;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.concurrent.CyclicBarrier;

/** A piece of memory that a crew has put on its own NUMA node, and that any crew reads. */
final class Buffer implements AutoCloseable {
  private static final int BLOCK = 1 << 20;
  private static final int PAGE = 4096;
  private static final Path PLACES = Path.of("/proc/self/numa_maps");

  private final MemorySegment memory;

  /**
   * @param bytes rounded up to a whole block for each thread of any crew
   */
  Buffer(long bytes) throws IOException {
    memory = Kernel.map((bytes + BLOCK - 1) / BLOCK * BLOCK);
  }

  private long blocks() {
    return memory.byteSize() / BLOCK;
  }

  private MemorySegment block(long index) {
    return memory.asSlice(index * BLOCK, BLOCK);
  }

  /** Each page is written to for the first time, which is when the kernel gives it a place. */
  void touch(Crew crew) throws IOException, InterruptedException {
    int threads = crew.cpus().size();
    crew.run(
        thread -> {
          for (long i = thread; i < blocks(); i += threads) {
            var block = block(i);
            for (int at = 0; at < BLOCK; at += PAGE) {
              block.set(ValueLayout.JAVA_LONG, at, i + 1);
            }
          }
          return thread;
        });
  }

  /** Which part of it lies on a NUMA node; empty where the kernel does not tell. */
  OptionalDouble shareOn(int zone) throws IOException {
    return Files.isReadable(PLACES)
        ? NumaMaps.share(Files.readString(PLACES), memory.address(), zone)
        : OptionalDouble.empty();
  }

  /**
   * Has a crew read it in order, each thread its own part, from the beginning again when it is
   * through.
   *
   * @param nanos how long
   * @return bytes per second, of all threads together
   */
  double read(Crew crew, long nanos) throws IOException, InterruptedException {
    int threads = crew.cpus().size();
    long own = blocks() / threads;
    if (own == 0) {
      throw new IllegalArgumentException("less than a block of memory for each thread");
    }
    var start = new CyclicBarrier(threads);
    return crew
        .run(
            thread -> {
              await(start);
              long began = System.nanoTime();
              long now = began;
              long sum = 0;
              long read = 0;
              for (; now - began < nanos; now = System.nanoTime()) {
                sum += sum(block(thread * own + read % own));
                read++;
              }
              return new Reading(read * BLOCK, now - began, sum);
            })
        .stream()
        .mapToDouble(Reading::perSecond)
        .sum();
  }

  /**
   * @param sum so that the compiler cannot leave the reading out
   */
  private record Reading(long bytes, long nanos, long sum) {
    double perSecond() {
      return bytes * 1e9 / nanos;
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException | java.util.concurrent.BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Four sums, so that loads do not wait for an addition. */
  private static long sum(MemorySegment block) {
    long a = 0;
    long b = 0;
    long c = 0;
    long d = 0;
    for (int at = 0; at < BLOCK; at += 32) {
      a += block.get(ValueLayout.JAVA_LONG, at);
      b += block.get(ValueLayout.JAVA_LONG, at + 8);
      c += block.get(ValueLayout.JAVA_LONG, at + 16);
      d += block.get(ValueLayout.JAVA_LONG, at + 24);
    }
    return a + b + c + d;
  }

  @Override
  public void close() {
    Kernel.unmap(memory);
  }
}
