package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.plan.delivery.OpenShiftFacts;
import io.numaoperator.plan.device.ConfigMapRef;
import io.numaoperator.plan.device.Wish;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ClusterViewTest {
  private static final ConfigMapRef SETTINGS = new ConfigMapRef("gpu", "settings");

  private static ClusterView view(String agents, Publishing publishing, DeviceView devices) {
    return new ClusterView(
        node -> Optional.empty(),
        agents,
        publishing,
        new SchedulerState.None(),
        "numa-system",
        OpenShiftFacts.none(),
        devices,
        Map.of(),
        new Plans());
  }

  private static ClusterView view(DeviceView devices) {
    return view("1", Publishing.nobody(), devices);
  }

  private static DeviceView devices(
      Map<String, Wish> wishes, Set<Provider> refused, Map<ConfigMapRef, Instant> found) {
    return new DeviceView(true, wishes, refused, found, node -> List.of(), node -> List.of());
  }

  private static DeviceView devices(Map<String, Wish> wishes) {
    return devices(wishes, Set.of(), Map.of());
  }

  private static Wish load(boolean reachable) {
    return new Wish.Load("hash", Optional.of("ours"), SETTINGS, reachable);
  }

  /** Of a, b and c; empty when nobody is told. */
  private static List<String> concerned(ClusterView former, ClusterView now) {
    return now.differsFrom(former).stream()
        .flatMap(concerned -> Stream.of("a", "b", "c").filter(concerned))
        .toList();
  }

  @Test
  void nobodyIsToldWhenItSaysTheSame() {
    var devices = devices(Map.of("a", load(true)));
    assertThat(view(devices).differsFrom(view(devices(Map.of("a", load(true)))))).isEmpty();
  }

  @Test
  void aNodeIsToldOfAnotherWish() {
    var former = view(devices(Map.of("a", load(true), "b", load(true))));
    assertThat(concerned(former, view(devices(Map.of("a", load(false), "b", load(true))))))
        .containsExactly("a");
    assertThat(concerned(former, view(devices(Map.of("a", load(true)))))).containsExactly("b");
    assertThat(
            concerned(
                former, view(devices(Map.of("a", load(true), "b", load(true), "c", load(true))))))
        .containsExactly("c");
  }

  @Test
  void allAreToldOfWhatIsCommonToThem() {
    var former = view(DeviceView.NONE);
    assertThat(concerned(former, view(devices(Map.of())))).as("a first plan").hasSize(3);
    former = view(devices(Map.of()));
    assertThat(concerned(former, view(devices(Map.of(), Set.of(Provider.HAMi), Map.of()))))
        .as("a refused provider")
        .hasSize(3);
    assertThat(
            concerned(former, view(devices(Map.of(), Set.of(), Map.of(SETTINGS, Instant.EPOCH)))))
        .as("a ConfigMap that plugins find")
        .hasSize(3);
    assertThat(concerned(former, view("2", Publishing.nobody(), devices(Map.of()))))
        .as("another version of agents")
        .hasSize(3);
    assertThat(concerned(former, view("1", new Publishing(true, 0), devices(Map.of()))))
        .as("another publisher")
        .hasSize(3);
  }

  /** The first pass's nodes are judged after it anyway. */
  @Test
  void theFirstPassTellsNobody() {
    var views = new ClusterViews();
    var told = new ArrayList<String>();
    views.onChange(concerned -> Stream.of("a", "b").filter(concerned).forEach(told::add));
    views.passed(view(devices(Map.of("a", load(false)))));
    assertThat(told).isEmpty();
    views.passed(view(devices(Map.of("a", load(true)))));
    assertThat(told).containsExactly("a");
  }
}
