package io.numaoperator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The files of the project, without git: what is made is in directories of its own. */
final class Project {
  private static final Set<String> MADE = Set.of(".git", "target", ".lab", "dist", ".idea");

  private Project() {}

  /** Relative to the project's root, sorted. */
  static Stream<Path> files() {
    var root = Path.of("");
    List<Path> files = new ArrayList<>();
    try {
      Files.walkFileTree(
          root,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes a) {
              // a directory dist may also be a source: src/main/dist
              return directory.getNameCount() == 1 && MADE.contains(directory.toString())
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes a) {
              if (a.isRegularFile()
                  && !MADE.contains(
                      file.toString())) { // links of the guest's disk lead nowhere here
                files.add(file);
              }
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files.stream().sorted();
  }
}
