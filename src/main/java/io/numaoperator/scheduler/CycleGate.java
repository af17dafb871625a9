package io.numaoperator.scheduler;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * kube-scheduler looks at one pod after the other, but binds in the background: it asks about the
 * next pod before it has us bind the last, and would be told of zones that are as good as taken. So
 * the next question waits a little until that binding counts. This saves refused bindings and their
 * back-off; that no zone is given away twice does not depend on it ({@link Binder}).
 */
final class CycleGate {
  private final Duration patience;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition open = lock.newCondition();
  private Optional<String> pending = Optional.empty();

  /**
   * @param patience how long to wait; a pod whose volumes are attached first is bound much later
   */
  CycleGate(Duration patience) {
    this.patience = patience;
  }

  /** Before a pod is filtered. */
  void enter(String uid) {
    lock.lock();
    try {
      long left = patience.toNanos();
      while (left > 0 && pending.filter(other -> !other.equals(uid)).isPresent()) {
        left = open.awaitNanos(left);
      }
      pending = Optional.empty();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }

  /** After a pod was filtered; a binding follows if a node suits. */
  void leave(String uid, boolean suits) {
    lock.lock();
    try {
      pending = Optional.of(uid).filter(u -> suits);
    } finally {
      lock.unlock();
    }
  }

  /** Once it counts where it will be bound, or is not bound. */
  void bound(String uid) {
    lock.lock();
    try {
      if (pending.filter(uid::equals).isPresent()) {
        pending = Optional.empty();
        open.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }
}
