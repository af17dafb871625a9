package io.numaoperator.agent;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.kubelet.DropIn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/**
 * The agent's way through one attempt on a real node, with everything real that it touches, in a
 * process that ends like a killed one before the change that it is told to. Called on a node of the
 * lab; see GuardLabTest.
 *
 * <p>Arguments: attempt, fragment as JSON, ServiceAccount token, the guard's patience in seconds,
 * and the change to die before: 0 is the kubelet's first stop, 1 what follows it (negative: none).
 * Prints each change from there on, and the attempt's last report.
 */
public final class InterruptedAgent {
  private static final long WINDOW_MILLIS = 3000;

  private InterruptedAgent() {}

  public static void main(String... args) throws Exception {
    var changes = new Changes(Integer.parseInt(args[4]));
    var seen = new LastSeen();
    var proc = Path.of("/proc");
    var local = new LocalHost(Path.of("/"), proc);
    Files.createDirectories(local.local(JournalStore.BACKUPS));
    var systemd = new Systemd(local.local("/run/dbus/system_bus_socket"));
    var pinned = new PinnedCertificate(local, seen::servingCertificates);
    var name = Files.readString(Path.of("/etc/hostname")).strip();
    var node =
        new NodeAccess(
            new Host(local, changes),
            new Services(systemd, changes),
            new PodResourcesClient(() -> local.local(seen.podResourcesSocket())),
            new ConfigzClient(seen, pinned, () -> args[2]),
            new KubernetesApi(api(args[2]), name),
            Time.system());
    var kubelet = new KubeletLocator(systemd, local, proc).find();
    seen.kubelet(kubelet);
    var store = new JournalStore(node.host());
    var last = new AtomicReference<Attempt>();
    var guard = new Guard(node, Duration.ofSeconds(Integer.parseInt(args[3])));
    var executor = new AttemptExecutor(node, store, guard, last::set, new Log(System.out));
    if (store.load().filter(journal -> !journal.done()).isPresent()) {
      executor.resume();
    } else {
      executor.start(granted(Long.parseLong(args[0]), args[1], local.bootId(), kubelet));
    }
    System.out.println("report: " + new ObjectMapper().writeValueAsString(last.get()));
    System.exit(0); // the D-Bus client's threads
  }

  private static Config api(String token) throws IOException {
    var kubeconfig = Files.readString(Path.of("/etc/kubernetes/kubelet.conf"));
    var server = Pattern.compile("server: (\\S+)").matcher(kubeconfig);
    if (!server.find()) {
      throw new IOException("kubelet.conf names no server");
    }
    return new ConfigBuilder()
        .withMasterUrl(server.group(1))
        .withCaCertFile("/etc/kubernetes/pki/ca.crt")
        .withOauthToken(token)
        .build();
  }

  private static Journal.Granted granted(
      long attempt, String json, String bootId, KubeletProcess kubelet) throws IOException {
    var fragment = new ObjectMapper().readValue(json, KubeletFragment.class);
    return new Journal.Granted(
        attempt,
        DropIn.hash(fragment),
        "lab",
        bootId,
        fragment,
        WINDOW_MILLIS,
        kubelet.unit(),
        kubelet.dropInDirectory().orElseThrow(),
        kubelet.rootDirectory(),
        Journal.Form.DROP_IN,
        List.of(),
        "",
        false);
  }

  /** Counts what is about to be changed, and ends the process there. */
  private static final class Changes {
    private final int diesBefore;
    private int made;

    Changes(int diesBefore) {
      this.diesBefore = diesBefore;
    }

    void next(String what) {
      if (made == 0 && !what.equals("stop kubelet.service")) {
        return;
      }
      if (made == diesBefore) {
        System.out.println("dies before: " + what);
        System.out.flush();
        Runtime.getRuntime().halt(0); // no finally, no shutdown hook: as by SIGKILL
      }
      made++;
      System.out.println("change: " + what);
    }
  }

  private record Host(KubeletHost real, Changes changes) implements KubeletHost {
    @Override
    public String bootId() throws IOException {
      return real.bootId();
    }

    @Override
    public Optional<byte[]> read(String path) throws IOException {
      return real.read(path);
    }

    @Override
    public void write(String path, byte[] bytes) throws IOException {
      changes.next("write " + path);
      real.write(path, bytes);
    }

    @Override
    public void delete(String path) throws IOException {
      changes.next("delete " + path);
      real.delete(path);
    }

    @Override
    public boolean isDirectory(String path) {
      return real.isDirectory(path);
    }

    @Override
    public List<String> list(String directory) throws IOException {
      return real.list(directory);
    }

    @Override
    public void makeDirectory(String path) throws IOException {
      changes.next("mkdir " + path);
      real.makeDirectory(path);
    }

    @Override
    public Optional<Instant> modified(String path) throws IOException {
      return real.modified(path);
    }

    @Override
    public long size(String path) {
      return real.size(path);
    }

    @Override
    public String tail(String path, long offset) throws IOException {
      return real.tail(path, offset);
    }
  }

  private record Services(ServiceManager real, Changes changes) implements ServiceManager {
    @Override
    public Optional<UnitState> state(String unit) throws IOException {
      return real.state(unit);
    }

    @Override
    public void stop(String unit) throws IOException {
      changes.next("stop " + unit);
      real.stop(unit);
    }

    @Override
    public void start(String unit) throws IOException {
      changes.next("start " + unit);
      real.start(unit);
    }

    @Override
    public boolean active(String unit) throws IOException {
      return real.active(unit);
    }

    @Override
    public List<String> dropIns(String unit) throws IOException {
      return real.dropIns(unit);
    }

    @Override
    public List<String> execStart(String unit) throws IOException {
      return real.execStart(unit);
    }

    @Override
    public void reload() throws IOException {
      changes.next("reload");
      real.reload();
    }
  }
}
