package io.numaoperator.agent;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Tells that the kubelet may have admitted or let go of a pod, without asking it: it rewrites a
 * state file or the device checkpoint at an admission, and makes or removes the pod's directory.
 * inotify, so nothing happens while nothing happens.
 */
final class KubeletEvents {
  private static final Set<String> WATCHED = Set.of("", "device-plugins", "pods");

  private KubeletEvents() {}

  /**
   * Watches until something breaks.
   *
   * @param root the kubelet's --root-dir as the agent sees it
   * @param happened called for each burst of events
   */
  static void watch(Path root, Runnable happened) throws IOException, InterruptedException {
    try (var watcher = root.getFileSystem().newWatchService()) {
      Map<WatchKey, Path> keys = new HashMap<>();
      for (var name : WATCHED) {
        var directory = root.resolve(name);
        if (Files.isDirectory(directory)) {
          keys.put(
              directory.register(
                  watcher,
                  StandardWatchEventKinds.ENTRY_CREATE,
                  StandardWatchEventKinds.ENTRY_DELETE,
                  StandardWatchEventKinds.ENTRY_MODIFY),
              directory);
        }
      }
      happened.run(); // what came before the watch
      while (!keys.isEmpty()) {
        var key = watcher.take();
        key.pollEvents();
        happened.run();
        if (!key.reset()) {
          throw new IOException(keys.get(key) + " is gone");
        }
      }
      throw new IOException(root + " is not there");
    } catch (ClosedWatchServiceException e) {
      throw new IOException("watch of " + root + " was closed", e);
    }
  }
}
