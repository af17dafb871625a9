package io.numaoperator.lab;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A machine of QEMU's with two NUMA nodes of two CPUs each, Debian, systemd, containerd and a
 * kubelet, on the lab's network; see src/guest. Its disk outlives {@link #cutPower}. Closing it
 * ends QEMU.
 */
final class Guest implements AutoCloseable {
  static final String NODE = "guest";
  private static final Path SOURCES = Path.of("src/guest").toAbsolutePath();
  private static final String PORT = "org.qemu.guest_agent.0";

  /** A shell in a guest without KVM takes seconds, and much more while it boots. */
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private final Lab lab;
  private final Path base;
  private final Path directory;
  private final String accelerator;
  private final JsonMapper mapper = new JsonMapper();
  private final AtomicInteger calls = new AtomicInteger();
  private Process qemu; // null while it is off
  private int boots;

  /**
   * Makes the machine's disks and its cable; it is off.
   *
   * @param base what src/guest/build.sh made
   */
  Guest(Lab lab, Path base) throws IOException {
    this.lab = lab;
    this.base = base;
    this.directory = Files.createTempDirectory("numa-guest");
    var wanted = System.getenv("GUEST_ACCELERATOR");
    this.accelerator =
        wanted == null || wanted.isEmpty()
            ? output(SOURCES.resolve("accelerator.sh").toString(), base.toString())
            : wanted;
    output("cp", "--sparse=always", base.resolve("disk.ext4").toString(), file("disk.ext4"));
    output(
        SOURCES.resolve("payload.sh").toString(),
        System.getProperty("lab.bin"),
        lab.file(".").toString(),
        System.getProperty("guest.images"),
        directory.toString());
    lab.numalab("run", "--", "ip", "tuntap", "add", "dev", "guest0", "mode", "tap");
    lab.numalab("run", "--", "ip", "link", "set", "guest0", "master", "lab0", "up");
  }

  /** kvm or tcg. */
  String accelerator() {
    return accelerator;
  }

  /**
   * @param mebibytes memory of each NUMA node
   */
  void powerOn(int... mebibytes) throws IOException {
    boots++;
    var command = new ArrayList<>(List.of("run", "--", "qemu-system-x86_64"));
    command.addAll(List.of("-machine", "q35"));
    // no newer CPU: its instructions cost TCG more than they save
    command.addAll(
        accelerator.equals("kvm")
            ? List.of("-accel", "kvm", "-cpu", "host")
            : List.of("-accel", "tcg,thread=multi,tb-size=1024", "-cpu", "Nehalem"));
    int total = 0;
    for (int zone = 0; zone < mebibytes.length; zone++) {
      total += mebibytes[zone];
      command.add("-object");
      command.add("memory-backend-ram,id=m%1$d,size=%2$dM".formatted(zone, mebibytes[zone]));
      command.add("-numa");
      command.add(
          "node,nodeid=%1$d,cpus=%2$d-%3$d,memdev=m%1$d".formatted(zone, 2 * zone, 2 * zone + 1));
    }
    command.addAll(List.of("-m", total + "M", "-numa", "dist,src=0,dst=1,val=21"));
    command.addAll(List.of("-smp", "4,sockets=2,cores=2,threads=1"));
    // a PCI bus of each NUMA node
    command.addAll(List.of("-device", "pxb-pcie,id=pxb0,bus_nr=32,bus=pcie.0,numa_node=0"));
    command.addAll(List.of("-device", "pcie-root-port,id=rp0,bus=pxb0,chassis=1"));
    command.addAll(List.of("-device", "pxb-pcie,id=pxb1,bus_nr=64,bus=pcie.0,numa_node=1"));
    command.addAll(List.of("-device", "pcie-root-port,id=rp1,bus=pxb1,chassis=2"));
    command.add("-drive");
    command.add("if=none,id=d0,format=raw,cache=unsafe,file=" + file("disk.ext4"));
    command.addAll(List.of("-device", "virtio-blk-pci,drive=d0,bus=pcie.0"));
    command.add("-drive");
    command.add("if=none,id=d1,format=raw,readonly=on,file=" + file("payload.ext4"));
    command.addAll(List.of("-device", "virtio-blk-pci,drive=d1,bus=rp1"));
    command.addAll(List.of("-netdev", "tap,id=n1,ifname=guest0,script=no,downscript=no"));
    command.addAll(List.of("-device", "virtio-net-pci,netdev=n1,bus=rp0"));
    command.addAll(List.of("-device", "virtio-rng-pci,bus=pcie.0"));
    command.addAll(List.of("-device", "virtio-serial-pci,bus=pcie.0"));
    command.addAll(
        List.of("-chardev", "socket,id=control,server=on,wait=off,path=" + file("control.sock")));
    command.addAll(List.of("-device", "virtserialport,chardev=control,name=" + PORT));
    command.addAll(List.of("-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none"));
    command.addAll(List.of("-serial", "file:" + file("console-" + boots + ".log")));
    command.addAll(List.of("-kernel", base.resolve("vmlinuz").toString()));
    command.addAll(List.of("-initrd", base.resolve("initrd.gz").toString(), "-append"));
    command.add(
        "console=ttyS0 quiet systemd.show_status=0 net.ifnames=0 mitigations=off nopti nokaslr"
            + " audit=0 panic=-1 guest.ip=10.88.0.2/16 guest.gateway=10.88.0.1"
            + (accelerator.equals("kvm") ? "" : " clocksource=tsc tsc=reliable no_timer_check"));
    qemu = lab.start(directory.resolve("qemu.log"), command.toArray(String[]::new));
  }

  boolean isOn() {
    return qemu != null && qemu.isAlive();
  }

  /** After what it wrote has reached the disk. */
  void cutPower() throws InterruptedException {
    sh("sync");
    qemu.destroyForcibly().waitFor();
    qemu = null;
  }

  /**
   * Runs a command in the guest, as root, and returns what it prints.
   *
   * @throws IllegalStateException when it fails, or the guest does not answer
   */
  String sh(String script) {
    try (var channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      var deadline = Instant.now().plus(PATIENCE);
      channel.connect(UnixDomainSocketAddress.of(file("control.sock")));
      channel.configureBlocking(false);
      // what a caller before us did not read may still come
      int id = calls.incrementAndGet();
      write(channel, Map.of("execute", "guest-sync", "arguments", Map.of("id", id)));
      while (read(channel, deadline).path("return").asInt(-1) != id) {}
      var exec =
          Map.of("path", "/bin/sh", "arg", List.of("-c", script), "capture-output", Boolean.TRUE);
      write(channel, Map.of("execute", "guest-exec", "arguments", exec));
      int pid = read(channel, deadline).path("return").path("pid").asInt();
      while (true) {
        write(channel, Map.of("execute", "guest-exec-status", "arguments", Map.of("pid", pid)));
        var status = read(channel, deadline).path("return");
        if (status.path("exited").asBoolean()) {
          return output(script, status);
        }
        sleep(100);
      }
    } catch (IOException e) {
      throw new IllegalStateException("the guest does not answer: " + e.getMessage(), e);
    }
  }

  private static String output(String script, JsonNode status) {
    var out = text(status, "out-data");
    if (status.path("exitcode").asInt(-1) != 0) {
      throw new IllegalStateException(
          "in the guest: %s: exit %s: %s%s"
              .formatted(script, status.path("exitcode"), out, text(status, "err-data")));
    }
    return out;
  }

  private static String text(JsonNode status, String field) {
    return new String(Base64.getDecoder().decode(status.path(field).asText("")), UTF_8);
  }

  private void write(SocketChannel channel, Map<String, ?> request) throws IOException {
    var bytes = ByteBuffer.wrap((mapper.writeValueAsString(request) + "\n").getBytes(UTF_8));
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /** One line; bytes are read one by one, so that nothing of the next is taken. */
  private JsonNode read(SocketChannel channel, Instant deadline) throws IOException {
    var line = new StringBuilder();
    var one = ByteBuffer.allocate(1);
    while (true) {
      int read = channel.read(one);
      if (read < 0) {
        throw new IOException("QEMU closed the connection");
      }
      if (read == 0) {
        if (Instant.now().isAfter(deadline)) {
          throw new IOException("no answer in " + PATIENCE.toSeconds() + " s");
        }
        sleep(20);
        continue;
      }
      char c = (char) one.flip().get();
      one.clear();
      if (c == '\n') {
        return mapper.readTree(line.toString());
      }
      line.append(c);
    }
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** The end of the console of this boot. */
  String console() {
    try {
      var lines = Files.readAllLines(Path.of(file("console-" + boots + ".log")));
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 30), lines.size()));
    } catch (IOException e) {
      return e.toString();
    }
  }

  private String file(String name) {
    return directory.resolve(name).toString();
  }

  @Override
  public void close() {
    if (qemu != null) {
      qemu.destroyForcibly();
      try {
        qemu.waitFor();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    try {
      output("rm", "-r", directory.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Of a command on the host. */
  private static String output(String... command) throws IOException {
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    var process = builder.start();
    var output = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
    try {
      if (process.waitFor() != 0) {
        throw new IOException(String.join(" ", command) + ": " + output);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
    return output;
  }
}
