package io.numaoperator.lab;

import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * All that a cluster holds, so that what comes and goes can be compared.
 *
 * @param objects of every kind that the API server lists but Events, which expire: {@code
 *     apiVersion/Kind namespace/name} → what of it is not its status or spec of now. Of a Node also
 *     what others write into its spec and metadata
 * @param files of the nodes, that configure something or that are kept: {@code node path} → hash
 */
record Traces(SortedMap<String, String> objects, SortedMap<String, String> files) {
  private static final String LINE =
      "{range .items[*]}{.apiVersion}/{.kind} {.metadata.namespace}/{.metadata.name}\t"
          + "{.metadata.labels} {.metadata.finalizers}{\"\\n\"}{end}";
  private static final String NODE =
      "{range .items[*]}v1/Node /{.metadata.name}\t{.metadata.labels} {.metadata.annotations}"
          + " {.spec.taints} {.spec.unschedulable}{\"\\n\"}{end}";

  // an agent can write to no other directories of its node, which is mostly the host's root here;
  // what a kubelet and its runtime keep for pods and their claims comes and goes with these
  private static final String FIND =
      "find /etc/kubernetes /etc/systemd /etc/default /run /var/lib/kubelet /var/lib/numaoperator"
          + " -xdev"
          + " \\( -path /var/lib/kubelet/pods -o -path /var/lib/kubelet/plugins"
          + " -o -path /var/lib/kubelet/device-plugins -o -path '/run/*cri*'"
          + " -o -path /var/lib/kubelet/dra_manager_state"
          + " -o -path '/var/lib/kubelet/*_pods_state'"
          + " -o -path /var/lib/kubelet/pki \\) -prune"
          + " -o -type f -print0 2>/dev/null | sort -z | xargs -0 sha256sum";

  /** The journal of the last change, with what it has put aside: taken as one. */
  private static final String RECORDS = "(/var/lib/numaoperator)/(backup/.*|lock|journal.json)";

  static Traces of(Lab lab, Collection<String> nodes) {
    var kinds =
        lab.kubectl("api-resources", "--verbs=list", "-o", "name")
            .lines()
            .filter(kind -> !kind.equals("events") && !kind.startsWith("events."))
            // the API server makes one of each version of a CRD
            .filter(kind -> !kind.startsWith("apiservices."))
            .filter(kind -> !kind.equals("componentstatuses"))
            .collect(Collectors.joining(","));
    var objects = new TreeMap<String, String>();
    table(objects, lab.kubectl("get", kinds, "-A", "-o", "jsonpath=" + LINE));
    // kubelets' signs of life
    objects
        .keySet()
        .removeIf(name -> name.startsWith("coordination.k8s.io/v1/Lease kube-node-lease/"));
    table(objects, lab.kubectl("get", "nodes", "-o", "jsonpath=" + NODE));
    var files = new TreeMap<String, String>();
    for (var node : nodes) {
      for (var line : lab.exec(node, "sh", "-c", FIND).lines().toList()) {
        var words = line.split("  ", 2);
        files.put(node + " " + words[1].replaceFirst(RECORDS, "$1"), words[0]);
      }
    }
    return new Traces(objects, files);
  }

  private static void table(SortedMap<String, String> into, String text) {
    text.lines()
        .map(line -> line.split("\t", 2))
        .filter(words -> words.length == 2)
        .forEach(words -> into.put(words[0], words[1]));
  }

  /** What is there now, and was not before or was otherwise; and what is missing. */
  List<String> since(Traces before) {
    var all = new TreeSet<String>();
    differences(all, before.objects, objects);
    differences(all, before.files, files);
    return List.copyOf(all);
  }

  private static void differences(
      Collection<String> into, SortedMap<String, String> before, SortedMap<String, String> now) {
    now.forEach(
        (name, content) -> {
          if (!before.containsKey(name)) {
            into.add("+ " + name);
          } else if (!before.get(name).equals(content)) {
            into.add("~ " + name);
          }
        });
    before.keySet().stream()
        .filter(name -> !now.containsKey(name))
        .forEach(name -> into.add("- " + name));
  }
}
