package io.numaoperator.web;

import io.numaoperator.web.Drawing.Cell;
import io.numaoperator.web.Drawing.Kind;
import io.quarkus.qute.Engine;
import io.quarkus.qute.HtmlEscaper;
import io.quarkus.qute.RawString;
import io.quarkus.qute.ReflectionValueResolver;
import io.quarkus.qute.Template;
import io.quarkus.qute.Variant;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;

/**
 * The HTML document, whole in itself: style and script are in it, and are all that its
 * Content-Security-Policy allows. What comes from the cluster is escaped by the template engine.
 */
final class Pages {
  private static final String HTML = "text/html";

  private final Sheets sheets;
  private final Template template;
  private final String style = resource("page.css");
  private final String script = resource("page.js");

  Pages(ClusterSource cluster) {
    sheets = new Sheets(cluster);
    template =
        Engine.builder()
            .addDefaults()
            .addValueResolver(new ReflectionValueResolver())
            .addResultMapper(new HtmlEscaper(List.of(HTML)))
            .strictRendering(true)
            .removeStandaloneLines(true)
            .build()
            .parse(resource("page.html"), Variant.forContentType(HTML));
  }

  /**
   * A document.
   *
   * @param found false where it says that there is no such node
   * @param tag the same for the same content
   */
  record Page(byte[] html, boolean found, String tag) {}

  /** One kind of cell, explained. */
  public record LegendEntry(String name, Drawing picture) {}

  Page answer(Question question) {
    var answer = sheets.answer(question);
    var html =
        template
            .data("sheet", answer.sheet())
            .data("style", new RawString(style))
            .data("script", new RawString(script))
            .data("byName", question.byName(true).href())
            .data("troubleFirst", question.byName(false).href())
            .data("legend", legend())
            .render()
            .getBytes(StandardCharsets.UTF_8);
    return new Page(html, answer.found(), "\"" + hash(html) + "\"");
  }

  /** Nothing but what is in the document runs, and nothing is fetched but from where it is from. */
  String contentSecurityPolicy() {
    return String.join(
        "; ",
        "default-src 'none'",
        "script-src 'sha256-" + hash(script.getBytes(StandardCharsets.UTF_8)) + "'",
        "style-src 'sha256-" + hash(style.getBytes(StandardCharsets.UTF_8)) + "'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'");
  }

  static String icon() {
    return resource("icon.svg");
  }

  private static List<LegendEntry> legend() {
    return List.of(
        entry("held", Kind.held),
        entry("held by a pod across zones", Kind.cross),
        entry("free", Kind.free),
        entry("kept for the system", Kind.reserved),
        entry("shared by all", Kind.shared),
        entry("hugepages", Kind.huge),
        entry("not known", Kind.unknown));
  }

  private static LegendEntry entry(String name, Kind kind) {
    return new LegendEntry(name, Drawing.cells(List.of(new Cell(0, 0, kind, "")), 12, 12, false));
  }

  private static String resource(String name) {
    try (var stream = Pages.class.getResourceAsStream("/page/" + name)) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String hash(byte[] content) {
    try {
      return Base64.getEncoder()
          .encodeToString(MessageDigest.getInstance("SHA-256").digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
