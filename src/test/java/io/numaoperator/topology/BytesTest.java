package io.numaoperator.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BytesTest {
  @ParameterizedTest
  @CsvSource({
    "0,0",
    "1,1",
    "4Gi,4294967296",
    "100Mi,104857600",
    "24731708Ki,25325268992",
    "1.5Gi,1610612736",
    ".5Ki,512",
    "5.,5",
    "12e6,12000000",
    "12E6,12000000",
    "1.2e1,12",
    "1E,1000000000000000000",
    "7Ei,8070450532247928832",
    "4G,4000000000",
    "3k,3000",
    "2T,2000000000000",
    "2P,2000000000000000",
    "1Pi,1125899906842624",
    "4096000m,4096",
    "1000000000n,1",
    "5000000u,5",
    "+5,5",
    "9223372036854775807,9223372036854775807",
    "00012,12"
  })
  void readsExactly(String quantity, long bytes) {
    assertThat(Bytes.parse(quantity)).hasValue(bytes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-1",
        "1.5",
        "100m",
        "1n",
        ".",
        "Gi",
        "4GB",
        "4gi",
        "4 Gi",
        "1e",
        "1e-1",
        "8Ei",
        "9223372036854775808",
        "1e99",
        "1e999999999",
        "0x10",
        "NaN",
        "1Ki2",
        "K",
        "5%",
        "١"
      })
  void refusesWhatIsNotAWholeNumberOfBytes(String quantity) {
    assertThat(Bytes.parse(quantity)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "0,0",
    "1,1",
    "1023,1023",
    "1024,1Ki",
    "8485076992,8092Mi",
    "8589934592,8Gi",
    "1536,1536",
    "1610612736,1536Mi",
    "1610612737,1610612737",
    "1152921504606846976,1Ei",
    "9223372036854775807,9223372036854775807"
  })
  void writesTheLargestWholeUnit(long bytes, String quantity) {
    assertThat(Bytes.format(bytes)).isEqualTo(quantity);
    assertThat(Bytes.parse(quantity)).hasValue(bytes);
  }

  /** The client library's own quantities stand for Kubernetes' here; they are written apart. */
  @Test
  void agreesWithTheClientLibrary() {
    var random = new Random(11);
    String[] units = {"", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "m", "e3"};
    int whole = 0;
    for (int i = 0; i < 2000; i++) {
      var number =
          random.nextInt(100_000) + (random.nextBoolean() ? "" : "." + random.nextInt(1000));
      var quantity = number + units[random.nextInt(units.length)];
      var exact = Quantity.getAmountInBytes(new Quantity(quantity));
      boolean isWhole = exact.stripTrailingZeros().scale() <= 0;
      whole += isWhole ? 1 : 0;
      assertThat(Bytes.parse(quantity))
          .as(quantity)
          .isEqualTo(isWhole ? OptionalLong.of(exact.longValueExact()) : OptionalLong.empty());
      if (isWhole) {
        assertThat(Quantity.getAmountInBytes(new Quantity(Bytes.format(exact.longValueExact()))))
            .isEqualByComparingTo(exact);
      }
    }
    assertThat(BigDecimal.valueOf(whole))
        .isBetween(BigDecimal.valueOf(500), BigDecimal.valueOf(1900));
  }

  @Test
  void sumsStopAtInt64() {
    assertThat(Bytes.sum(1, 2, 3)).hasValue(6);
    assertThat(Bytes.sum(Long.MAX_VALUE, 1)).isEmpty();
  }

  @Test
  void describesOddAmountsWithTheirSize() {
    assertThat(Bytes.describe(8092 * Bytes.MI)).isEqualTo("8092Mi");
    assertThat(Bytes.describe(462967885)).isEqualTo("462967885 bytes (about 441Mi)");
    assertThat(Bytes.describe(0)).isEqualTo("0");
  }
}
