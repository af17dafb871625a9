package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	systemdName     = "org.freedesktop.systemd1"
	systemdPath     = dbus.ObjectPath("/org/freedesktop/systemd1")
	systemdUnitPath = "/org/freedesktop/systemd1/unit/"
	systemdManager  = "org.freedesktop.systemd1.Manager"
	systemdUnit     = "org.freedesktop.systemd1.Unit"
	systemdService  = "org.freedesktop.systemd1.Service"
	dbusProperties  = "org.freedesktop.DBus.Properties"

	busSocket = "/run/dbus/system_bus_socket"
	busConfig = "/run/numalab/dbus.conf"
)

// busPolicy lets everyone on the node own and call everything: a stand-in for the distribution's policy, under
// which root may manage units.
const busPolicy = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=` + busSocket + `</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="false"/>
    <allow receive_sender="*" eavesdrop="false"/>
  </policy>
</busconfig>
`

// startBus starts the node's dbus-daemon and puts systemd's interface on it.
func startBus(r *reaper, units *unitManager) error {
	if err := os.MkdirAll("/run/dbus", 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(busConfig, []byte(busPolicy), 0o644); err != nil {
		return err
	}
	daemon := &service{name: "dbus-daemon", reaper: r, log: "/var/log/dbus.log",
		argv: []string{"dbus-daemon", "--config-file=" + busConfig, "--nofork", "--nopidfile", "--nosyslog"}}
	if err := daemon.start(); err != nil {
		return err
	}
	var conn *dbus.Conn
	var err error
	for i := 0; i < 100; i++ {
		if conn, err = dbus.Connect("unix:path=" + busSocket); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("D-Bus: %w", err)
	}
	s := &systemdBus{conn: conn, units: units}
	err1 := conn.Export(s, systemdPath, systemdManager)
	err2 := conn.Export(managerProperties{}, systemdPath, dbusProperties)
	err3 := conn.ExportSubtree(unitProperties{units}, "/org/freedesktop/systemd1/unit", dbusProperties)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	answer, err := conn.RequestName(systemdName, dbus.NameFlagDoNotQueue)
	if err == nil && answer != dbus.RequestNameReplyPrimaryOwner {
		err = fmt.Errorf("the name %s is taken", systemdName)
	}
	return err
}

// systemdBus is the part of org.freedesktop.systemd1.Manager that the lab stands in for.
type systemdBus struct {
	conn  *dbus.Conn
	units *unitManager
	emit  sync.Mutex
}

func dbusError(err error) *dbus.Error {
	if err == nil {
		return nil
	}
	name := systemdName + ".BadUnitSetting"
	var missing errNoSuchUnit
	if errors.As(err, &missing) {
		name = systemdName + ".NoSuchUnit"
	}
	return dbus.NewError(name, []any{err.Error()})
}

func unitObjectPath(name string) dbus.ObjectPath {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' && i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return dbus.ObjectPath(systemdUnitPath + b.String())
}

// enqueue runs a job and announces its end with JobRemoved, as every job of systemd does.
func (s *systemdBus) enqueue(name string, work func(*unit) error) (dbus.ObjectPath, *dbus.Error) {
	u, err := s.units.get(name)
	if err != nil {
		return "/", dbusError(err)
	}
	id := s.units.nextJob()
	path := dbus.ObjectPath(fmt.Sprintf("%s/job/%d", systemdPath, id))
	go func() {
		time.Sleep(5 * time.Millisecond) // the caller gets the job's path before the job's end
		result := "done"
		if err := work(u); err != nil {
			result = "failed"
			if err.Error() == "canceled" {
				result = "canceled"
			}
		}
		s.emit.Lock()
		defer s.emit.Unlock()
		if err := s.conn.Emit(systemdPath, systemdManager+".JobRemoved", id, path, name, result); err != nil {
			log.Printf("JobRemoved: %v", err)
		}
	}()
	return path, nil
}

func (s *systemdBus) StartUnit(name, mode string) (dbus.ObjectPath, *dbus.Error) {
	return s.enqueue(name, (*unit).start)
}

func (s *systemdBus) StopUnit(name, mode string) (dbus.ObjectPath, *dbus.Error) {
	return s.enqueue(name, func(u *unit) error { u.stop(); return nil })
}

func (s *systemdBus) RestartUnit(name, mode string) (dbus.ObjectPath, *dbus.Error) {
	return s.enqueue(name, (*unit).restart)
}

func (s *systemdBus) TryRestartUnit(name, mode string) (dbus.ObjectPath, *dbus.Error) {
	return s.enqueue(name, func(u *unit) error {
		if u.isActive() {
			return u.restart()
		}
		return nil
	})
}

func (u *unit) isActive() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.run != nil
}

func (s *systemdBus) KillUnit(name, who string, signal int32) *dbus.Error {
	u, err := s.units.get(name)
	if err == nil {
		err = u.kill(syscall.Signal(signal))
	}
	return dbusError(err)
}

func (s *systemdBus) GetUnit(name string) (dbus.ObjectPath, *dbus.Error) { return s.LoadUnit(name) }

func (s *systemdBus) LoadUnit(name string) (dbus.ObjectPath, *dbus.Error) {
	if _, err := s.units.get(name); err != nil {
		return "/", dbusError(err)
	}
	return unitObjectPath(name), nil
}

func (s *systemdBus) ResetFailedUnit(name string) *dbus.Error {
	u, err := s.units.get(name)
	if err == nil {
		u.resetFailed()
	}
	return dbusError(err)
}

func (s *systemdBus) Reload() *dbus.Error {
	s.units.reload()
	return nil
}

// Subscribe asks systemd for signals; here they are always sent.
func (s *systemdBus) Subscribe() *dbus.Error   { return nil }
func (s *systemdBus) Unsubscribe() *dbus.Error { return nil }

// managerProperties are the manager's own.
type managerProperties struct{}

func (managerProperties) Get(iface, name string) (dbus.Variant, *dbus.Error) {
	all, err := managerProperties{}.GetAll(iface)
	if err != nil {
		return dbus.Variant{}, err
	}
	return pick(all, iface, name)
}

func (managerProperties) GetAll(iface string) (map[string]dbus.Variant, *dbus.Error) {
	return map[string]dbus.Variant{
		"Version":     dbus.MakeVariant("252 (numalab)"),
		"SystemState": dbus.MakeVariant("running"),
	}, nil
}

// unitProperties answers for all unit objects.
type unitProperties struct{ units *unitManager }

func (p unitProperties) Get(m dbus.Message, iface, name string) (dbus.Variant, *dbus.Error) {
	all, err := p.GetAll(m, iface)
	if err != nil {
		return dbus.Variant{}, err
	}
	return pick(all, iface, name)
}

func pick(all map[string]dbus.Variant, iface, name string) (dbus.Variant, *dbus.Error) {
	v, ok := all[name]
	if !ok {
		return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty",
			[]any{fmt.Sprintf("Unknown interface %s or property %s.", iface, name)})
	}
	return v, nil
}

func (p unitProperties) GetAll(m dbus.Message, iface string) (map[string]dbus.Variant, *dbus.Error) {
	path, _ := m.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	u := p.find(path)
	if u == nil {
		return nil, dbus.NewError("org.freedesktop.DBus.Error.UnknownObject", []any{fmt.Sprintf("Unknown object '%s'.", path)})
	}
	properties := map[string]any{}
	if iface == "" || iface == systemdUnit {
		u.unitProperties(properties)
	}
	if iface == "" || iface == systemdService {
		u.serviceProperties(properties)
	}
	out := map[string]dbus.Variant{}
	for name, value := range properties {
		out[name] = dbus.MakeVariant(value)
	}
	return out, nil
}

func (p unitProperties) find(path dbus.ObjectPath) *unit {
	p.units.mu.Lock()
	defer p.units.mu.Unlock()
	for name, u := range p.units.units {
		if unitObjectPath(name) == path {
			return u
		}
	}
	return nil
}

// micros is a time as systemd gives it: microseconds since 1970, 0 for never.
func micros(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.UnixMicro())
}

func (u *unit) unitProperties(out map[string]any) {
	stale := u.needsReload()
	u.mu.Lock()
	defer u.mu.Unlock()
	out["Id"] = u.name
	out["Names"] = []string{u.name}
	out["Description"] = u.def.description
	out["LoadState"] = "loaded"
	out["ActiveState"] = u.active
	out["SubState"] = u.sub
	out["FragmentPath"] = u.def.fragment
	out["DropInPaths"] = append([]string{}, u.def.dropIns...)
	out["UnitFileState"] = "enabled"
	out["NeedDaemonReload"] = stale
	out["InvocationID"] = append([]byte{}, u.invocation...)
	out["ActiveEnterTimestamp"] = micros(u.activated)
	out["InactiveEnterTimestamp"] = micros(u.inactive)
}

// execCommand is an element of ExecStart: path, arguments, ignore failure, start and exit times (realtime and
// monotonic), PID, exit code, exit status.
type execCommand struct {
	Path                                               string
	Argv                                               []string
	IgnoreFailure                                      bool
	StartTime, StartMonotonic, ExitTime, ExitMonotonic uint64
	PID                                                uint32
	Code, Status                                       int32
}

func (u *unit) execCommands(lines []execLine) []execCommand {
	out := []execCommand{}
	for _, line := range lines {
		out = append(out, execCommand{Path: line.argv[0], Argv: line.argv, IgnoreFailure: line.ignoreFailure})
	}
	return out
}

func (u *unit) serviceProperties(out map[string]any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.def.timer != nil {
		return // another interface
	}
	start := u.execCommands(u.def.execStart)
	if len(start) > 0 {
		start[0].StartTime, start[0].ExitTime, start[0].PID = micros(u.mainStart), micros(u.mainExit), uint32(u.mainPID)
		start[0].Code, start[0].Status = u.mainCode, u.mainStatus
	}
	out["Type"] = "simple"
	out["Restart"] = u.def.restart
	out["RestartUSec"] = uint64(u.def.restartSec.Microseconds())
	out["MainPID"] = uint32(u.mainPID)
	out["NRestarts"] = u.nRestarts
	out["Result"] = u.result
	out["ExecMainPID"] = uint32(u.mainPID)
	out["ExecMainCode"] = u.mainCode
	out["ExecMainStatus"] = u.mainStatus
	out["ExecMainStartTimestamp"] = micros(u.mainStart)
	out["ExecMainExitTimestamp"] = micros(u.mainExit)
	out["ExecStart"] = start
	out["ExecStartPre"] = u.execCommands(u.def.execStartPre)
	out["ExecStopPost"] = u.execCommands(u.def.execStopPost)
	out["Environment"] = append([]string{}, u.def.environment...)
}
