package io.numaoperator.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.Condition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The page in a real Chromium: script, policy, keyboard, colours, what a screen reader is told. */
class PageBrowserTest {
  /** All that is shown as text, against the nearest background: the least contrast (WCAG 1.4.3). */
  private static final String LEAST_CONTRAST =
      """
      (() => {
        const parse = c => c.match(/[\\d.]+/g).map(Number);
        const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
          .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
          .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
        const ground = e => {
          for (; e; e = e.parentElement) {
            const c = parse(getComputedStyle(e).backgroundColor);
            if (c.length === 3 || c[3] > 0) return c;
          }
          return [255, 255, 255];
        };
        let least = [99, ''];
        for (const e of document.querySelectorAll('body *')) {
          const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
          if (own && e.checkVisibility() && !e.closest('svg, script, style')) {
            const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))];
            const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
            if (ratio < least[0]) least = [ratio, e.outerHTML.slice(0, 120)];
          }
        }
        return least;
      })()
      """;

  private static final String NAMES =
      "[...document.querySelectorAll('.node h3 a')].map(a => a.textContent).join(' ')";

  private static Browser browser;
  private PretendCluster cluster;
  private Served served;

  @BeforeAll
  static void start() {
    browser = new Browser();
  }

  @AfterAll
  static void end() {
    browser.close();
  }

  @BeforeEach
  void serve() {
    cluster = PretendCluster.four();
    served = Served.of(cluster, token -> Access.Answer.Unauthenticated);
    browser.prefer("light");
    browser.size(1280, 900);
    browser.open("about:blank");
    browser.forget();
  }

  @AfterEach
  void stop() {
    served.close();
  }

  private void open(String search) {
    browser.open(served.url() + search);
    browser.forget();
  }

  /** In light and dark, wide and narrow; and the picture that docs/page.md shows. */
  @Test
  void isWithoutComplaintsInLightAndDarkWideAndNarrow() throws IOException {
    for (var scheme : List.of("light", "dark")) {
      for (int width : new int[] {1280, 320}) {
        browser.prefer(scheme);
        browser.size(width, 900);
        for (var search : List.of("", "?node=gpu-4", "?q=none")) {
          browser.open(served.url() + search);
          assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
              .as("%s at %d: scrolls sideways", search, width)
              .isLessThanOrEqualTo(width);
          var least = browser.evaluate(LEAST_CONTRAST);
          assertThat(least.get(0).asDouble()).as("%s %s", scheme, least).isGreaterThan(4.5);
        }
      }
    }
    assertThat(browser.text("getComputedStyle(document.body).backgroundColor"))
        .isEqualTo("rgb(18, 22, 28)");
    assertThat(browser.complaints()).isEmpty();
    assertThat(browser.requests()).isNotEmpty().allMatch(url -> url.startsWith(served.url()));

    browser.prefer("light");
    browser.size(1280, 800);
    browser.open(served.url());
    var picture = Files.createDirectories(Path.of("target")).resolve("page-of-four.png");
    Files.write(picture, browser.screenshot());
    if (Boolean.getBoolean("golden.update")) {
      Files.createDirectories(Path.of("docs/images"));
      Files.copy(picture, Path.of("docs/images/page.png"), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** What would be an attack is stopped by the policy, and this test's eyes see it. */
  @Test
  void aScriptOrStyleThatIsPutInDoesNotRun() {
    open("");
    browser.evaluate(
        """
        document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.bad = 1">');
        const script = document.createElement('script');
        script.textContent = 'window.bad = 2';
        document.body.append(script);
        document.body.setAttribute('style', 'color: red');
        """);
    browser.awaitComplaint("Content Security Policy");
    assertThat(browser.evaluate("window.bad === undefined").asBoolean()).isTrue();
    assertThat(browser.text("getComputedStyle(document.body).color")).isEqualTo("rgb(24, 33, 47)");
  }

  @Test
  void theFilterAnswersWhileOneTypes() {
    open("");
    browser.press("/");
    assertThat(focus()).isEqualTo("q");
    browser.type("embed");
    browser.await(NAMES + " === 'gpu-1 gpu-2'");
    assertThat(browser.text("location.search")).isEqualTo("?q=embed");
    browser.await("document.getElementById('said').textContent === '2 of 4 nodes'");
    assertThat(focus()).as("one can go on typing").isEqualTo("q");

    browser.evaluate("document.getElementById('state-crossing').focus()");
    browser.press("Enter");
    browser.await(NAMES + " === ''");
    assertThat(browser.text("document.querySelector('.notice').textContent"))
        .isEqualTo("No node answers to this filter.");
    browser.evaluate("document.getElementById('clear').click()");
    browser.await(NAMES + " === 'gpu-4 gpu-3 gpu-1 gpu-2'");
    assertThat(browser.text("document.getElementById('q').value")).isEmpty();
    browser.evaluate("document.getElementById('state-crossing').focus()");
    browser.press("Enter");
    browser.await(NAMES + " === 'gpu-4'");
    assertThat(focus()).isEqualTo("state-crossing");
    assertThat(browser.text("document.getElementById('state-crossing').ariaCurrent"))
        .isEqualTo("true");
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void everythingIsReachedByKeyInTheOrderThatItIsRead() {
    open("");
    var order = new ArrayList<String>();
    for (int i = 0; i < 18; i++) {
      browser.press("Tab");
      order.add(
          browser.text(
              "document.activeElement.id || document.activeElement.className"
                  + " || document.activeElement.tagName"));
    }
    assertThat(order)
        .containsExactly(
            "skip",
            "home",
            "q",
            "BUTTON",
            "live",
            "policy-gpu-nodes",
            "state-any",
            "state-crossing",
            "state-not-ready",
            "state-unknown",
            "state-changing",
            "state-ready",
            "order",
            "node-gpu-4-link",
            "node-gpu-3-link",
            "node-gpu-1-link",
            "node-gpu-2-link",
            "BODY");
    browser.evaluate("document.getElementById('node-gpu-3-link').focus()");
    assertThat(browser.text("getComputedStyle(document.activeElement).outlineStyle"))
        .as("one sees where one is")
        .isEqualTo("solid");
  }

  @Test
  void everyNodeHasItsOwnAddress() {
    open("");
    browser.evaluate("document.getElementById('node-gpu-4-link').focus()");
    browser.press("Enter");
    browser.await("document.title === 'gpu-4 – NUMA map'");
    assertThat(browser.text("location.search")).isEqualTo("?node=gpu-4");
    assertThat(browser.text("document.querySelector('tbody').textContent"))
        .contains("train/llm-1-worker-0", "across zones", "4 × nvidia.com/gpu");
    browser.evaluate("history.back()");
    browser.await(NAMES + " === 'gpu-4 gpu-3 gpu-1 gpu-2'");

    open("?node=gpu-3");
    assertThat(browser.text(NAMES)).isEqualTo("gpu-3");
    assertThat(browser.text("document.querySelector('.chain').textContent"))
        .contains("KubeletConfigured", "SchedulerAware", "AlignmentReady");
    assertThat(browser.complaints()).isEmpty();
  }

  /** The accessibility tree is what a screen reader reads from. */
  @Test
  void aScreenReaderIsToldTheSame() {
    open("");
    var told = browser.accessible();
    assertThat(told)
        .contains(
            "search: ",
            "searchbox: Find",
            "main: ",
            "heading: NUMA map of the cluster",
            "navigation: Nodes by state",
            "link: With pods across zones 1",
            "list: Nodes",
            "article: gpu-4",
            "heading: gpu-4",
            "list: Zones of gpu-4",
            "heading: Zone 0",
            "list: Containers across zones",
            "StaticText: 4 across zones, 2 free, 2 kept",
            "StaticText: 4\u00a0GiB held, 8\u00a0GiB free, 4\u00a0GiB kept");
    assertThat(told)
        .as("without a name")
        .doesNotContain("link: ", "button: ", "article: ", "heading: ", "image: ", "img: ");
    assertThat(browser.text("document.documentElement.lang")).isEqualTo("en");
    assertThat(browser.text("document.querySelectorAll('h1').length")).isEqualTo("1");
    assertThat(
            browser
                .evaluate(
                    "(ids => ids.length - new Set(ids).size)"
                        + "([...document.querySelectorAll('[id]')].map(e => e.id))")
                .asInt())
        .as("ids that are there twice")
        .isZero();

    open("?node=gpu-4");
    assertThat(browser.accessible())
        .contains("table: Containers that hold devices or exclusive CPUs", "columnheader: Devices")
        .contains("rowheader: train/llm-1-worker-0", "link: All nodes");
  }

  @Test
  void itKeepsUpToDateAndSaysWhenItCannot() {
    open("");
    browser.evaluate("document.getElementById('node-gpu-1-link').focus()");
    cluster.nodes.getFirst().judged(Condition.Status.Unknown, "AgentSilent", "its agent is silent");
    browser.await("document.querySelector('#node-gpu-1 .reason').textContent === 'AgentSilent'");
    assertThat(focus()).isEqualTo("node-gpu-1-link");
    assertThat(browser.complaints()).isEmpty();
    served.close();
    browser.await("!document.getElementById('stale').hidden");
    assertThat(browser.text("document.getElementById('stale').textContent"))
        .startsWith("The operator does not answer. What is shown is as of ");
  }

  @Test
  void aThousandNodesAreAtAGlanceAndFiftyAtATime() {
    try (var large =
        Served.of(PretendCluster.large(1000), token -> Access.Answer.Unauthenticated)) {
      browser.open(large.url());
      browser.forget();
      System.out.printf(
          "page of 1,000 nodes in Chromium: %s ms from the request to the end of loading, %s"
              + " elements%n",
          browser.text("Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)"),
          browser.text("document.querySelectorAll('*').length"));
      assertThat(browser.evaluate("document.querySelectorAll('.node').length").asInt())
          .isEqualTo(Sheets.PAGE);
      assertThat(browser.evaluate("document.querySelectorAll('.overview a').length").asInt())
          .isEqualTo(1000);
      assertThat(browser.evaluate("document.querySelectorAll('*').length").asInt())
          .isLessThan(10_000);
      browser.evaluate("document.getElementById('page-20').click()");
      browser.await(
          "document.getElementById('found').textContent === '951 to 1,000 of 1,000 nodes'");
      assertThat(browser.text("location.search")).isEqualTo("?page=20");
      browser.evaluate(
          "[...document.querySelectorAll('.overview a')]"
              + ".find(a => a.textContent.startsWith('gpu-0777')).querySelector('path')"
              + ".dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))");
      browser.await(NAMES + " === 'gpu-0777'");
      assertThat(browser.complaints()).isEmpty();
    }
  }

  private String focus() {
    return browser.text("document.activeElement.id");
  }
}
