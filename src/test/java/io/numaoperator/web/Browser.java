package io.numaoperator.web;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * A real Chromium (Debian's package chromium) with one tab, by its DevTools protocol
 * (chromedevtools.github.io/devtools-protocol). Patience is long: two busy cores have to do.
 */
final class Browser implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final String PROGRAM = "chromium";

  private final JsonMapper json = new JsonMapper();
  private final AtomicInteger numbers = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
  private final List<String> complaints = new CopyOnWriteArrayList<>();
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final Path profile;
  private final Process process;
  private final HttpClient http = HttpClient.newHttpClient();
  private final WebSocket socket;

  Browser() {
    try {
      profile = Files.createTempDirectory("browser");
      process =
          new ProcessBuilder(
                  PROGRAM,
                  "--headless=new",
                  "--no-sandbox", // as root there is no other way
                  "--disable-gpu",
                  "--disable-dev-shm-usage",
                  "--disable-background-networking",
                  "--disable-component-update",
                  "--disable-extensions",
                  "--no-first-run",
                  "--hide-scrollbars",
                  "--force-color-profile=srgb",
                  "--remote-debugging-port=0",
                  "--user-data-dir=" + profile,
                  "about:blank")
              .redirectErrorStream(true)
              .redirectOutput(profile.resolve("log").toFile())
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(
          "these tests need Debian's package chromium: 'make test' installs it", e);
    }
    socket =
        http.newWebSocketBuilder()
            .buildAsync(URI.create(tab()), new Listener())
            .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
            .join();
    for (var domain : List.of("Page", "Runtime", "Log", "Network", "Accessibility", "DOM")) {
      ask(domain + ".enable", Map.of());
    }
  }

  /** The tab's address; the browser writes its port into its profile. */
  private String tab() {
    var portFile = profile.resolve("DevToolsActivePort");
    try {
      Awaitility.await("chromium's port")
          .atMost(PATIENCE)
          .until(() -> Files.exists(portFile) && Files.readAllLines(portFile).size() > 1);
      var port = Files.readAllLines(portFile).getFirst();
      return Awaitility.await("chromium's tab")
          .atMost(PATIENCE)
          .ignoreExceptions()
          .until(
              () -> {
                var targets =
                    json.readTree(URI.create("http://127.0.0.1:" + port + "/json").toURL());
                for (var target : targets) {
                  if (target.path("type").asText().equals("page")) {
                    return target.path("webSocketDebuggerUrl").asText();
                  }
                }
                return "";
              },
              url -> !url.isEmpty());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private final class Listener implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
      text.append(part);
      if (last) {
        received(text.toString());
        text.setLength(0);
      }
      return WebSocket.Listener.super.onText(from, part, last);
    }
  }

  private void received(String message) {
    JsonNode told;
    try {
      told = json.readTree(message);
    } catch (IOException e) {
      complaints.add("unreadable: " + message);
      return;
    }
    if (told.has("id")) {
      answers.remove(told.path("id").asInt()).complete(told);
      return;
    }
    var about = told.path("params");
    switch (told.path("method").asText()) {
      case "Log.entryAdded" -> {
        var entry = about.path("entry");
        if (!entry.path("level").asText().equals("info")) {
          complaints.add(entry.path("source").asText() + ": " + entry.path("text").asText());
        }
      }
      case "Runtime.exceptionThrown" ->
          complaints.add("exception: " + about.path("exceptionDetails"));
      case "Runtime.consoleAPICalled" -> complaints.add("console: " + about.path("args"));
      case "Network.requestWillBeSent" -> requests.add(about.path("request").path("url").asText());
      default -> {}
    }
  }

  JsonNode ask(String method, Map<String, ?> parameters) {
    int number = numbers.incrementAndGet();
    var answer = new CompletableFuture<JsonNode>();
    answers.put(number, answer);
    ObjectNode question = json.createObjectNode().put("id", number).put("method", method);
    question.set("params", json.valueToTree(parameters));
    socket.sendText(question.toString(), true).join();
    try {
      var told = answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      if (told.has("error")) {
        throw new IllegalStateException(method + ": " + told.path("error"));
      }
      return told.path("result");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException(method, e);
    }
  }

  /** Returns when the document and its script are there. */
  void open(String url) {
    ask("Page.navigate", Map.of("url", url));
    Awaitility.await(url)
        .atMost(PATIENCE)
        .until(
            () -> evaluate("document.readyState === 'complete' && location.href").asText(),
            url::equals);
  }

  /** The value of an expression, or of the promise that it is. */
  JsonNode evaluate(String expression) {
    var result =
        ask(
            "Runtime.evaluate",
            Map.of("expression", expression, "returnByValue", true, "awaitPromise", true));
    if (result.has("exceptionDetails")) {
      throw new IllegalStateException(expression + ": " + result.path("exceptionDetails"));
    }
    return result.path("result").path("value");
  }

  String text(String expression) {
    return evaluate(expression).asText();
  }

  void await(String condition) {
    Awaitility.await(condition).atMost(PATIENCE).until(() -> evaluate(condition).asBoolean());
  }

  /** A key, by its name in DOM (Tab, Enter), or a character. */
  void press(String key) {
    var text =
        switch (key) {
          case "Enter" -> "\r";
          case "Tab" -> "";
          default -> key;
        };
    int code =
        switch (key) {
          case "Enter" -> 13;
          case "Tab" -> 9;
          default -> 0;
        };
    ask(
        "Input.dispatchKeyEvent",
        Map.of(
            "type",
            text.isEmpty() ? "rawKeyDown" : "keyDown",
            "key",
            key,
            "text",
            text,
            "windowsVirtualKeyCode",
            code));
    ask(
        "Input.dispatchKeyEvent",
        Map.of("type", "keyUp", "key", key, "windowsVirtualKeyCode", code));
  }

  void type(String text) {
    ask("Input.insertText", Map.of("text", text));
  }

  /**
   * @param scheme light or dark
   */
  void prefer(String scheme) {
    ask(
        "Emulation.setEmulatedMedia",
        Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
  }

  void size(int width, int height) {
    ask(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
  }

  byte[] screenshot() {
    return Base64.getDecoder()
        .decode(ask("Page.captureScreenshot", Map.of("format", "png")).path("data").asText());
  }

  /** What assistive technology is told: role and name of each node that is not ignored. */
  List<String> accessible() {
    var nodes = ask("Accessibility.getFullAXTree", Map.of()).path("nodes");
    return Stream.iterate(0, i -> i < nodes.size(), i -> i + 1)
        .map(nodes::get)
        .filter(node -> !node.path("ignored").asBoolean())
        .map(
            node ->
                node.path("role").path("value").asText()
                    + ": "
                    + node.path("name").path("value").asText())
        .toList();
  }

  /** Errors, exceptions, violations of the Content-Security-Policy, and what the console shows. */
  List<String> complaints() {
    return List.copyOf(complaints);
  }

  /** Waits for one. */
  void awaitComplaint(String words) {
    Awaitility.await(words)
        .atMost(PATIENCE)
        .until(() -> complaints.stream().anyMatch(complaint -> complaint.contains(words)));
  }

  /** Complaints and requests from here on. */
  void forget() {
    complaints.clear();
    requests.clear();
  }

  /** The addresses of all that was fetched. */
  List<String> requests() {
    return List.copyOf(requests);
  }

  @Override
  public void close() {
    socket.abort();
    http.shutdownNow();
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly().onExit().join();
    try (var files = Files.walk(profile)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException | UncheckedIOException e) {
      profile.toFile().deleteOnExit();
    }
  }
}
