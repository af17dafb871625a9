package io.numaoperator.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * How fast pods that need alignment are bound: by kube-scheduler with the operator's extender, and
 * by the same one without, one after the other in one cluster.
 */
final class SchedulerPart {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int PODS = 300;
  private static final String ALL_PODS = "/api/v1/namespaces/default/pods";

  private final Report report;
  private final Path directory;
  private final String options;
  private final Deadline deadline;
  private final List<String> wrong = new ArrayList<>();

  SchedulerPart(Path directory, String options, Deadline deadline) {
    this.directory = directory;
    this.options = options;
    this.deadline = deadline;
    report = new Report(directory.resolve("scheduler.md"), "Scheduler");
  }

  List<String> wrong() {
    return wrong;
  }

  Report report() {
    return report;
  }

  void run(int size) throws Exception {
    var files = directory.resolve("scheduler-" + size);
    try (var cluster = BenchCluster.start(files);
        var fleet = new Fleet(cluster.api(), size)) {
      fleet.start();
      fleet.takeIntoService();
      try (var operator = cluster.operator(options)) {
        cluster
            .api()
            .create(
                PolicyWatch.POLICIES,
                """
                {"apiVersion":"numaoperator.io/v1alpha1","kind":"NumaPolicy","metadata":{"name":"gpu-nodes","annotations":{"numaoperator.io/paused":"true"}},
                "spec":{"mode":"Enforce","nodeSelector":{"matchLabels":{"nvidia.com/gpu.present":"true"}},
                "scheduler":{"provider":"BuiltIn"}}}""");
        fleet.publishStrictTopologies();
        deadline.await(LIMIT, "every NumaNodeState", () -> fleet.states() == size);
        cluster.settle();
        var without = measure(cluster, files, size, KubeScheduler.WITHOUT_EXTENDER, 0);
        var with =
            measure(cluster, files, size, KubeScheduler.WITH_EXTENDER, operator.extenderPort());
        report.put(column(size), "pods per s, with / without", "%.2f".formatted(with / without));
      }
      fleet.violations().stream().limit(5).forEach(v -> wrong.add(size + " nodes: " + v));
    }
  }

  /**
   * @return pods bound per second
   */
  private double measure(
      BenchCluster cluster, Path files, int size, String scheduler, int extenderPort)
      throws Exception {
    var bound = ConcurrentHashMap.<String>newKeySet();
    var api = cluster.api();
    try (var watch =
            api.watch(
                ALL_PODS,
                "",
                event -> {
                  var pod = event.path("object");
                  if (pod.path("spec").has("nodeName")
                      && pod.path("spec").path("schedulerName").asText().equals(scheduler)) {
                    bound.add(pod.path("metadata").path("name").asText());
                  }
                });
        var process = KubeScheduler.start(cluster, files, extenderPort)) {
      warmUp(api, scheduler, bound);
      var before = process.usage();
      long began = System.nanoTime();
      IntStream.range(0, PODS)
          .parallel()
          .forEach(i -> api.create(ALL_PODS, pod(scheduler + "-" + i, scheduler)));
      deadline.await(LIMIT, PODS + " pods bound by " + scheduler, () -> bound.size() == PODS + 1);
      var took = Duration.ofNanos(System.nanoTime() - began);
      var name = extenderPort == 0 ? "without extender" : "with extender";
      double rate = PODS * 1e9 / took.toNanos();
      report.put(column(size), name + ": pods bound per s", "%.0f".formatted(rate));
      report.put(
          column(size),
          name + ": 99 % of scheduling cycles within",
          "%.0f ms".formatted(process.cycleP99() * 1e3));
      report.put(
          column(size),
          name + ": kube-scheduler's cores meanwhile",
          "%.2f".formatted(process.usage().coresSince(before, took)));
      return rate;
    }
  }

  private void warmUp(RawApi api, String scheduler, java.util.Set<String> bound)
      throws InterruptedException {
    api.create(ALL_PODS, pod(scheduler + "-first", scheduler));
    deadline.await(LIMIT, "the first pod bound by " + scheduler, () -> bound.size() == 1);
  }

  private static String pod(String name, String scheduler) {
    return """
    {"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s"},"spec":{"schedulerName":"%s","containers":[{"name":"main","image":"example.com/training","resources":{"limits":{"cpu":"4","memory":"8Gi","nvidia.com/gpu":"1"}}}]}}"""
        .formatted(name, scheduler);
  }

  private static String column(int size) {
    return String.format(Locale.ROOT, "%,d nodes", size);
  }
}
