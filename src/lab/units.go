package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// unitManager stands for systemd's service manager on a node: services of Type=simple with Restart=, ExecStartPre=
// and ExecStopPost=, start limits, Wants=, ConditionPathExists= and timers (timers.go). Other dependencies and
// conditions, sockets, cgroups and sandboxing are not there.
type unitManager struct {
	reaper *reaper
	mu     sync.Mutex
	units  map[string]*unit
	jobs   uint32
}

// errNoSuchUnit is what systemd answers for a unit that has no file.
type errNoSuchUnit string

func (e errNoSuchUnit) Error() string { return fmt.Sprintf("Unit %s not found.", string(e)) }

// unit is a loaded service. Its definition is re-read by reload only, so a changed file does nothing before a
// daemon-reload, as on a real machine.
type unit struct {
	manager *unitManager
	name    string
	job     sync.Mutex // one job at a time

	mu         sync.Mutex // guards what follows
	def        *unitFile
	active     string // ActiveState
	sub        string // SubState
	result     string // Result
	nRestarts  uint32
	flush      bool // nRestarts is reset at the next start
	mainPID    int
	mainCode   int32
	mainStatus int32
	mainStart  time.Time
	mainExit   time.Time
	activated  time.Time // ActiveEnterTimestamp
	inactive   time.Time // InactiveEnterTimestamp
	invocation []byte
	run        *activation // nil when inactive
	starts     int         // of the current interval of the start limit
	startsFrom time.Time
}

// activation is the life of a unit between a start and the stop: its processes and automatic restarts.
type activation struct {
	stop chan struct{} // closed to stop it
	up   chan error    // the outcome of the first start
	done chan struct{} // closed at its end
}

func newUnitManager(r *reaper) *unitManager {
	return &unitManager{reaper: r, units: map[string]*unit{}}
}

// get returns the unit, loading it when it is not.
func (m *unitManager) get(name string) (*unit, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u, ok := m.units[name]; ok {
		return u, nil
	}
	if !strings.HasSuffix(name, ".service") && !strings.HasSuffix(name, ".timer") || strings.Contains(name, "/") {
		return nil, errNoSuchUnit(name)
	}
	def, err := loadUnit("/", name)
	if err != nil {
		return nil, err
	}
	if def == nil {
		return nil, errNoSuchUnit(name)
	}
	u := &unit{manager: m, name: name, def: def, active: "inactive", sub: "dead", result: "success"}
	m.units[name] = u
	return u, nil
}

// reload is `systemctl daemon-reload`: running services go on, with what the files say from their next start.
func (m *unitManager) reload() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, u := range m.units {
		def, err := loadUnit("/", name)
		if err == nil && def == nil && !u.isActive() {
			delete(m.units, name)
			continue
		}
		if err != nil || def == nil {
			log.Printf("daemon-reload: %s: %v (keeping what was loaded)", name, err)
			continue
		}
		u.mu.Lock()
		u.def = def
		u.mu.Unlock()
	}
}

func (m *unitManager) nextJob() uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jobs++
	return m.jobs
}

func (u *unit) needsReload() bool {
	fragment, dropIns := findUnit("/", u.name)
	u.mu.Lock()
	defer u.mu.Unlock()
	return unitStamp(fragment, dropIns) != u.def.stamp
}

// start is a start job: it returns when the main process runs, or could not be started. A unit that waits for its
// automatic restart is not started earlier: as in systemd the job waits for that restart.
func (u *unit) start() error {
	u.job.Lock()
	defer u.job.Unlock()
	return u.startLocked()
}

func (u *unit) startLocked() error {
	u.mu.Lock()
	if run := u.run; run != nil {
		waiting := u.sub == "auto-restart"
		u.mu.Unlock()
		for waiting {
			select {
			case <-run.done:
				return nil
			case <-time.After(20 * time.Millisecond):
			}
			u.mu.Lock()
			waiting = u.sub == "auto-restart"
			u.mu.Unlock()
		}
		return nil
	}
	if !u.def.conditionsHold("/") {
		u.mu.Unlock()
		log.Printf("%s: skipped, a condition does not hold", u.name)
		return nil
	}
	run := &activation{stop: make(chan struct{}), up: make(chan error, 1), done: make(chan struct{})}
	u.run, u.result = run, "success"
	if u.flush {
		u.nRestarts, u.flush = 0, false
	}
	timer := u.def.timer != nil
	u.mu.Unlock()
	if timer {
		go u.tick(run)
	} else {
		go u.live(run)
	}
	return <-run.up
}

// stop is a stop job: it returns when the processes have ended.
func (u *unit) stop() {
	u.job.Lock()
	defer u.job.Unlock()
	u.stopLocked()
}

func (u *unit) stopLocked() {
	u.mu.Lock()
	run := u.run
	if run == nil {
		u.mu.Unlock()
		return
	}
	close(run.stop)
	u.mu.Unlock()
	<-run.done
}

func (u *unit) restart() error {
	u.job.Lock()
	defer u.job.Unlock()
	u.stopLocked()
	return u.startLocked()
}

// kill sends a signal to the main process.
func (u *unit) kill(signal syscall.Signal) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.mainPID == 0 {
		return errors.New("no main process to kill")
	}
	return syscall.Kill(u.mainPID, signal)
}

func (u *unit) resetFailed() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.nRestarts, u.flush, u.result, u.starts = 0, false, "success", 0
	if u.active == "failed" {
		u.active, u.sub = "inactive", "dead"
	}
}

func (u *unit) setState(active, sub string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if active == "active" && u.active != "active" {
		u.activated = time.Now()
	}
	if (active == "inactive" || active == "failed") && u.active != active {
		u.inactive = time.Now()
	}
	u.active, u.sub = active, sub
}

// live runs the unit until it is stopped or ends for good.
func (u *unit) live(run *activation) {
	defer close(run.done)
	first := true
	up := func(err error) {
		if first {
			run.up <- err
			first = false
		}
	}
	for {
		stopped, limited := false, !u.mayStart(time.Now())
		if limited {
			err := errors.New("Start request repeated too quickly.") //nolint:staticcheck // systemd's words
			u.fail("start-limit-hit", err)
			up(err)
		} else {
			u.startWanted()
			stopped = u.runOnce(run, up)
		}
		u.mu.Lock()
		policy, delay, failed := u.def.restart, u.def.restartSec, u.result != "success"
		u.mu.Unlock()
		again := !stopped && !limited && (policy == "always" || policy == "on-failure" && failed || policy == "on-success" && !failed)
		if !again {
			if failed {
				u.setState("failed", "failed")
			} else {
				u.setState("inactive", "dead")
			}
			u.mu.Lock()
			// The count stays to be looked at, until the next start.
			u.run, u.flush = nil, true
			u.mu.Unlock()
			return
		}
		u.setState("activating", "auto-restart")
		select {
		case <-run.stop:
			// Given up: systemd calls that dead, not failed, and keeps the count even over the next start.
			u.setState("inactive", "dead")
			u.mu.Lock()
			u.run = nil
			u.mu.Unlock()
			return
		case <-time.After(delay):
		}
		u.mu.Lock()
		u.nRestarts, u.flush = u.nRestarts+1, false
		u.mu.Unlock()
	}
}

// mayStart counts a start and tells whether the start limit allows it, as ratelimit_below does in systemd.
func (u *unit) mayStart(now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	interval, burst := u.def.startLimitInterval, u.def.startLimitBurst
	if interval == 0 || burst == 0 {
		return true
	}
	if u.starts == 0 || now.Sub(u.startsFrom) > interval {
		u.starts, u.startsFrom = 0, now
	}
	u.starts++
	return u.starts <= burst
}

// startWanted starts what the unit wants, and does not wait for it.
func (u *unit) startWanted() {
	u.mu.Lock()
	wants := u.def.wants
	u.mu.Unlock()
	for _, name := range wants {
		if wanted, err := u.manager.get(name); err == nil {
			go wanted.start() //nolint:errcheck // a failure is its own
		}
	}
}

// runOnce goes through one start, run and end of the service; it tells whether that end was asked for.
func (u *unit) runOnce(run *activation, up func(error)) (stopped bool) {
	invocation := make([]byte, 16)
	rand.Read(invocation) //nolint:errcheck // never fails
	u.mu.Lock()
	def := u.def
	u.invocation, u.result = invocation, "success"
	u.mu.Unlock()
	env, err := def.environ("/")
	if err != nil {
		u.fail("resources", err)
		up(err)
		return false
	}
	u.setState("activating", "start-pre")
	for _, line := range def.execStartPre {
		status, stopped, err := u.command(run, line.expand(env), env)
		if stopped {
			up(errors.New("canceled"))
			return true
		}
		if err == nil && status.Exited() && status.ExitStatus() == 0 || line.ignoreFailure {
			continue
		}
		if err == nil {
			err = fmt.Errorf("control process %s: %s", line.argv[0], describeStatus(status))
		}
		u.fail("exit-code", err)
		u.stopPost(run, def, env)
		up(err)
		return false
	}
	pid, done, err := u.spawn(def.execStart[0].expand(env), env)
	if err != nil {
		u.fail("exit-code", err)
		u.mu.Lock()
		u.mainCode, u.mainStatus = 1, 203 // EXIT_EXEC
		u.mu.Unlock()
		up(nil) // with Type=simple the fork was the start
		return false
	}
	u.mu.Lock()
	u.mainPID, u.mainStart = pid, time.Now()
	u.mu.Unlock()
	u.setState("active", "running")
	log.Printf("%s: started, main PID %d", u.name, pid)
	up(nil)
	var status syscall.WaitStatus
	select {
	case status = <-done:
	case <-run.stop:
		stopped = true
		u.setState("deactivating", "stop-sigterm")
		status = u.terminate(pid, done, def.timeoutStop)
	}
	syscall.Kill(-pid, syscall.SIGKILL) //nolint:errcheck // KillMode=control-group: the rest of its session
	u.ended(status, stopped)
	u.stopPost(run, def, env)
	return stopped
}

func (u *unit) fail(result string, err error) {
	log.Printf("%s: %v", u.name, err)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.result = result
}

// ended records the end of the main process.
func (u *unit) ended(status syscall.WaitStatus, stopped bool) {
	log.Printf("%s: main process ended: %s", u.name, describeStatus(status))
	u.mu.Lock()
	defer u.mu.Unlock()
	u.mainPID, u.mainExit = 0, time.Now()
	if status.Signaled() {
		u.mainCode, u.mainStatus = 2, int32(status.Signal())
		clean := status.Signal() == syscall.SIGTERM || status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGHUP || status.Signal() == syscall.SIGPIPE
		switch {
		case clean:
		case stopped:
			u.result = "timeout"
		default:
			u.result = "signal"
		}
		return
	}
	u.mainCode, u.mainStatus = 1, int32(status.ExitStatus())
	if status.ExitStatus() != 0 {
		u.result = "exit-code"
	}
}

func (u *unit) terminate(pid int, done <-chan syscall.WaitStatus, limit time.Duration) syscall.WaitStatus {
	syscall.Kill(pid, syscall.SIGTERM) //nolint:errcheck
	select {
	case status := <-done:
		return status
	case <-time.After(limit):
		syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck
		return <-done
	}
}

// stopPost runs the ExecStopPost commands, which learn the outcome as systemd tells it.
func (u *unit) stopPost(run *activation, def *unitFile, env map[string]string) {
	if len(def.execStopPost) == 0 {
		return
	}
	u.mu.Lock()
	outcome := map[string]string{"SERVICE_RESULT": u.result,
		"EXIT_CODE": map[int32]string{0: "", 1: "exited", 2: "killed"}[u.mainCode], "EXIT_STATUS": fmt.Sprint(u.mainStatus)}
	u.mu.Unlock()
	for key, value := range env {
		if _, ok := outcome[key]; !ok {
			outcome[key] = value
		}
	}
	u.setState("deactivating", "stop-post")
	for _, line := range def.execStopPost {
		if _, _, err := u.command(nil, line.expand(env), outcome); err != nil {
			log.Printf("%s: %v", u.name, err)
		}
	}
}

// command runs a control command to its end, or until the unit is stopped (run may be nil: not to be stopped).
func (u *unit) command(run *activation, argv []string, env map[string]string) (status syscall.WaitStatus, stopped bool, err error) {
	pid, done, err := u.spawn(argv, env)
	if err != nil {
		return 0, false, err
	}
	var stop chan struct{}
	if run != nil {
		stop = run.stop
	}
	select {
	case status = <-done:
	case <-stop:
		stopped = true
		status = u.terminate(pid, done, 5*time.Second)
	}
	return status, stopped, nil
}

// spawn starts a process of the unit. Its output goes to the unit's log, which stands for the journal.
func (u *unit) spawn(argv []string, env map[string]string) (int, <-chan syscall.WaitStatus, error) {
	name := strings.TrimSuffix(u.name, ".service")
	out, err := os.OpenFile("/var/log/"+name+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, nil, err
	}
	defer out.Close()
	u.mu.Lock()
	invocation := u.invocation
	u.mu.Unlock()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
		"INVOCATION_ID=" + fmt.Sprintf("%x", invocation)}
	for key, value := range env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return u.manager.reaper.start(cmd)
}
