package io.numaoperator.probe;

import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Threads that are each pinned to a CPU of their own, for one piece of work. */
record Crew(CpuSet cpus) {
  /** What each of them does. */
  interface Work<T> {
    /**
     * Done by one of them.
     *
     * @param thread 0 to the number of CPUs
     */
    T run(int thread) throws IOException;
  }

  /**
   * Does it on all CPUs at once.
   *
   * @return the results, in the order of the CPUs
   * @throws IOException if a thread could not be pinned, or its work failed
   */
  <T> List<T> run(Work<T> work) throws IOException, InterruptedException {
    var tasks = new ArrayList<FutureTask<T>>();
    for (int cpu : cpus.stream().toArray()) {
      int thread = tasks.size();
      tasks.add(
          new FutureTask<>(
              () -> {
                Kernel.pin(CpuSet.of(cpu));
                return work.run(thread);
              }));
    }
    for (var task : tasks) {
      Thread.ofPlatform().daemon().start(task);
    }
    var results = new ArrayList<T>();
    for (var task : tasks) {
      try {
        results.add(task.get());
      } catch (ExecutionException e) {
        if (e.getCause() instanceof IOException refused) {
          throw refused;
        }
        throw new IllegalStateException(e.getCause());
      }
    }
    return results;
  }
}
