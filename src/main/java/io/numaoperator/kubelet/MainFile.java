package io.numaoperator.kubelet;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.KubeletFragment;
import java.io.IOException;
import java.util.List;

/**
 * The kubelet's --config file with a fragment in it, for kubelets that merge drop-ins unreliably:
 * what a drop-in would do to it is done in the file itself.
 */
public final class MainFile {
  private static final String HEADER =
      """
      # Edited by the NUMA Operator (numaoperator.io), since this kubelet merges drop-ins unreliably.
      # Edits of its fields are undone. The file as its owner wrote it: /var/lib/numaoperator/main-file.original
      """;

  private MainFile() {}

  /**
   * The new content. JSON stays JSON; YAML loses its comments and its order of lines.
   *
   * @param owners the file as its owner wrote it
   * @throws IOException if that is not a KubeletConfiguration
   */
  public static byte[] with(byte[] owners, KubeletFragment fragment) throws IOException {
    JsonNode tree = new YAMLMapper().readTree(owners);
    if (!tree.path("kind").asText().equals(DropIn.KIND)) {
      throw new IOException("the kubelet's main file is no " + DropIn.KIND);
    }
    var patch = (ObjectNode) new YAMLMapper().readTree(DropIn.render(fragment));
    patch.remove(List.of("apiVersion", "kind"));
    var merged = Merge.patch(tree, patch);
    if (new String(owners, UTF_8).stripLeading().startsWith("{")) {
      return (merged.toPrettyString() + "\n").getBytes(UTF_8);
    }
    var yaml =
        YAMLMapper.builder()
            .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
            .build()
            .writeValueAsString(merged);
    return (HEADER + yaml).getBytes(UTF_8);
  }
}
