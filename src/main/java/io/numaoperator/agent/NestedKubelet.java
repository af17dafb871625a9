package io.numaoperator.agent;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * The service manager with the kubelet in the place of the process that starts it: RKE2 goes on
 * when its kubelet crashes, and starts another, of which systemd knows nothing.
 */
final class NestedKubelet implements ServiceManager {
  private final ServiceManager services;
  private final Processes processes;

  NestedKubelet(ServiceManager services, Processes processes) {
    this.services = services;
    this.processes = processes;
  }

  @Override
  public Optional<UnitState> state(String unit) throws IOException {
    var state = services.state(unit);
    if (!KubeletUnit.named(unit).startsIt()
        || state.filter(found -> found.mainPid() != 0).isEmpty()) {
      return state;
    }
    var found = state.get();
    long kubelet = processes.kubeletOf(found.mainPid()).orElse(0L);
    return Optional.of(
        new UnitState(
            found.activeState(), found.subState(), kubelet, found.restarts(), found.result()));
  }

  @Override
  public List<String> execStart(String unit) throws IOException {
    return services.execStart(unit);
  }

  @Override
  public void stop(String unit) throws IOException {
    services.stop(unit);
  }

  @Override
  public void start(String unit) throws IOException {
    services.start(unit);
  }

  @Override
  public boolean active(String unit) throws IOException {
    return services.active(unit);
  }

  @Override
  public List<String> dropIns(String unit) throws IOException {
    return services.dropIns(unit);
  }

  @Override
  public void reload() throws IOException {
    services.reload();
  }
}
