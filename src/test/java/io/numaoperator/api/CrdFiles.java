package io.numaoperator.api;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceColumnDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes the CRDs in {@code crds/} from the API classes ({@code make crds}), and of them the API
 * reference. fabric8's generator knows no categories and sorts printer columns by path: both are
 * mended here.
 */
final class CrdFiles {
  static final Path DIRECTORY = Path.of("crds");
  private static final List<Class<? extends HasMetadata>> KINDS =
      List.of(NumaPolicy.class, NumaNodeState.class);

  private CrdFiles() {}

  /** File name → content. */
  static Map<String, String> generate() {
    var files = new TreeMap<String, String>();
    for (var kind : KINDS) {
      var crd = crd(kind);
      files.put(crd.getMetadata().getName() + ".yaml", Serialization.asYaml(crd));
    }
    return files;
  }

  private static CustomResourceDefinition crd(Class<? extends HasMetadata> kind) {
    var out = new ByteArrayOutputStream();
    new CRDGenerator()
        .customResourceClasses(kind)
        .forCRDVersions("v1")
        .withOutput(
            new CRDGenerator.CRDOutput<>() {
              @Override
              public OutputStream outputFor(String crdName) {
                return out;
              }

              @Override
              public URI crdURI(String crdName) {
                return URI.create("file:/" + crdName);
              }

              @Override
              public void close() {}
            })
        .generate();
    var crd =
        Serialization.unmarshal(
            out.toString(StandardCharsets.UTF_8), CustomResourceDefinition.class);
    crd.getSpec().getNames().setCategories(List.of("numa"));
    crd.getMetadata().setLabels(Map.of("app.kubernetes.io/part-of", "numa-operator"));
    for (var version : crd.getSpec().getVersions()) {
      version.getAdditionalPrinterColumns().sort(inOrderOfAnnotations(kind));
      // the API server keeps no zero: every comparison with the file would find it missing
      version.getAdditionalPrinterColumns().stream()
          .filter(column -> Integer.valueOf(0).equals(column.getPriority()))
          .forEach(column -> column.setPriority(null));
      if (kind == NumaPolicy.class) {
        // until the operator has looked at it: kstatus takes an object without status as done
        version
            .getSchema()
            .getOpenAPIV3Schema()
            .getProperties()
            .get("status")
            .setDefault(JsonNodeFactory.instance.objectNode().put("observedGeneration", -1));
      }
    }
    return crd;
  }

  private static Comparator<CustomResourceColumnDefinition> inOrderOfAnnotations(Class<?> kind) {
    var names =
        Arrays.stream(kind.getAnnotationsByType(AdditionalPrinterColumn.class))
            .map(AdditionalPrinterColumn::name)
            .toList();
    return Comparator.comparingInt(column -> names.indexOf(column.getName()));
  }

  public static void main(String... args) throws IOException {
    Files.createDirectories(DIRECTORY);
    var files = generate();
    for (var file : files.entrySet()) {
      Files.writeString(DIRECTORY.resolve(file.getKey()), file.getValue());
    }
    Files.writeString(ApiReference.PAGE, ApiReference.page(files.values()));
  }
}
