package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The guard's files: where they are and what is in them. */
final class GuardFiles {
  /** Starts that a change may take until it is verified; the next is with what was before it. */
  static final int LIMIT = 3;

  static final String TIMER = "numaoperator-guard.timer";
  static final String DIRECTORY = JournalStore.DIRECTORY + "/guard";
  static final String SCRIPT = DIRECTORY + "/guard.sh";
  static final String LAST_WORDS_SCRIPT = DIRECTORY + "/last-words.sh";

  /** What the kubelet that ended last said since its start; see last-words.sh. */
  static final String LAST_WORDS = DIRECTORY + "/last-words";

  static final String NODE = DIRECTORY + "/node";
  static final String BOOT = DIRECTORY + "/boot";
  static final String ARMED = DIRECTORY + "/armed";
  static final String STARTS = DIRECTORY + "/starts";
  static final String RESTORED = DIRECTORY + "/restored";

  private static final String UNITS = "/etc/systemd/system/";
  static final String TIMER_FILE = UNITS + TIMER;

  private GuardFiles() {}

  /**
   * What the guard says of a restoration.
   *
   * @param starts how many starts there were, none of them verified
   */
  record Restoration(long attempt, int starts) {}

  static String dropInDirectory(String unit) {
    return UNITS + unit + ".d";
  }

  /** Late in the order: an empty ExecStartPre= in a drop-in before it does not undo it. */
  static String dropIn(String unit) {
    return dropInDirectory(unit) + "/99-numaoperator-guard.conf";
  }

  static byte[] script() {
    return resource("/guard/guard.sh");
  }

  static byte[] lastWordsScript() {
    return resource("/guard/last-words.sh");
  }

  private static byte[] resource(String name) {
    try (var in = GuardFiles.class.getResourceAsStream(name)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The prefixes of ExecStartPre: a guard that fails is passed over, and what the unit keeps its
   * processes from (ProtectSystem=, ...) is not kept from it. A guard that hangs would run into the
   * unit's TimeoutStartSec, 90 s, which is no failure that is passed over.
   *
   * <p>Wants: after a reboot in the middle of a change the timer is there again. Out of a change
   * its condition does not hold, and who stops the kubelet by hand finds it stopped.
   */
  static byte[] unitDropIn() {
    return """
        # The guard of NUMA Operator, see its docs/operations.md. To remove it: delete this file and
        # %s, then systemctl daemon-reload.
        [Unit]
        Wants=%s

        [Service]
        ExecStartPre=-+/usr/bin/env timeout 60 /bin/sh %s
        ExecStopPost=-+/usr/bin/env timeout 20 /bin/sh %s
        """
        .formatted(TIMER_FILE, TIMER, SCRIPT, LAST_WORDS_SCRIPT)
        .getBytes(UTF_8);
  }

  /**
   * systemd itself starts the kubelet: no code of ours has to run for it. An installed unit and not
   * a transient one, so that its owner finds it (systemctl cat) and a reboot keeps it.
   *
   * @param patience how long the kubelet may be stopped
   */
  static byte[] timer(String unit, Duration patience) {
    return """
        [Unit]
        Description=Starts a kubelet that was left stopped in a change by NUMA Operator
        ConditionPathExists=%s

        [Timer]
        Unit=%s
        OnUnitInactiveSec=%ds
        AccuracySec=1s
        """
        .formatted(ARMED, unit, patience.toSeconds())
        .getBytes(UTF_8);
  }

  /**
   * One of these is there as long as the node has configuration of ours, in whichever form an
   * attempt leaves it: one that would take it away may be rolled back.
   */
  static List<String> configuration(Journal.Granted granted) {
    return List.of(granted.dropIn(), MainFileEdit.ORIGINAL);
  }

  static byte[] node(Journal.Granted granted) {
    var text = new StringBuilder();
    configuration(granted).forEach(path -> text.append("config ").append(path).append('\n'));
    for (var path : List.of(granted.cpuState(), granted.memoryState())) {
      text.append("state ").append(path).append('\n');
    }
    return text.toString().getBytes(UTF_8);
  }

  /** What to do for what was before the attempt, see guard.sh. */
  static byte[] armed(Journal journal) {
    var text =
        new StringBuilder()
            .append("attempt %d\nlimit %d\n".formatted(journal.granted().attempt(), LIMIT));
    boolean unitFiles = false;
    for (var saved : journal.touchedState()) {
      // not put back: nobody has looked at what runs, and the kubelet makes new ones
      text.append("clear - ").append(saved.path()).append('\n');
    }
    for (var saved : journal.savedConfiguration()) {
      var verb = saved.present() ? "restore " + JournalStore.backupName(saved.path()) : "remove -";
      text.append(verb).append(' ').append(saved.path()).append('\n');
      unitFiles |= saved.path().startsWith(UNITS);
    }
    if (unitFiles) {
      text.append("reload\n");
    }
    return text.toString().getBytes(UTF_8);
  }

  static Optional<Restoration> restoration(byte[] text) {
    var values = values(text);
    try {
      return Optional.of(
          new Restoration(
              Long.parseLong(values.getOrDefault("attempt", "")),
              Integer.parseInt(values.getOrDefault("starts", ""))));
    } catch (NumberFormatException e) {
      return Optional.empty(); // not the guard's: it writes the file whole or not at all
    }
  }

  /** The attempt that an armed guard is armed for. */
  static Optional<Long> attempt(byte[] armed) {
    try {
      return Optional.of(Long.valueOf(values(armed).getOrDefault("attempt", "")));
    } catch (NumberFormatException damaged) {
      return Optional.empty();
    }
  }

  private static Map<String, String> values(byte[] text) {
    var values = new HashMap<String, String>();
    for (var line : new String(text, UTF_8).lines().toList()) {
      var words = line.split(" ", 2);
      values.put(words[0], words.length > 1 ? words[1] : "");
    }
    return values;
  }
}
