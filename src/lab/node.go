package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// node is a machine as labd sees it: a disk (an overlay over the host's root, whose writable layer labd holds in
// memory, so that it outlives the node's processes) and, while it is on, an init process in namespaces of its own.
type node struct {
	lab  *labd
	mu   sync.Mutex // held while power changes
	spec NodeSpec

	state  sync.Mutex // guards what follows
	pid    int        // of the node's init; 0 when off
	ended  chan struct{}
	boots  int
	bootID string
}

// bootConfig is what a node's init is told.
type bootConfig struct {
	Spec     NodeSpec          `json:"spec"`
	BootID   string            `json:"bootId"`
	Dir      string            `json:"dir"`
	Root     string            `json:"root"`
	Binary   string            `json:"binary"`
	Images   map[string]string `json:"images,omitempty"`
	JavaHome string            `json:"javaHome,omitempty"`
}

func (n *node) root() string { return n.lab.dir.mounts(n.spec.Name, "root") }

// create builds the machine's disk and turns the machine on.
func (n *node) create() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	state := n.lab.dir.mounts(n.spec.Name)
	if err := os.MkdirAll(state, 0o755); err != nil {
		return err
	}
	if err := mountTmpfs(state, "mode=755"); err != nil {
		return err
	}
	// A machine fresh from its installer: nothing of a kubelet that the host may run.
	for _, dir := range []string{"etc/kubernetes", "etc/systemd/system", "var/lib/kubelet", "var/log"} {
		if err := hideLower(state+"/upper", dir, 0o755); err != nil {
			return err
		}
	}
	if err := mountOverlay("/", state, n.root()); err != nil {
		return err
	}
	if err := n.install(); err != nil {
		return fmt.Errorf("node %s: %w", n.spec.Name, err)
	}
	return n.powerOn()
}

// powerOn starts the node's init. The caller holds n.mu.
func (n *node) powerOn() error {
	bootID := uuid.NewString()
	n.state.Lock()
	n.boots++
	boot := n.boots
	n.state.Unlock()
	d := n.lab.dir
	config := bootConfig{Spec: n.spec, BootID: bootID, Dir: string(d), Root: n.root(), Binary: n.lab.config.Binary,
		Images: n.lab.config.Images, JavaHome: n.lab.config.JavaHome}
	goRead, goWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	defer goRead.Close()
	reportRead, reportWrite, err := os.Pipe()
	if err != nil {
		goWrite.Close()
		return err
	}
	defer reportRead.Close()
	out, err := os.OpenFile(d.node(n.spec.Name, "init.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(n.lab.config.Binary, "node-init")
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"}
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	cmd.ExtraFiles = []*os.File{goRead, reportWrite}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true,
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	pid, done, err := n.lab.reaper.start(cmd)
	reportWrite.Close()
	if err != nil {
		goWrite.Close()
		return err
	}
	ended := make(chan struct{})
	n.state.Lock()
	n.pid, n.ended, n.bootID = pid, ended, bootID
	n.state.Unlock()
	go func() {
		status := <-done
		log.Printf("node %s is off (%s)", n.spec.Name, describeStatus(status))
		n.state.Lock()
		n.pid = 0
		n.state.Unlock()
		close(ended)
	}()
	err = plugIn(n.lab.reaper, n.spec, boot, pid)
	if err == nil {
		err = json.NewEncoder(goWrite).Encode(config)
	}
	goWrite.Close()
	if err != nil {
		n.kill()
		return fmt.Errorf("node %s: %w", n.spec.Name, err)
	}
	answer, _ := bufio.NewReader(reportRead).ReadString('\n')
	if answer = strings.TrimSpace(answer); answer != "ok" {
		n.kill()
		if answer == "" {
			answer = "its init ended; see " + d.node(n.spec.Name, "init.log")
		}
		return fmt.Errorf("node %s: %s", n.spec.Name, answer)
	}
	return nil
}

// kill ends all processes of the node, as a cut of its power would, and waits for the end.
func (n *node) kill() {
	n.state.Lock()
	pid, ended := n.pid, n.ended
	if pid != 0 {
		syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck
	}
	n.state.Unlock()
	if pid != 0 {
		<-ended
	}
}

func (n *node) powerOff() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.isOn() {
		return fmt.Errorf("node %s is off already", n.spec.Name)
	}
	n.kill()
	return nil
}

// restart turns the node on, after a power cut when it was on and a reboot was asked for. changed, if given, is
// the machine after a change of hardware.
func (n *node) restart(changed *NodeSpec) (any, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if changed == nil && n.isOn() {
		return nil, fmt.Errorf("node %s is on already", n.spec.Name)
	}
	if changed != nil {
		changed.Name, changed.Index, changed.Address = n.spec.Name, n.spec.Index, n.spec.Address
		changed.NoConfigDir = n.spec.NoConfigDir // part of the disk
		if err := changed.validate(); err != nil {
			return nil, err
		}
		n.kill()
		n.state.Lock()
		n.spec = *changed
		n.state.Unlock()
	}
	if err := n.powerOn(); err != nil {
		return nil, err
	}
	return n.summary(), nil
}

func (n *node) isOn() bool {
	n.state.Lock()
	defer n.state.Unlock()
	return n.pid != 0
}

func (n *node) summary() nodeSummary {
	n.state.Lock()
	defer n.state.Unlock()
	s := nodeSummary{NodeSpec: n.spec, Power: "off", Boots: n.boots}
	if n.pid != 0 {
		s.Power, s.BootID = "on", n.bootID
	}
	return s
}

// forwardRequest passes a request on to the node's init.
func (n *node) forwardRequest(r request) (any, error) {
	if !n.isOn() {
		return nil, fmt.Errorf("node %s is off", n.spec.Name)
	}
	return call(n.lab.dir.node(n.spec.Name, "init.sock"), r, nil)
}

// nodeState says what the node still lacks; empty means nothing.
func nodeState(ctx context.Context, client kubernetes.Interface, spec NodeSpec) string {
	object, err := client.CoreV1().Nodes().Get(ctx, spec.Name, metav1.GetOptions{})
	if err != nil {
		return "not registered"
	}
	ready := false
	for _, c := range object.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			ready = true
		}
	}
	if !ready {
		return "not Ready"
	}
	for _, taint := range object.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady {
			return "still tainted not-ready"
		}
	}
	if want := spec.Zones * spec.GPUsPerZone; want > 0 && !spec.NoGPUPlugin {
		have := object.Status.Allocatable[gpuResource]
		if have.Value() != int64(want) {
			return fmt.Sprintf("%s of %d GPUs allocatable", have.String(), want)
		}
	}
	return ""
}
