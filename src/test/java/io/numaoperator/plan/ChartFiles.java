package io.numaoperator.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes the templates of the Helm chart from {@code config/} and {@code crds/} ({@code make
 * chart}): the text of each file, with a value in place of what people set, and around it the
 * condition under which it is wanted. Chart.yaml, the values and _helpers.tpl are written by hand.
 */
final class ChartFiles {
  static final Path CHART = Path.of("charts/numa-operator");

  /** Where its files are made; what is in these folders is made, and nothing else is. */
  static final Path MADE = CHART.resolve("templates");

  private static final Path CONFIG = Path.of("config");
  private static final String IMAGE = "{{ include \"numa-operator.image\" . }}";

  /** Folder of config/ → when its files are wanted; "" is always. */
  static final Map<String, String> FOLDERS =
      Map.of(
          "manager", "",
          "rbac", "",
          "nvidia", ".Values.roles.nvidia",
          "gpu-operator", ".Values.roles.gpuOperator",
          "hami", ".Values.roles.hami",
          "cleanup-failed-pods", ".Values.roles.cleanupFailedPods",
          "prometheus", ".Values.prometheus.enabled",
          "network-policy", ".Values.networkPolicy.enabled");

  /** Those for which something else holds than for their folder. */
  private static final Map<String, String> FILES =
      Map.of(
          "manager/namespace.yaml", ".Values.namespace.create",
          "manager/page_service.yaml", ".Values.page.enabled",
          "rbac/delivery_external.yaml", ".Values.roles.externalDelivery",
          "rbac/delivery_openshift.yaml", ".Values.roles.openShift",
          "rbac/topology_updater_nfd.yaml", ".Values.roles.nfd",
          "rbac/scheduler_builtin.yaml", ".Values.roles.builtInScheduler",
          // the BuiltIn one's kube-scheduler is set up in the same way
          "rbac/scheduler_noderesourcetopologymatch.yaml",
              "or .Values.roles.nodeResourceTopologyMatch .Values.roles.builtInScheduler",
          "rbac/scheduler_assignment.yaml", ".Values.roles.schedulerAssignment",
          "rbac/scheduler_kai.yaml", ".Values.roles.kai");

  private ChartFiles() {}

  /** File name below {@link #MADE} → content. */
  static Map<String, String> generate() throws IOException {
    var made = new TreeMap<String, String>();
    for (var folder : FOLDERS.entrySet()) {
      for (var file : files(CONFIG.resolve(folder.getKey()))) {
        var name = folder.getKey() + "/" + file;
        made.put(
            name,
            when(
                FILES.getOrDefault(name, folder.getValue()),
                withValues(name, escaped(Files.readString(CONFIG.resolve(name))))));
      }
    }
    if (!made.keySet().containsAll(FILES.keySet())) {
      throw new IllegalStateException("not in config/ any more: one of " + FILES.keySet());
    }
    for (var name : files(Path.of("crds"))) {
      made.put(
          "crds/" + name,
          when(
              ".Values.crds.enabled",
              replacedByPattern(
                  escaped(Files.readString(Path.of("crds", name))),
                  "\nmetadata:\n",
                  """

                  metadata:
                    {{- if .Values.crds.keep }}
                    annotations:
                      helm.sh/resource-policy: keep
                    {{- end }}
                  """)));
    }
    return made;
  }

  private static List<String> files(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> !file.equals("kustomization.yaml"))
          .sorted()
          .toList();
    }
  }

  /** Braces that are not ours: those of alerts. */
  private static String escaped(String yaml) {
    return yaml.replace("{{", "{{ \"{{\" }}");
  }

  private static String when(String condition, String yaml) {
    var made = "{{- /* Made of config/ by make chart. */ -}}\n";
    return condition.isEmpty()
        ? made + yaml
        : made + "{{- if " + condition + " }}\n" + yaml + "{{- end }}\n";
  }

  private static String withValues(String name, String yaml) {
    var values = new LinkedHashMap<String, String>();
    switch (name) {
      case "manager/deployment.yaml" -> {
        values.put("\n  replicas: 1\n", "\n  replicas: {{ .Values.replicas }}\n");
        values.put(
            "\n        image: \\S+\n",
            """

                    image: %s
                    {{- with .Values.image.pullPolicy }}
                    imagePullPolicy: {{ . }}
                    {{- end }}
            """
                .formatted(IMAGE));
        values.put(
            "(\n        - name: OPERATOR_IMAGE\n          value:) \\S+\n",
            """
            $1 %s
                    {{- if not .Values.page.enabled }}
                    - name: PAGE_ENABLED
                      value: "false"
                    {{- end }}
            """
                .formatted(IMAGE));
        values.put(
            "\n      priorityClassName: \\S+\n",
            "\n      priorityClassName: {{ .Values.priorityClassName }}\n");
        values.put("\n      nodeSelector:\n(?:        .*\n)+", block(6, "nodeSelector"));
        values.put("\n      tolerations:\n(?:      [- ] .*\n)+", block(6, "tolerations"));
        values.put("\n        resources:\n(?:          .*\n)+", block(8, "resources"));
      }
      case "nvidia/nvidia.yaml" -> values.put(inNamespace("nvidia-device-plugin"), of("nvidia"));
      case "gpu-operator/gpu-operator.yaml" ->
          values.put(inNamespace("gpu-operator"), of("gpuOperator"));
      case "hami/hami.yaml" -> values.put(inNamespace("hami-system"), of("hami"));
      default -> {
        if (name.startsWith("network-policy/") && yaml.contains("port: 6443")) {
          values.put(
              "    - \\{protocol: TCP, port: 443}\n    - \\{protocol: TCP, port: 6443}\n",
              """
                  {{- range .Values.networkPolicy.apiServerPorts }}
                  - {protocol: TCP, port: {{ . }}}
                  {{- end }}
              """);
        }
      }
    }
    var made = yaml;
    for (var value : values.entrySet()) {
      made = replacedByPattern(made, value.getKey(), value.getValue());
    }
    return made;
  }

  private static String block(int indent, String name) {
    return "\n%s%s:\n%s{{- toYaml .Values.%s | nindent %d }}\n"
        .formatted(" ".repeat(indent), name, " ".repeat(indent + 2), name, indent + 2);
  }

  /** In the metadata of its Role and RoleBinding. */
  private static String inNamespace(String namespace) {
    return "\n  namespace: " + namespace + "\n";
  }

  private static String of(String value) {
    return "\n  namespace: {{ .Values.namespaces." + value + " }}\n";
  }

  private static String replacedByPattern(String text, String pattern, String by) {
    var made = text.replaceAll(pattern, by);
    if (made.equals(text)) {
      throw new IllegalStateException("nothing to replace: " + pattern);
    }
    return made;
  }

  public static void main(String... args) throws IOException {
    for (var file : generate().entrySet()) {
      var path = MADE.resolve(file.getKey());
      Files.createDirectories(path.getParent());
      Files.writeString(path, file.getValue());
    }
  }
}
