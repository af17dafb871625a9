package io.numaoperator.rbac;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The permissions that the labs cannot show in use, each with why it is needed all the same: {@code
 * ROLE: PERMISSION # WHY}, where an asterisk as permission stands for the whole role.
 *
 * @param reasons entry → why
 */
record Exemptions(Map<String, String> reasons) {
  private static final Path FILE = Path.of("src/test/resources/rbac/not-seen.txt");

  static Exemptions read() {
    try {
      return of(Files.readAllLines(FILE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Exemptions of(List<String> lines) {
    var reasons = new TreeMap<String, String>();
    for (var line : lines) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      var parts = line.split(" # ", 2);
      if (parts.length < 2 || parts[1].isBlank()) {
        throw new IllegalArgumentException("no reason: " + line);
      }
      reasons.put(parts[0].strip(), parts[1].strip());
    }
    return new Exemptions(reasons);
  }

  /** Those that are to go from the roles, or to be listed with a reason. */
  Set<String> notExempt(Set<Permission> unused) {
    return unused.stream()
        .filter(p -> !reasons.containsKey(p.toString()) && !reasons.containsKey(whole(p)))
        .map(Permission::toString)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Entries that are not needed: what they name is in no role, or is used. */
  Set<String> superfluous(Set<Permission> unused) {
    var needed =
        unused.stream()
            .flatMap(p -> List.of(p.toString(), whole(p)).stream())
            .collect(Collectors.toSet());
    return reasons.keySet().stream()
        .filter(entry -> !reasons.get(entry).startsWith("sometimes"))
        .filter(entry -> !needed.contains(entry))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String whole(Permission permission) {
    return permission.role() + ": *";
  }
}
