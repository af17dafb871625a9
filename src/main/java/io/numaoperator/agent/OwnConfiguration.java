package io.numaoperator.agent;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.kubelet.ConfigFiles;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.kubelet.OwnSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds out what the kubelet would run with if nothing of ours were on the node. */
final class OwnConfiguration {
  private static final String EMPTY = DropIn.hash(new KubeletFragment());

  private final KubeletHost host;
  private final JournalStore store;
  private final KubeletFiles files;
  private final MainFileEdit mainFile;

  OwnConfiguration(KubeletHost host, JournalStore store) {
    this.host = host;
    this.store = store;
    this.files = new KubeletFiles(host);
    this.mainFile = new MainFileEdit(host);
  }

  /**
   * What we wrote, or had written when the kubelet started, is replaced by what the node's files
   * say. Where that never was, the running kubelet's word is enough, and no file is read.
   */
  KubeletFragment settings(KubeletFacts kubelet, EffectiveKubelet running) throws IOException {
    var ours = ours(kubelet);
    var own = running.settings;
    if (ours.isEmpty()) {
      return own;
    }
    var files = files(kubelet, running);
    for (var fragment : ours) {
      own = OwnSettings.without(own, files, fragment, kubelet.managedByFlag);
    }
    return own;
  }

  /**
   * What is on the disk, and what the last attempt put there: somebody may have edited or removed
   * it since, and the running kubelet goes by the former. Of a main file that we edited, what its
   * owner wrote is taken for ours as well, which is no harm: the owner's version says the same.
   * Where all of it says nothing, nothing is left to take out, and no file has to be read.
   */
  private List<KubeletFragment> ours(KubeletFacts kubelet) throws IOException {
    var ours = new ArrayList<KubeletFragment>();
    if (kubelet.dropInDirectory != null) {
      host.read(kubelet.dropInDirectory + "/" + Names.DROP_IN_FILE)
          .flatMap(OwnConfiguration::parsed)
          .ifPresent(ours::add);
    }
    if (kubelet.configFile != null) {
      mainFile
          .found(kubelet.configFile)
          .flatMap(edit -> parsed(edit.content()))
          .ifPresent(ours::add);
    }
    store
        .load()
        .filter(OwnConfiguration::mayRun)
        .map(journal -> journal.granted().fragment())
        .ifPresent(ours::add);
    ours.removeIf(OwnConfiguration::empty);
    return ours;
  }

  /** What was never put there, or was taken back, runs nowhere. */
  private static boolean mayRun(Journal journal) {
    return !(journal.phase() instanceof Phase.Done done)
        || (done.result() != Result.Refused && done.result() != Result.RolledBack);
  }

  private static boolean empty(KubeletFragment fragment) {
    return DropIn.hash(fragment).equals(EMPTY);
  }

  /** A file that was damaged says nothing. */
  private static Optional<KubeletFragment> parsed(byte[] file) {
    try {
      return Optional.of(KubeletSettings.of(ConfigFiles.parse("ours", file)));
    } catch (IOException damaged) {
      return Optional.empty();
    }
  }

  /** In the form in which the running settings are known, so that the two can be mixed. */
  private KubeletFragment files(KubeletFacts kubelet, EffectiveKubelet running) throws IOException {
    var found = read(kubelet);
    return switch (running.source) {
      case Configz -> found.shown(mergesDropIns(kubelet));
      case Files -> found.written();
    };
  }

  private ConfigFiles read(KubeletFacts kubelet) throws IOException {
    try {
      return files
          .read(kubelet)
          .orElseThrow(() -> new IOException(kubelet.configFile + " is not to be seen"));
    } catch (IOException e) {
      throw new IOException(
          "the kubelet's own configuration files cannot be read: " + e.getMessage(), e);
    }
  }

  /** By itself: a directory that it has only from us goes with our settings. */
  private static boolean mergesDropIns(KubeletFacts kubelet) {
    return kubelet.dropInDirectory != null && kubelet.unitDropIn == null;
  }
}
