package io.numaoperator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class TerminalTest {
  @Test
  void coloursAreForTerminalsThatWantThem() {
    assertThat(terminal(true, Map.of("TERM", "xterm")).paint().colour()).isTrue();
    assertThat(terminal(false, Map.of("TERM", "xterm")).paint().colour()).isFalse();
    assertThat(terminal(true, Map.of("NO_COLOR", "1")).paint().colour()).isFalse();
    assertThat(terminal(true, Map.of("NO_COLOR", "")).paint().colour()).isTrue();
    assertThat(terminal(true, Map.of("TERM", "dumb")).paint().colour()).isFalse();
  }

  @Test
  void onlyATerminalHasAWidth() {
    assertThat(terminal(true, Map.of("COLUMNS", "120")).width()).isEqualTo(OptionalInt.of(120));
    assertThat(terminal(false, Map.of("COLUMNS", "120")).width()).isEmpty();
    assertThat(terminal(true, Map.of("COLUMNS", "wide")).width()).isEmpty();
    assertThat(terminal(true, Map.of("COLUMNS", "0")).width()).isEmpty();
  }

  private static Terminal terminal(boolean interactive, Map<String, String> environment) {
    var writer = new PrintWriter(new StringWriter());
    return Terminal.of(writer, writer, interactive, environment);
  }
}
