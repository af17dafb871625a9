package io.numaoperator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the launcher with a stand-in for java that prints its own path and arguments. */
class LauncherTest {
  private static final String QUIET =
      "--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow";

  @TempDir Path directory;
  private Path home;
  private Path java;

  @BeforeEach
  void install() throws IOException {
    // blanks in the path must not matter
    home = Files.createDirectories(directory.toRealPath().resolve("app home"));
    Files.createDirectories(home.resolve("bin"));
    Files.copy(Path.of("src/main/dist/bin/numa-operator"), launcher());
    executable(launcher());
    Files.writeString(home.resolve("agent.classpath"), "lib/main/a.jar\napp/b.jar\n");
    Files.writeString(home.resolve("cli.classpath"), "lib/main/c.jar\napp/b.jar\n");
    java = fakeJava(directory.toRealPath().resolve("jdk"));
  }

  @Test
  void operatorIsTheDefault() throws Exception {
    var expected =
        List.of(
            java.toString(),
            "-Dsun.net.httpserver.nodelay=true",
            "-jar",
            home + "/quarkus-app/quarkus-run.jar");
    assertThat(withoutOptions(run(Map.of()))).isEqualTo(expected);
    assertThat(withoutOptions(run(Map.of(), "operator"))).isEqualTo(expected);
  }

  @Test
  void agentIsAPlainMainWithASmallHeap() throws Exception {
    var output = run(Map.of(), "agent", "--once");
    assertThat(withoutOptions(output))
        .containsExactly(
            java.toString(),
            "-cp",
            "H/quarkus-app/lib/main/a.jar:H/quarkus-app/app/b.jar".replace("H", home.toString()),
            "io.numaoperator.agent.AgentMain",
            "--once");
    assertThat(output).contains("-XX:+UseSerialGC", "-Xmx24m");
  }

  @Test
  void aProbeIsAPlainMainWithTheAgentsClassPath() throws Exception {
    var output = run(Map.of(), "probe", "--repeats", "3");
    assertThat(withoutOptions(output))
        .containsExactly(
            java.toString(),
            "-cp",
            "H/quarkus-app/lib/main/a.jar:H/quarkus-app/app/b.jar".replace("H", home.toString()),
            "io.numaoperator.probe.ProbeMain",
            "--repeats",
            "3");
    assertThat(output).noneMatch(word -> word.startsWith("-XX:TieredStop"));
  }

  /** The image's; they are of the Java that is beside them, and of no other. */
  @Test
  void cachesOfClassesAreUsedWithTheBundledJavaOnly() throws Exception {
    Files.writeString(home.resolve("operator.classpath"), "quarkus/t.jar\nlib/main/d.jar\n");
    Files.createFile(home.resolve("operator.aot"));
    Files.createFile(home.resolve("agent.aot"));
    var bundled = Map.of("JAVA_HOME", "");
    fakeJava(home.resolve("jre"));
    assertThat(run(bundled))
        .contains(
            "-XX:AOTCache=" + home + "/operator.aot",
            "-XX:ArchiveRelocationMode=0",
            "-XX:-AOTAdapterCaching", // machine code of the CPU that made the cache
            "-XX:-AOTStubCaching",
            "H/quarkus-app/quarkus/t.jar:H/quarkus-app/lib/main/d.jar"
                .replace("H", home.toString()))
        .endsWith("io.quarkus.runner.GeneratedMain");
    assertThat(run(bundled, "agent"))
        .contains(
            "-XX:AOTCache=" + home + "/agent.aot", "-XX:-AOTAdapterCaching", "-XX:-AOTStubCaching");
    for (var program : List.of("operator", "agent")) {
      assertThat(run(Map.of(), program)).noneMatch(word -> word.contains("AOTCache"));
    }
  }

  @Test
  void anUnknownCommandIsToldAndFails() throws Exception {
    var process =
        new ProcessBuilder(launcher().toString(), "explode").redirectErrorStream(true).start();
    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .contains("unknown command 'explode'");
    assertThat(process.waitFor()).isEqualTo(2);
  }

  @Test
  void optionsCanBeReplacedAndEmptied() throws Exception {
    assertThat(run(Map.of("NUMA_AGENT_JAVA_OPTIONS", "-Xmx99m -Dx=y"), "agent"))
        .contains("-Xmx99m", "-Dx=y")
        .doesNotContain("-Xmx24m");
    assertThat(run(Map.of("NUMA_OPERATOR_JAVA_OPTIONS", ""), "operator"))
        .noneMatch(word -> word.startsWith("-XX"));
  }

  @Test
  void javaComesFromJavaHomeThenTheBundledOneThenThePath() throws Exception {
    var bundled = fakeJava(home.resolve("jre"));
    assertThat(run(Map.of())).first().isEqualTo(java.toString());
    assertThat(run(Map.of("JAVA_HOME", ""))).first().isEqualTo(bundled.toString());
    assertThat(run(Map.of("JAVA_HOME", "/no/such/jdk"))).first().isEqualTo(bundled.toString());
    Files.delete(bundled);
    var path = java.getParent() + ":" + System.getenv("PATH");
    assertThat(run(Map.of("JAVA_HOME", "", "PATH", path))).first().isEqualTo(java.toString());
  }

  @Test
  void aLinkFindsTheApplication() throws Exception {
    var link = directory.resolve("numa");
    Files.createSymbolicLink(link, launcher());
    assertThat(run(link, Map.of(), "operator")).contains(home + "/quarkus-app/quarkus-run.jar");
  }

  /** kubectl calls a program of that name; krew makes a link to it elsewhere. */
  @Test
  void calledKubectlNumaItIsTheCommandLine() throws Exception {
    var link = Files.createSymbolicLink(home.resolve("bin/kubectl-numa"), Path.of("numa-operator"));
    var krews = Files.createSymbolicLink(directory.resolve("kubectl-numa"), link);
    for (var program : List.of(link, krews)) {
      assertThat(withoutOptions(run(program, Map.of(), "map", "gpu-1")))
          .containsExactly(
              java.toString(),
              "-Dnuma.terminal=false",
              "-cp",
              "H/quarkus-app/lib/main/c.jar:H/quarkus-app/app/b.jar".replace("H", home.toString()),
              "io.numaoperator.cli.KubectlNuma",
              "map",
              "gpu-1");
    }
    assertThat(withoutOptions(run(Map.of(), "cli", "status")))
        .endsWith("io.numaoperator.cli.KubectlNuma", "status");
  }

  @Test
  void aJavaThatIsTooOldIsTold() throws Exception {
    Files.writeString(java.getParent().getParent().resolve("release"), "JAVA_VERSION=\"21.0.8\"\n");
    var builder = new ProcessBuilder(launcher().toString(), "cli").redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", java.getParent().getParent().toString());
    var process = builder.start();
    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .contains("is Java 21, and 25 is needed: set JAVA_HOME");
    assertThat(process.waitFor()).isEqualTo(127);
    Files.writeString(java.getParent().getParent().resolve("release"), "JAVA_VERSION=\"25.0.1\"\n");
    assertThat(run(Map.of())).contains("-jar");
  }

  /** As kubectl asks for completions: words so far, the last of them unfinished. */
  @Test
  void completionsAreCommandsNodesAndPods() throws Exception {
    var bin = Files.createDirectories(directory.resolve("path"));
    var kubectl = bin.resolve("kubectl");
    Files.writeString(kubectl, "#!/bin/sh\nprintf '%s\\n' \"$2/x-1\" \"$2/x-2\"\n");
    executable(kubectl);
    var complete = Path.of("src/main/dist/bin/kubectl_complete-numa").toAbsolutePath();
    var path = Map.of("PATH", bin + ":" + System.getenv("PATH"));
    assertThat(run(complete, path, "m")).contains("map\tone node drawn, or all", ":4");
    assertThat(run(complete, path, "probe", "")).containsExactly("x-1", "x-2", ":4");
    assertThat(run(complete, path, "map", "")).containsExactly("x-1", "x-2", ":4");
    assertThat(run(complete, path, "explain", "pod/")).containsExactly("pod/x-1", "pod/x-2", ":4");
    assertThat(run(complete, path, "status", "--")).contains("--watch", "--context");
  }

  private Path launcher() {
    return home.resolve("bin/numa-operator");
  }

  private static Path fakeJava(Path jdk) throws IOException {
    var java = jdk.resolve("bin/java");
    Files.createDirectories(java.getParent());
    Files.writeString(java, "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\"\n");
    executable(java);
    return java;
  }

  private static void executable(Path file) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private static List<String> withoutOptions(List<String> output) {
    assertThat(String.join(" ", output)).contains(QUIET);
    return output.stream().filter(word -> !word.startsWith("-X") && !QUIET.contains(word)).toList();
  }

  private List<String> run(Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    return run(launcher(), environment, arguments);
  }

  private List<String> run(Path program, Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of(program.toString()));
    command.addAll(List.of(arguments));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("APP_HOME");
    builder.environment().put("JAVA_HOME", java.getParent().getParent().toString());
    builder.environment().putAll(environment);
    var process = builder.start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output.lines().toList();
  }
}
