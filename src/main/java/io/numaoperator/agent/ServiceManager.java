package io.numaoperator.agent;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** systemd, as far as the kubelet's unit and its guard need it. */
interface ServiceManager {
  /**
   * The unit's state; empty when the manager has no such unit.
   *
   * @throws IOException when the manager cannot be asked
   */
  Optional<UnitState> state(String unit) throws IOException;

  /** Asks for a stop and returns at once; stopping a stopped unit is fine. */
  void stop(String unit) throws IOException;

  /** Asks for a start and returns at once; starting a running unit is fine. */
  void start(String unit) throws IOException;

  /** Whether a unit of any kind is active. */
  boolean active(String unit) throws IOException;

  /** The drop-in files that are in force for a unit. */
  List<String> dropIns(String unit) throws IOException;

  /**
   * The command that a start of the unit runs, with the environment's variables still in it; empty
   * where there is not exactly one plain command.
   */
  List<String> execStart(String unit) throws IOException;

  /** Reads all unit files again; returns when that is done. */
  void reload() throws IOException;

  /**
   * A service unit.
   *
   * @param activeState active, activating, deactivating, inactive or failed
   * @param subState running, start, auto-restart, dead, ...
   * @param mainPid 0 when there is no main process
   * @param restarts NRestarts: automatic restarts since the unit was last started by hand
   * @param result success, exit-code, signal, ...: how its last run ended
   */
  record UnitState(
      String activeState, String subState, long mainPid, long restarts, String result) {
    /** No process is left and none will come by itself. */
    boolean stopped() {
      return mainPid == 0 && (activeState.equals("inactive") || activeState.equals("failed"));
    }

    /** Its process has ended, and what systemd runs after that (ExecStopPost=) has not. */
    boolean ending() {
      return activeState.equals("deactivating");
    }

    boolean running() {
      return mainPid != 0 && activeState.equals("active");
    }

    /** Still on its way up by its first process: a unit of Type=notify before READY=1. */
    boolean starting() {
      return activeState.equals("activating") && !subState.startsWith("auto-restart");
    }

    @Override
    public String toString() {
      return activeState + " (" + subState + (mainPid == 0 ? "" : ", pid " + mainPid) + ")";
    }
  }
}
