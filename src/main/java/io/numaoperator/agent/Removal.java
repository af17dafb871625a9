package io.numaoperator.agent;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes from a node what is there of the operator in another form than the one that is wanted: a
 * node that is restored gets rid of all, and one whose kubelet was upgraded to merge drop-ins gets
 * its main file back. What there is tells the disk; the policy of today may never have been asked.
 */
final class Removal {
  private final KubeletHost host;
  private final ServiceManager services;
  private final KubeletFiles files;
  private final MainFileEdit mainFile;

  Removal(KubeletHost host, ServiceManager services) {
    this.host = host;
    this.services = services;
    this.files = new KubeletFiles(host);
    this.mainFile = new MainFileEdit(host);
  }

  /** The files that it will write or delete, of which there has to be a backup. */
  List<String> touches(Journal.Granted granted) throws IOException {
    var touched = new ArrayList<String>();
    if (granted.restore()) {
      if (!granted.dropInDirectory().isEmpty()) {
        touched.add(granted.dropIn());
      }
      if (files.unitDropIn(granted.unit(), granted.dropInDirectory()).isPresent()) {
        touched.add(granted.unitDropIn());
      }
    }
    if (!granted.editsMainFile() && mainFile.found(granted.mainFile()).isPresent()) {
      touched.add(granted.mainFile());
      touched.addAll(MainFileEdit.notes());
    }
    return touched;
  }

  /** Does it; the kubelet is stopped. May be done again, also by another process. */
  void carryOut(Journal journal) throws IOException {
    var granted = journal.granted();
    if (granted.restore()) {
      removeDropIn(journal);
    }
    if (!granted.editsMainFile()) {
      mainFile.giveBack(granted.mainFile());
    }
  }

  /** What was decided when the backups were made holds, though files may be gone by now. */
  private void removeDropIn(Journal journal) throws IOException {
    var granted = journal.granted();
    if (!granted.dropInDirectory().isEmpty()) {
      host.delete(granted.dropIn());
    }
    if (journal.before().covers(granted.unitDropIn())) {
      host.delete(granted.unitDropIn());
      services.reload();
    }
  }
}
