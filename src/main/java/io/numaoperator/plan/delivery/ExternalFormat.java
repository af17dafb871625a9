package io.numaoperator.plan.delivery;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import io.numaoperator.kubelet.DropIn;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A platform's way of writing down what a kubelet should be set to, ready to paste. */
enum ExternalFormat {
  /** A patch of the machine configuration (talosctl patch machineconfig). */
  TALOS("talos", "yaml", "talosctl -n NODE patch machineconfig --patch @FILE") {
    @Override
    Rendered render(KubeletFragment fragment) {
      var patch = JsonNodeFactory.instance.objectNode();
      patch.withObject("/machine/kubelet").set("extraConfig", tree(fragment));
      return new Rendered(yaml(patch), List.of());
    }
  },
  BOTTLEROCKET("bottlerocket", "toml", "user data of the node group, or apiclient apply < FILE") {
    @Override
    Rendered render(KubeletFragment fragment) {
      return BottlerocketToml.of(fragment);
    }
  },
  /** nodeadm's NodeConfig (Amazon Linux 2023). */
  EKS("eks", "yaml", "user data of the node group, as part application/node.eks.aws") {
    @Override
    Rendered render(KubeletFragment fragment) {
      var config = JsonNodeFactory.instance.objectNode();
      config.put("apiVersion", "node.eks.aws/v1alpha1").put("kind", "NodeConfig");
      config.withObject("/spec/kubelet").set("config", tree(fragment));
      return new Rendered(yaml(config), List.of());
    }
  },
  /** Node system configuration: it reserves by itself, and says less than a kubelet can. */
  GKE("gke", "yaml", "gcloud container node-pools create … --system-config-from-file=FILE") {
    @Override
    Rendered render(KubeletFragment fragment) {
      var pool = JsonNodeFactory.instance.objectNode();
      var kubelet = pool.putObject("kubeletConfig");
      put(kubelet, "cpuManagerPolicy", fragment.cpuManagerPolicy);
      put(kubelet.putObject("memoryManager"), "policy", fragment.memoryManagerPolicy);
      var topology = kubelet.putObject("topologyManager");
      put(topology, "policy", fragment.topologyManagerPolicy);
      put(topology, "scope", fragment.topologyManagerScope);
      return new Rendered(
          yaml(pool),
          leftOut(
              fragment,
              Set.of(
                  "cpuManagerPolicy",
                  "memoryManagerPolicy",
                  "topologyManagerPolicy",
                  "topologyManagerScope")));
    }
  },
  /** Custom node configuration: it says less still. */
  AKS("aks", "json", "az aks nodepool add … --kubelet-config FILE") {
    @Override
    Rendered render(KubeletFragment fragment) {
      var pool = JsonNodeFactory.instance.objectNode();
      put(pool, "cpuManagerPolicy", fragment.cpuManagerPolicy);
      put(pool, "topologyManagerPolicy", fragment.topologyManagerPolicy);
      return new Rendered(
          pool.toPrettyString() + "\n",
          leftOut(fragment, Set.of("cpuManagerPolicy", "topologyManagerPolicy")));
    }
  },
  /** The very file that the agent would write, less its comment. */
  DROP_IN("kubelet", "conf", "copy into the kubelet's --config-dir; see docs/delivery.md") {
    @Override
    Rendered render(KubeletFragment fragment) {
      var file = new String(DropIn.render(fragment), StandardCharsets.UTF_8);
      return new Rendered(file.substring(file.indexOf("apiVersion:")), List.of());
    }
  };

  private static final int HASH_SHOWN = 12;

  private final String prefix;
  private final String extension;
  private final String howTo;

  ExternalFormat(String prefix, String extension, String howTo) {
    this.prefix = prefix;
    this.extension = extension;
    this.howTo = howTo;
  }

  /**
   * What is to be pasted.
   *
   * @param leftOut fields of KubeletConfiguration that the platform has no words for
   */
  record Rendered(String text, List<String> leftOut) {}

  abstract Rendered render(KubeletFragment fragment);

  static ExternalFormat of(Optional<Platform> platform) {
    return platform
        .map(
            known ->
                switch (known) {
                  case Talos -> TALOS;
                  case Bottlerocket -> BOTTLEROCKET;
                  case EKS -> EKS;
                  case GKE -> GKE;
                  case AKS -> AKS;
                  case Kubeadm, K3s, RKE2, OpenShift, Systemd -> DROP_IN;
                })
        .orElse(DROP_IN);
  }

  /** The name of one shape: a platform and a set of settings. */
  String key(String hash) {
    return "%s-%s.%s"
        .formatted(prefix, hash.substring(0, Math.min(HASH_SHOWN, hash.length())), extension);
  }

  String howTo(String file) {
    return howTo.replace("FILE", file);
  }

  private static ObjectNode tree(KubeletFragment fragment) {
    return JsonMapper.builder()
        .serializationInclusion(JsonInclude.Include.NON_NULL)
        .build()
        .valueToTree(fragment);
  }

  /**
   * The fields that a fragment sets beside these; what is cleared or enforced follows from them.
   */
  static List<String> leftOut(KubeletFragment fragment, Set<String> said) {
    return tree(fragment).properties().stream()
        .filter(field -> !field.getValue().isTextual() || !field.getValue().asText().isEmpty())
        .map(Map.Entry::getKey)
        .filter(field -> !said.contains(field) && !field.equals("enforceNodeAllocatable"))
        .toList();
  }

  private static void put(ObjectNode target, String name, String value) {
    if (value != null) {
      target.put(name, value);
    }
  }

  private static String yaml(ObjectNode tree) {
    try {
      return YAMLMapper.builder()
          .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
          .enable(YAMLGenerator.Feature.INDENT_ARRAYS_WITH_INDICATOR)
          .build()
          .writeValueAsString(tree);
    } catch (IOException intoMemory) {
      throw new UncheckedIOException(intoMemory);
    }
  }
}
