package io.numaoperator.agent;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.kubelet.ConfigFiles;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.kubelet.OwnSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds out what the kubelet would run with if our drop-in were not there. */
final class OwnConfiguration {
  private final KubeletHost host;
  private final JournalStore store;

  OwnConfiguration(KubeletHost host, JournalStore store) {
    this.host = host;
    this.store = store;
  }

  /**
   * What our drop-in says, or said when the kubelet started, is replaced by what the node's files
   * say. Where it never was, the running kubelet's word is enough, and no file is read.
   *
   * @param running its settings by /configz
   */
  KubeletFragment settings(KubeletFacts kubelet, KubeletFragment running) throws IOException {
    var ours = ours(kubelet);
    if (ours.isEmpty()) {
      return running;
    }
    var files = files(kubelet);
    var own = running;
    for (var fragment : ours) {
      own = OwnSettings.without(own, files, fragment, kubelet.managedByFlag);
    }
    return own;
  }

  /**
   * What is on the disk, and what the last attempt put there: somebody may have edited or removed
   * the file since, and the running kubelet goes by the former.
   */
  private List<KubeletFragment> ours(KubeletFacts kubelet) throws IOException {
    var ours = new ArrayList<KubeletFragment>();
    if (kubelet.dropInDirectory != null) {
      host.read(kubelet.dropInDirectory + "/" + Names.DROP_IN_FILE)
          .flatMap(OwnConfiguration::parsed)
          .ifPresent(ours::add);
    }
    store.load().map(journal -> journal.granted().fragment()).ifPresent(ours::add);
    return ours;
  }

  /** A file that was damaged says nothing. */
  private static Optional<KubeletFragment> parsed(byte[] dropIn) {
    try {
      return Optional.of(KubeletSettings.of(ConfigFiles.parse(dropIn)));
    } catch (IllegalArgumentException damaged) {
      return Optional.empty();
    }
  }

  private KubeletFragment files(KubeletFacts kubelet) throws IOException {
    Optional<byte[]> main = Optional.empty();
    if (kubelet.configFile != null) {
      main = Optional.of(required(kubelet.configFile));
    }
    var dropIns = new ArrayList<byte[]>();
    if (kubelet.dropInDirectory != null) {
      collect(kubelet.dropInDirectory, kubelet, dropIns);
    }
    try {
      return ConfigFiles.settings(main, dropIns);
    } catch (IllegalArgumentException damaged) {
      throw new IOException(
          "the kubelet's own configuration files cannot be read: " + damaged.getMessage(), damaged);
    }
  }

  /** In the order of Go's filepath.WalkDir: a subdirectory has its place among the names. */
  private void collect(String directory, KubeletFacts kubelet, List<byte[]> dropIns)
      throws IOException {
    for (var name : host.list(directory)) {
      var path = directory + "/" + name;
      if (host.isDirectory(path)) {
        collect(path, kubelet, dropIns);
      } else if (name.endsWith(".conf")
          && !path.equals(kubelet.dropInDirectory + "/" + Names.DROP_IN_FILE)) {
        dropIns.add(required(path));
      }
    }
  }

  private byte[] required(String path) throws IOException {
    return host.read(path)
        .orElseThrow(
            () -> new IOException("the kubelet's own file " + path + " is not to be seen"));
  }
}
