package io.numaoperator.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.topology.bandwidth.BandwidthReport;

/** {@code probe -o json}: the report under stable names; what was not measured is absent. */
final class ProbeData {
  private ProbeData() {}

  static String json(String node, BandwidthReport report) {
    var root = JsonNodeFactory.instance.objectNode();
    root.put("node", node).put("memoryBytes", report.measured().bytes());
    var zones = root.putArray("zones");
    for (var zone : report.measured().zones()) {
      zones
          .addObject()
          .put("id", zone.id())
          .put("threads", zone.threads())
          .put("cacheBytes", zone.cacheBytes())
          .put("busy", zone.busy());
    }
    var pairs = root.putArray("pairs");
    report.pairs().forEach(pair -> pairs.add(of(pair)));
    report
        .worst()
        .flatMap(BandwidthReport.Pair::figures)
        .flatMap(BandwidthReport.Figures::loss)
        .ifPresent(loss -> root.put("worstLoss", loss));
    var warnings = root.putArray("warnings");
    report.warnings().forEach(warnings::add);
    return root.toPrettyString() + "\n";
  }

  private static ObjectNode of(BandwidthReport.Pair pair) {
    var json =
        JsonNodeFactory.instance
            .objectNode()
            .put("cpuZone", pair.cpuZone())
            .put("memoryZone", pair.memoryZone())
            .put("local", pair.isLocal());
    pair.figures()
        .ifPresentOrElse(
            f -> {
              json.put("gbPerSecond", f.median());
              json.put("least", f.least()).put("most", f.most());
              f.loss().ifPresent(loss -> json.put("loss", loss).put("sure", f.isSure()));
            },
            () -> json.put("problem", pair.problem()));
    return json;
  }
}
