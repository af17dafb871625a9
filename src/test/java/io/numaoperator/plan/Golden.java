package io.numaoperator.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Rendered objects as files below src/test/resources/plan, so that a change of what is applied
 * shows in review as a change of YAML.
 *
 * <p>How to update them: {@code mvn test -Dtest='*Plan*Test,*Provider*Test' -Dgolden.update=true},
 * then read the diff.
 */
public final class Golden {
  private static final Path DIRECTORY = Path.of("src/test/resources/plan");

  private Golden() {}

  public static void assertMatches(String name, Provision provision) throws IOException {
    assertThat(provision).isInstanceOf(Provision.Objects.class);
    var file = DIRECTORY.resolve(name + ".yaml");
    var yaml = yaml(((Provision.Objects) provision).objects());
    if (Boolean.getBoolean("golden.update")) {
      Files.createDirectories(DIRECTORY);
      Files.writeString(file, yaml);
    }
    assertThat(file).as("see Golden for how to update").content().isEqualTo(yaml);
  }

  public static String yaml(List<HasMetadata> objects) {
    return objects.stream().map(Serialization::asYaml).collect(Collectors.joining());
  }
}
