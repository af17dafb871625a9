package io.numaoperator.probe;

import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.stream.IntStream;

/** What Java does not offer of Linux: a thread's CPUs, and memory that nobody has touched yet. */
final class Kernel {
  private static final long MASK_BYTES = 8192 / 8; // the kernel's largest NR_CPUS
  private static final int READ_WRITE = 1 | 2;
  private static final int PRIVATE_ANONYMOUS = 2 | 0x20;
  private static final int HUGE_PAGES = 14; // MADV_HUGEPAGE: page tables do not count then

  private static final Linker LINKER = Linker.nativeLinker();
  private static final MemoryLayout CAPTURED = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      CAPTURED.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final MethodHandle SET_AFFINITY =
      function(
          "sched_setaffinity",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG,
              ValueLayout.ADDRESS));
  private static final MethodHandle GET_AFFINITY =
      function(
          "sched_getaffinity",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG,
              ValueLayout.ADDRESS));
  private static final MethodHandle MMAP =
      function(
          "mmap",
          FunctionDescriptor.of(
              ValueLayout.ADDRESS,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG));
  private static final MethodHandle MUNMAP =
      function(
          "munmap",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
  private static final MethodHandle MADVISE =
      function(
          "madvise",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT));

  private Kernel() {}

  private static MethodHandle function(String name, FunctionDescriptor type) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name), type, Linker.Option.captureCallState("errno"));
  }

  private static Error unexpected(Throwable thrown) {
    return new AssertionError("a function of libc cannot throw", thrown);
  }

  /**
   * Has the calling thread run on these CPUs only.
   *
   * @throws IOException if the kernel refuses: none of them is online and in the process' cpuset
   */
  static void pin(CpuSet cpus) throws IOException {
    try (var arena = Arena.ofConfined()) {
      var captured = arena.allocate(CAPTURED);
      var mask = arena.allocate(MASK_BYTES, Long.BYTES);
      cpus.stream()
          .forEach(
              cpu ->
                  mask.set(
                      ValueLayout.JAVA_BYTE,
                      cpu / 8,
                      (byte) (mask.get(ValueLayout.JAVA_BYTE, cpu / 8) | 1 << cpu % 8)));
      if ((int) SET_AFFINITY.invokeExact(captured, 0, MASK_BYTES, mask) != 0) {
        throw new IOException(
            "sched_setaffinity to CPUs %s: errno %d".formatted(cpus, errno(captured)));
      }
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** The CPUs that the calling thread may run on. */
  static CpuSet affinity() throws IOException {
    try (var arena = Arena.ofConfined()) {
      var captured = arena.allocate(CAPTURED);
      var mask = arena.allocate(MASK_BYTES, Long.BYTES);
      if ((int) GET_AFFINITY.invokeExact(captured, 0, MASK_BYTES, mask) != 0) {
        throw new IOException("sched_getaffinity: errno " + errno(captured));
      }
      return CpuSet.of(
          IntStream.range(0, (int) MASK_BYTES * 8)
              .filter(cpu -> (mask.get(ValueLayout.JAVA_BYTE, cpu / 8) >> cpu % 8 & 1) == 1));
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Memory without a page yet, until {@link #unmap}. */
  static MemorySegment map(long bytes) throws IOException {
    try (var arena = Arena.ofConfined()) {
      var captured = arena.allocate(CAPTURED);
      var memory =
          (MemorySegment)
              MMAP.invokeExact(
                  captured, MemorySegment.NULL, bytes, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0L);
      if (memory.address() == -1) {
        throw new IOException("mmap of %d bytes: errno %d".formatted(bytes, errno(captured)));
      }
      int ignored = (int) MADVISE.invokeExact(captured, memory, bytes, HUGE_PAGES); // advice only
      return memory.reinterpret(bytes);
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static void unmap(MemorySegment memory) {
    try (var arena = Arena.ofConfined()) {
      int ignored = (int) MUNMAP.invokeExact(arena.allocate(CAPTURED), memory, memory.byteSize());
    } catch (RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static int errno(MemorySegment captured) {
    return (int) ERRNO.get(captured, 0L);
  }
}
