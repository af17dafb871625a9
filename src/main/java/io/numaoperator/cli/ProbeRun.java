package io.numaoperator.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.numaoperator.topology.bandwidth.Measured;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Makes the Job of a probe, waits for what it prints, and removes it, whatever happens. */
final class ProbeRun {
  private final Api api;
  private final String jobs;
  private final String pods;
  private final Duration interval;
  private final Consumer<String> progress;

  /**
   * @param interval between two looks at the pod
   * @param progress what it waits for, whenever that changes
   */
  ProbeRun(Api api, String namespace, Duration interval, Consumer<String> progress) {
    this.api = api;
    this.jobs = "apis/batch/v1/namespaces/%s/jobs".formatted(Api.encoded(namespace));
    this.pods = "api/v1/namespaces/%s/pods".formatted(Api.encoded(namespace));
    this.interval = interval;
    this.progress = progress;
  }

  /**
   * @param patience how long until it gives up
   * @throws CliException if nothing was measured; says why
   */
  Measured of(Job job, Duration patience) throws InterruptedException {
    var name = api.create(jobs, job, Job.class).getMetadata().getName();
    var removal = new Thread(() -> remove(name));
    Runtime.getRuntime().addShutdownHook(removal); // Ctrl-C
    try {
      return read(ended(name, patience));
    } finally {
      Runtime.getRuntime().removeShutdownHook(removal);
      remove(name);
    }
  }

  private void remove(String job) {
    try {
      api.delete(jobs + "/" + Api.encoded(job));
    } catch (CliException failed) {
      progress.accept(
          "Job %s is left behind, and goes by itself some minutes after its end: %s"
              .formatted(job, failed.getMessage()));
    }
  }

  private Pod ended(String job, Duration patience) throws InterruptedException {
    var waitsFor = "the pod of Job %s is not there yet".formatted(job);
    for (long left = patience.toMillis(); left > 0; left -= interval.toMillis()) {
      var pod =
          api.list(pods + "?labelSelector=" + Api.encoded("job-name=" + job), Pod.class)
              .flatMap(list -> list.stream().findFirst());
      var phase = pod.map(p -> p.getStatus().getPhase()).orElse("");
      if (phase.equals("Succeeded") || phase.equals("Failed")) {
        return pod.orElseThrow();
      }
      var now = pod.map(ProbeRun::state).orElse(waitsFor);
      if (!now.equals(waitsFor)) {
        progress.accept(now);
        waitsFor = now;
      }
      Thread.sleep(interval);
    }
    throw new CliException(
        "no result after %d s: %s; see --timeout".formatted(patience.toSeconds(), waitsFor));
  }

  private static String state(Pod pod) {
    var status = pod.getStatus();
    var scheduling =
        status.getConditions().stream()
            .filter(c -> c.getType().equals("PodScheduled") && !c.getStatus().equals("True"))
            .flatMap(c -> Stream.ofNullable(c.getMessage()));
    var waiting =
        status.getContainerStatuses().stream()
            .flatMap(c -> Stream.ofNullable(c.getState()))
            .flatMap(s -> Stream.ofNullable(s.getWaiting()))
            .map(
                w ->
                    Stream.of(w.getReason(), w.getMessage())
                        .flatMap(Stream::ofNullable)
                        .reduce((reason, message) -> reason + ": " + message)
                        .orElse("not started"));
    return "the pod is %s%s"
        .formatted(
            status.getPhase(),
            Stream.concat(scheduling, waiting).findFirst().map(why -> ": " + why).orElse(""));
  }

  private Measured read(Pod pod) {
    var log =
        api.bytes(pods + "/" + Api.encoded(pod.getMetadata().getName()) + "/log?container=probe")
            .map(bytes -> new String(bytes, StandardCharsets.UTF_8).strip())
            .orElse("");
    var result = log.lines().filter(line -> line.startsWith(Measured.MARK)).findFirst();
    if (result.isEmpty()) {
      throw new CliException(
          "the probe ended without a result: "
              + Optional.ofNullable(pod.getStatus().getMessage())
                  .or(() -> log.lines().reduce((first, last) -> last))
                  .orElse("it printed nothing"));
    }
    try {
      return new ObjectMapper()
          .readValue(result.get().substring(Measured.MARK.length()), Measured.class);
    } catch (JsonProcessingException e) {
      throw new CliException(
          "the probe's result is of another version than this program: " + e.getOriginalMessage(),
          e);
    }
  }
}
