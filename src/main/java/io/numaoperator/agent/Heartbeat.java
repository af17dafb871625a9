package io.numaoperator.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The agent's sign of life, for the kubelet's readiness probe: a file with the machine's uptime in
 * whole seconds when the agent last looked at the node and could tell. An agent that hangs, or that
 * the API server does not hear, has nothing new to say; without this it would look like one whose
 * node does not change. Uptime, since clocks are set.
 */
final class Heartbeat {
  private final Path file;
  private final Path uptime;

  /**
   * @param file where to write
   * @param uptime /proc/uptime
   */
  Heartbeat(Path file, Path uptime) {
    this.file = file;
    this.uptime = uptime;
  }

  void beat() throws IOException {
    var seconds = Files.readString(uptime).split("[. ]", 2)[0];
    Files.writeString(file, seconds + "\n");
  }
}
