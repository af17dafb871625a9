package io.numaoperator.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.Condition;
import io.numaoperator.topology.TestMachine;
import io.numaoperator.web.Drawing.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class PagesTest {
  private static final String HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>";

  @Test
  void whatComesFromTheClusterIsTextWhereverItStands() {
    var cluster = new PretendCluster();
    var node = new PretendNode(HOSTILE, TestMachine.zones(2), 2);
    node.pod("train/" + HOSTILE, 2, 2, 2, 0, 1).judged(Condition.Status.False, HOSTILE, HOSTILE);
    node.state.getSpec().policy = HOSTILE;
    node.state.getStatus().inventory.zones.getFirst().devices.getFirst().resource = HOSTILE;
    node.state.getStatus().agentError = HOSTILE;
    node.state.getStatus().effective.settings.topologyManagerPolicy = HOSTILE;
    node.state.getStatus().containers.placed.getFirst().container = HOSTILE;
    cluster.nodes.add(node);
    cluster.policy(HOSTILE, "Enforce", HOSTILE, HOSTILE, 0, 1);
    for (var question :
        List.of(
            question("q", HOSTILE),
            question("q", "alert"),
            question("policy", HOSTILE),
            question("node", HOSTILE),
            question("node", HOSTILE + HOSTILE))) {
      var html = html(cluster, question);
      assertThat(html).contains("&lt;script&gt;alert(1)");
      // but for the page's own script, of which there is one
      assertThat(html.split("<script", -1)).hasSize(2);
      assertThat(html).doesNotContain("<img", "\"'>");
      assertThat(html.replaceAll("\"[^\"]*\"", "")).doesNotContainPattern("<[^>]*\\son[a-z]+=");
    }
  }

  @Test
  void nothingIsFetchedFromElsewhere() {
    var html = html(PretendCluster.large(120), Question.EVERYTHING);
    assertThat(html).doesNotContain("http:", "https:", "@import", "javascript:");
    var sources = Pattern.compile("(?:src|href|action)=\"([^\"]*)\"").matcher(html);
    while (sources.find()) {
      assertThat(sources.group(1)).matches("[?#].*|icon\\.svg");
    }
    // the policy forbids them
    assertThat(html).doesNotContainPattern("<[^>]*\\sstyle=");
  }

  @Test
  void everyWordOfTheFilterMustBeThereAndStatesAreCountedForIt() {
    var cluster = PretendCluster.four();
    assertThat(names(cluster, Question.EVERYTHING))
        .as("trouble first")
        .containsExactly("gpu-4", "gpu-3", "gpu-1", "gpu-2");
    assertThat(names(cluster, question("order", "name")))
        .containsExactly("gpu-1", "gpu-2", "gpu-3", "gpu-4");
    assertThat(names(cluster, question("q", "EMBED"))).containsExactly("gpu-1", "gpu-2");
    assertThat(names(cluster, question("q", "embed llm"))).containsExactly("gpu-1");
    assertThat(names(cluster, question("q", "updating"))).containsExactly("gpu-3");
    assertThat(names(cluster, question("state", "crossing"))).containsExactly("gpu-4");
    assertThat(names(cluster, question("state", "ready"))).containsExactly("gpu-1", "gpu-2");
    assertThat(names(cluster, question("policy", "other"))).isEmpty();
    assertThat(names(cluster, question("node", "gpu-3"))).containsExactly("gpu-3");
    var sheet = sheet(cluster, question("q", "embed"));
    assertThat(sheet.chips())
        .extracting(chip -> chip.word() + "=" + chip.count())
        .containsExactly("=2", "crossing=0", "not-ready=0", "unknown=0", "changing=0", "ready=2");
    assertThat(sheet.found()).isEqualTo("2 of 4 nodes");
  }

  @Test
  void whatIsNotUnderstoodIsAsIfNotAsked() {
    assertThat(question("state", "nonsense")).isEqualTo(Question.EVERYTHING);
    assertThat(question("page", "-1")).isEqualTo(Question.EVERYTHING);
    assertThat(question("page", "99999999999")).isEqualTo(Question.EVERYTHING);
    assertThat(question("q", "x".repeat(5000)).text()).hasSize(256);
    assertThat(sheet(PretendCluster.large(60), question("page", "9")).found())
        .isEqualTo("51 to 60 of 60 nodes");
  }

  @Test
  void aQuestionIsTheSameAfterItWasAnAddress() {
    var question = new Question("a&b =?#é", Standing.Crossing, "p/1", "", true, 3);
    Map<String, String> parameters =
        Arrays.stream(question.href().substring(1).split("&", -1))
            .map(part -> part.split("=", 2))
            .collect(
                Collectors.toMap(
                    part -> part[0], part -> URLDecoder.decode(part[1], StandardCharsets.UTF_8)));
    assertThat(Question.of(name -> Optional.ofNullable(parameters.get(name)))).isEqualTo(question);
  }

  @Test
  void aNodeThatIsNotThereIsSaidSo() {
    var page = new Pages(PretendCluster.four()).answer(question("node", "gpu-9"));
    assertThat(page.found()).isFalse();
    assertThat(new String(page.html(), StandardCharsets.UTF_8))
        .contains("No policy has a node of this name.");
  }

  @Test
  void aClusterWithoutPolicyTellsWhatToDo() {
    assertThat(html(new PretendCluster(), Question.EVERYTHING))
        .contains("config/samples/observe.yaml");
  }

  /** A picture for the eye, and the same numbers in words for the ear. */
  @Test
  void everyCpuAndGpuIsDrawnAndTold() {
    var row = sheet(PretendCluster.four(), question("node", "gpu-4")).nodes().getFirst();
    assertThat(row.crossing())
        .containsExactly("train/llm-1-worker-0 (main): CPUs, memory and devices on zones 0 and 1");
    var zone = row.zones().getFirst();
    assertThat(zone.resources())
        .extracting(resource -> resource.name() + ": " + resource.words())
        .containsExactly(
            "CPU: 4 across zones, 2 free, 2 kept",
            "GPU: 2 across zones, 2 free",
            "Memory: 4\u00a0GiB held, 8\u00a0GiB free, 4\u00a0GiB kept");
    var cpus = zone.resources().getFirst().picture().shapes();
    assertThat(cpus).filteredOn(s -> s.kind().equals(Kind.cross.name())).hasSize(4);
    assertThat(cpus).filteredOn(s -> s.kind().equals(Kind.reserved.name())).hasSize(2);
    assertThat(cpus).filteredOn(s -> s.kind().equals(Kind.free.name())).hasSize(2);
    assertThat(cpus).filteredOn(s -> s.kind().equals("mark")).hasSize(1);
    assertThat(cpus)
        .anyMatch(
            s ->
                s.title()
                    .equals("CPU 1: held by train/llm-1-worker-0, container main, across zones"));
  }

  @Test
  void whatNobodyPinsIsSharedAndNotFree() {
    var cluster = new PretendCluster();
    cluster.nodes.add(new PretendNode("plain", TestMachine.zones(1), 0).unmanaged());
    var zone = sheet(cluster, Question.EVERYTHING).nodes().getFirst().zones().getFirst();
    assertThat(zone.resources())
        .extracting(resource -> resource.name() + ": " + resource.words())
        .containsExactly("CPU: 8 shared", "Memory: 16\u00a0GiB, not pinned or not known");
    assertThat(zone.resources())
        .allSatisfy(
            resource ->
                assertThat(resource.picture().shapes())
                    .noneMatch(shape -> shape.kind().equals(Kind.free.name())));
  }

  /** Limits with room; the figures are printed. */
  @Test
  void aThousandNodesAreNoBurden() throws IOException {
    var pages = new Pages(PretendCluster.large(1000));
    var first = pages.answer(Question.EVERYTHING); // warm
    var rounds = 5;
    // of this thread: how busy others keep the machine is not what is asked
    var cpu = ManagementFactory.getThreadMXBean();
    long since = cpu.getCurrentThreadCpuTime();
    for (int i = 0; i < rounds; i++) {
      assertThat(pages.answer(Question.EVERYTHING).tag()).isEqualTo(first.tag());
    }
    var each = Duration.ofNanos((cpu.getCurrentThreadCpuTime() - since) / rounds);
    var zipped = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(zipped)) {
      gzip.write(first.html());
    }
    System.out.printf(
        "page of 1,000 nodes of 128 CPUs and 8 GPUs: made in %d ms of CPU, %d KiB, %d KiB gzipped%n",
        each.toMillis(), first.html().length >> 10, zipped.size() >> 10);
    assertThat(each).isLessThan(Duration.ofSeconds(1));
    assertThat(first.html().length).isLessThan(500 << 10);
    assertThat(zipped.size()).isLessThan(60 << 10);
  }

  private static Question question(String name, String value) {
    return Question.of(asked -> asked.equals(name) ? Optional.of(value) : Optional.empty());
  }

  private static String html(PretendCluster cluster, Question question) {
    return new String(new Pages(cluster).answer(question).html(), StandardCharsets.UTF_8);
  }

  private static Sheet sheet(PretendCluster cluster, Question question) {
    return new Sheets(cluster).answer(question).sheet();
  }

  private static List<String> names(PretendCluster cluster, Question question) {
    return sheet(cluster, question).nodes().stream().map(Sheet.NodeRow::name).toList();
  }
}
