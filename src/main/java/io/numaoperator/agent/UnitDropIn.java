package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The drop-in file of the kubelet's unit that gives it a drop-in directory of its own.
 *
 * <p>It says ExecStart once more with one flag behind it. A variable that the unit may use is not
 * enough: which there is, and whether somebody's environment file overrides it, differs from
 * distribution to distribution.
 */
final class UnitDropIn {
  private static final String FILE = "60-numaoperator-config-dir.conf";

  private UnitDropIn() {}

  /** Where it is. */
  static String path(String unit) {
    return directory(unit) + "/" + FILE;
  }

  static String directory(String unit) {
    return "/etc/systemd/system/" + unit + ".d";
  }

  /**
   * The file.
   *
   * @param execStart the command as systemd has it after its own specifiers and before the
   *     environment's variables
   * @param configDir the drop-in directory
   */
  static byte[] render(List<String> execStart, String configDir) {
    return """
        # Written by the NUMA Operator (numaoperator.io): the kubelet's own command with a drop-in directory.
        # To change the command, remove this file and run systemctl daemon-reload first.
        [Service]
        ExecStart=
        ExecStart=%s --config-dir=%s
        """
        .formatted(
            execStart.stream().map(UnitDropIn::word).collect(Collectors.joining(" ")), configDir)
        .getBytes(UTF_8);
  }

  /**
   * As systemd.syntax(7) reads it back: a variable alone ($NAME) is split at blanks whether it is
   * quoted or not, so it stays bare for people.
   */
  private static String word(String word) {
    var escaped = word.replace("\\", "\\\\").replace("%", "%%").replace("\"", "\\\"");
    return escaped.matches("[A-Za-z0-9_@:=,./$+{}-]+") ? escaped : "\"" + escaped + "\"";
  }
}
