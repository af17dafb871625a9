package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// File descriptors that `up` hands to labd.
const (
	labdListenerFD = 3 // the API server's address on the host
	labdReportFD   = 4 // progress and the outcome of the start, for `up`
)

// labd is the lab's daemon. It is PID 1 of its own PID namespace and holds the lab's mount and network
// namespaces, so that its end, however it comes about, is the end of everything in the lab.
type labd struct {
	dir     layout
	config  LabConfig
	started time.Time
	reaper  *reaper
	ca      *authority
	control *controlPlane

	mu    sync.Mutex
	nodes map[string]*node
	next  int // index of the next node
}

// summary is what `up` and `status` print.
type summary struct {
	Dir        string        `json:"dir"`
	Kubeconfig string        `json:"kubeconfig"`
	Server     string        `json:"server"`
	AuditLog   string        `json:"auditLog,omitempty"`
	UpSeconds  float64       `json:"upSeconds,omitempty"`
	Nodes      []nodeSummary `json:"nodes"`
}

type nodeSummary struct {
	NodeSpec
	Power  string `json:"power"`
	BootID string `json:"bootId,omitempty"`
	Boots  int    `json:"boots"`
}

func runLabd() error {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	report := os.NewFile(labdReportFD, "report")
	unix.CloseOnExec(labdListenerFD)
	unix.CloseOnExec(labdReportFD)
	out := json.NewEncoder(report)
	progress := func(line string) {
		log.Print(line)
		out.Encode(reply{Progress: line}) //nolint:errcheck // `up` may be gone
	}
	l := &labd{started: time.Now(), nodes: map[string]*node{}, next: 1}
	result, err := l.up(progress)
	final := reply{Done: true}
	if err != nil {
		final.Error = err.Error()
		log.Print(err)
	} else {
		final.Result, _ = json.Marshal(result)
	}
	out.Encode(final) //nolint:errcheck
	report.Close()
	if err != nil {
		return err // PID 1 ends, and with it whatever was started
	}
	<-terminated
	return nil
}

func (l *labd) up(progress func(string)) (*summary, error) {
	if os.Getpid() != 1 {
		return nil, fmt.Errorf("labd is started by 'numalab up' only")
	}
	l.dir = layout(os.Getenv("NUMALAB_DIR"))
	if err := readJSON(l.dir.config(), &l.config); err != nil {
		return nil, err
	}
	if err := l.setUpMounts(); err != nil {
		return nil, err
	}
	l.reaper = newReaper()
	if err := setUpBridge(l.reaper); err != nil {
		return nil, err
	}
	host, err := net.FileListener(os.NewFile(labdListenerFD, "listener"))
	if err != nil {
		return nil, err
	}
	if l.ca, err = newAuthority(); err != nil {
		return nil, err
	}
	if err := l.ca.writePKI(l.dir, l.config.Server); err != nil {
		return nil, err
	}
	control, err := listenUnix(l.dir.control())
	if err != nil {
		return nil, err
	}
	go serveControl(control, l.handle)
	if l.control, err = newControlPlane(l.dir, l.config, l.reaper); err != nil {
		return nil, err
	}
	api := func() (string, error) { return fmt.Sprintf("127.0.0.1:%d", apiServerPort), nil }
	go forward(host, api)
	if err := l.control.up(progress); err != nil {
		return nil, err
	}
	if err := startServiceProxy(l.control.client, l.reaper); err != nil {
		return nil, err
	}
	if err := l.addAll(l.config.Nodes, progress); err != nil {
		return nil, err
	}
	return l.summary(), nil
}

// setUpMounts works on labd's own mount namespace; nothing of it is visible on the host.
func (l *labd) setUpMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	if err := os.MkdirAll(l.dir.mounts(), 0o755); err != nil {
		return err
	}
	return mountTmpfs(l.dir.mounts(), "mode=755")
}

func (l *labd) addAll(specs []NodeSpec, progress func(string)) error {
	errs := make(chan error, len(specs))
	for _, spec := range specs {
		n, err := l.register(spec)
		if err != nil {
			return err
		}
		go func() {
			err := n.create()
			if err != nil {
				l.forget(spec.Name)
			}
			errs <- err
		}()
	}
	for range specs {
		if err := <-errs; err != nil {
			return err
		}
	}
	if len(specs) > 0 {
		progress(fmt.Sprintf("%d kubelets started", len(specs)))
	}
	for _, spec := range specs {
		if err := l.waitReady(spec.Name, 5*time.Minute); err != nil {
			return err
		}
		progress(spec.Name + " ready")
	}
	return nil
}

// register gives a node its number and address.
func (l *labd) register(spec NodeSpec) (*node, error) {
	if err := spec.validate(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.nodes[spec.Name]; ok {
		return nil, fmt.Errorf("node %s exists", spec.Name)
	}
	spec.Index = l.next
	spec.Address = nodeAddress(spec.Index)
	l.next++
	n := &node{lab: l, spec: spec}
	l.nodes[spec.Name] = n
	return n, nil
}

func (l *labd) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.nodes, name)
}

func (l *labd) find(name string) (*node, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.nodes[name]
	if !ok {
		var names []string
		for name := range l.nodes {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("no node %q; there are %v", name, names)
	}
	return n, nil
}

func (l *labd) handle(r request, progress func(string)) (any, error) {
	switch r.Op {
	case "status":
		return l.summary(), nil
	case "apiserver":
		if r.Action == "stop" {
			l.control.stopAPI()
			return nil, nil
		}
		return nil, l.control.startAPI()
	case "node-add":
		if err := l.addAll([]NodeSpec{*r.Node}, progress); err != nil {
			return nil, err
		}
		n, err := l.find(r.Node.Name)
		if err != nil {
			return nil, err
		}
		return n.summary(), nil
	case "node":
		n, err := l.find(r.Name)
		if err != nil {
			return nil, err
		}
		switch r.Action {
		case "stop":
			return nil, n.powerOff()
		case "start":
			return n.restart(nil)
		case "reboot":
			return n.restart(r.Node)
		}
	case "unit", "program":
		n, err := l.find(r.Name)
		if err != nil {
			return nil, err
		}
		return n.forwardRequest(r)
	}
	return nil, fmt.Errorf("unknown request %s %s", r.Op, r.Action)
}

func (l *labd) summary() *summary {
	s := &summary{Dir: string(l.dir), Kubeconfig: l.dir.kubeconfig(), Server: l.config.Server,
		UpSeconds: float64(int(time.Since(l.started).Seconds()*10)) / 10, Nodes: []nodeSummary{}}
	if l.config.Audit {
		s.AuditLog = l.dir.path("audit.log")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.nodes {
		s.Nodes = append(s.Nodes, n.summary())
	}
	slices.SortFunc(s.Nodes, func(a, b nodeSummary) int { return a.Index - b.Index })
	return s
}

// waitReady waits until the API server shows the node Ready, with its GPUs where it has a plugin.
func (l *labd) waitReady(name string, limit time.Duration) error {
	n, err := l.find(name)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(limit)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		state := nodeState(ctx, l.control.client, n.spec)
		cancel()
		if state == "" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("node %s after %s: %s; see %s", name, limit, state, l.dir.node(name, "kubelet.log"))
		}
		time.Sleep(250 * time.Millisecond)
	}
}
