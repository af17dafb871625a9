package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.numaoperator.kubelet.ManagedField;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A kubelet's command line. A flag wins over every file, also over the drop-in.
 *
 * @param program its argv[0]
 * @param flags by name without dashes; the last one counts, as in pflag
 * @param managedByFlag the managed fields that flags set
 */
record CommandLine(String program, Map<String, String> flags, List<String> managedByFlag) {
  /** Reads /proc/PID/cmdline: words that end in a zero byte. */
  static CommandLine parse(byte[] cmdline) {
    var words = List.of(new String(cmdline, UTF_8).split("\0"));
    return of(words.getFirst(), words.subList(1, words.size()));
  }

  static CommandLine of(String program, List<String> words) {
    var flags = new LinkedHashMap<String, String>();
    for (int i = 0; i < words.size(); i++) {
      if (!words.get(i).startsWith("-")) {
        continue;
      }
      var flag = words.get(i).replaceFirst("^--?", "");
      int equals = flag.indexOf('=');
      if (equals >= 0) {
        flags.put(flag.substring(0, equals), flag.substring(equals + 1));
      } else {
        // --flag value, or a boolean with nothing behind it
        boolean value = i + 1 < words.size() && !words.get(i + 1).startsWith("-");
        flags.put(flag, value ? words.get(i + 1) : "true");
      }
    }
    return new CommandLine(program, flags, ManagedField.setByFlags(words));
  }

  Optional<String> flag(String name) {
    return Optional.ofNullable(flags.get(name)).filter(value -> !value.isEmpty());
  }

  /** Whether this is a kubelet and not, say, a shell that starts one. */
  boolean isKubelet() {
    var name = program.substring(program.lastIndexOf('/') + 1);
    return name.equals("kubelet") || name.equals("hyperkube");
  }
}
