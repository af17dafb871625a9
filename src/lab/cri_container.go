package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/protobuf/proto"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// container is a container of the CRI: a process with its own root.
type container struct {
	id      string
	sandbox *sandbox
	image   *image
	config  *runtimeapi.ContainerConfig
	spec    *containerSpec
	created time.Time
	exited  chan struct{} // closed at the end of the process

	mu        sync.Mutex // guards what follows
	resources *runtimeapi.LinuxContainerResources
	pid       int // while it runs
	started   time.Time
	finished  time.Time
	exitCode  int32
	reason    string
	message   string
	log       *criLog
}

func (c *container) dir() string { return filepath.Join(nodeRun, "containers", c.id) }

// buildSpec turns the CRI's configuration into what container-init needs to know.
func (c *container) buildSpec(config imageConfig) (*containerSpec, error) {
	security := c.config.GetLinux().GetSecurityContext()
	spec := &containerSpec{
		Dir: c.dir(), Cwd: c.config.GetWorkingDir(), ReadOnlyRoot: security.GetReadonlyRootfs(), Privileged: security.GetPrivileged(),
		HostPID:    security.GetNamespaceOptions().GetPid() == runtimeapi.NamespaceMode_NODE,
		NoNewPrivs: security.GetNoNewPrivs(), Image: c.image.dir, Links: c.image.links, Hostname: c.sandbox.config.GetHostname(),
	}
	if config.BindJava {
		spec.Java = config.JavaHome
	}
	if spec.Cwd == "" {
		spec.Cwd = c.image.workingDir
	}
	if spec.Cwd == "" {
		spec.Cwd = "/"
	}
	entrypoint := c.config.GetCommand()
	if len(entrypoint) == 0 {
		entrypoint = c.image.entrypoint
	}
	spec.Argv = append(slices.Clone(entrypoint), c.config.GetArgs()...)
	if len(spec.Argv) == 0 {
		return nil, fmt.Errorf("no command specified: image %s has no entrypoint", c.image.name)
	}
	env := map[string]string{"PATH": containerPath, "HOSTNAME": spec.Hostname, "HOME": "/root"}
	for _, assignment := range c.image.env {
		key, value, _ := strings.Cut(assignment, "=")
		env[key] = value
	}
	for _, e := range c.config.GetEnvs() {
		env[e.GetKey()] = string(e.GetValue())
	}
	for _, key := range sortedKeys(env) {
		spec.Env = append(spec.Env, key+"="+env[key])
	}
	if err := spec.setUser(security, c.image.user); err != nil {
		return nil, err
	}
	var err error
	if spec.Capabilities, err = keptCapabilities(security.GetCapabilities(), spec.Privileged); err != nil {
		return nil, err
	}
	for _, m := range c.config.GetMounts() {
		spec.Mounts = append(spec.Mounts, containerMount{Host: m.GetHostPath(), Container: m.GetContainerPath(), ReadOnly: m.GetReadonly(),
			Recursive: m.GetRecursiveReadOnly(), Slave: m.GetPropagation() != runtimeapi.MountPropagation_PROPAGATION_PRIVATE})
	}
	for _, d := range c.config.GetDevices() {
		spec.Mounts = append(spec.Mounts, containerMount{Host: d.GetHostPath(), Container: d.GetContainerPath()})
	}
	// Parents before children.
	slices.SortStableFunc(spec.Mounts, func(a, b containerMount) int {
		return strings.Count(filepath.Clean(a.Container), "/") - strings.Count(filepath.Clean(b.Container), "/")
	})
	if dns := c.sandbox.config.GetDnsConfig(); dns != nil {
		for _, server := range dns.GetServers() {
			spec.ResolvConf += "nameserver " + server + "\n"
		}
		if len(dns.GetSearches()) > 0 {
			spec.ResolvConf += "search " + strings.Join(dns.GetSearches(), " ") + "\n"
		}
		if len(dns.GetOptions()) > 0 {
			spec.ResolvConf += "options " + strings.Join(dns.GetOptions(), " ") + "\n"
		}
	}
	return spec, nil
}

func (s *containerSpec) setUser(security *runtimeapi.LinuxContainerSecurityContext, imageUser string) error {
	user := imageUser
	if name := security.GetRunAsUsername(); name != "" {
		user = name
	}
	if id := security.GetRunAsUser(); id != nil {
		user = strconv.FormatInt(id.GetValue(), 10)
	}
	if user != "" {
		name, group, hasGroup := strings.Cut(user, ":")
		uid, err := strconv.Atoi(name)
		if err != nil {
			return fmt.Errorf("user %q: the lab knows numeric users only", user)
		}
		s.UID = uid
		if hasGroup {
			if s.GID, err = strconv.Atoi(group); err != nil {
				return fmt.Errorf("user %q: the lab knows numeric groups only", user)
			}
		}
	}
	if id := security.GetRunAsGroup(); id != nil {
		s.GID = int(id.GetValue())
	}
	s.Groups = []int{s.GID}
	for _, group := range security.GetSupplementalGroups() {
		s.Groups = append(s.Groups, int(group))
	}
	return nil
}

// start starts the process. A command that cannot be executed is an error here, as with runc.
func (c *container) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.started.IsZero() {
		return errors.New("the container was started before")
	}
	var err error
	if path := c.config.GetLogPath(); path != "" {
		if c.log, err = openCRILog(filepath.Join(c.sandbox.config.GetLogDirectory(), path)); err != nil {
			return err
		}
	}
	err = c.launch()
	if err != nil { // the state that a failed start leaves behind
		c.started, c.finished, c.exitCode, c.reason, c.message = time.Now(), time.Now(), 128, "StartError", err.Error()
		close(c.exited)
		c.log.close()
	}
	return err
}

// launch forks container-init, gives it the specification, and waits until it has become the container's command.
func (c *container) launch() error {
	specRead, specWrite, err1 := os.Pipe()
	failRead, failWrite, err2 := os.Pipe()
	outRead, outWrite, err3 := os.Pipe()
	errRead, errWrite, err4 := os.Pipe()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", "container-init")
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = []string{}, "/", outWrite, errWrite
	cmd.ExtraFiles = []*os.File{specRead, failWrite}
	flags := uintptr(syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC)
	if !c.spec.HostPID {
		flags |= syscall.CLONE_NEWPID
	}
	if c.spec.Hostname != "" && c.sandbox.config.GetLinux().GetSecurityContext().GetNamespaceOptions().GetNetwork() != runtimeapi.NamespaceMode_NODE {
		flags |= syscall.CLONE_NEWUTS
		c.spec.OwnHostname = true
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: flags}
	err := cmd.Start()
	for _, f := range []*os.File{specRead, failWrite, outWrite, errWrite} {
		f.Close()
	}
	if err != nil {
		for _, f := range []*os.File{specWrite, failRead, outRead, errRead} {
			f.Close()
		}
		return err
	}
	json.NewEncoder(specWrite).Encode(c.spec) //nolint:errcheck // a dead child says so below
	specWrite.Close()
	failure, _ := io.ReadAll(failRead) // closed by the exec of the command
	failRead.Close()
	if len(failure) > 0 {
		cmd.Wait() //nolint:errcheck
		outRead.Close()
		errRead.Close()
		return fmt.Errorf("failed to start container: %s", failure)
	}
	var copies sync.WaitGroup
	copies.Go(func() { c.log.copy("stdout", outRead) })
	copies.Go(func() { c.log.copy("stderr", errRead) })
	c.pid, c.started = cmd.Process.Pid, time.Now()
	go c.wait(cmd, &copies)
	return nil
}

func (c *container) wait(cmd *exec.Cmd, copies *sync.WaitGroup) {
	cmd.Wait() //nolint:errcheck // the state says it all
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	signalTree(cmd.Process.Pid, syscall.SIGKILL) // with hostPID its children are on their own: those in its group go
	drained := make(chan struct{})
	go func() { copies.Wait(); close(drained) }()
	select { // a process that left the group may hold the pipes open
	case <-drained:
	case <-time.After(200 * time.Millisecond):
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pid, c.finished = 0, time.Now()
	c.exitCode, c.reason = int32(status.ExitStatus()), "Completed"
	if status.Signaled() {
		c.exitCode = 128 + int32(status.Signal())
	}
	if c.exitCode != 0 {
		c.reason = "Error"
	}
	c.log.close()
	close(c.exited)
	log.Printf("container %s (%s) ended: %s", c.id[:12], c.config.GetMetadata().GetName(), describeStatus(status))
}

// stop ends the container: SIGTERM, and SIGKILL after the grace period.
func (c *container) stop(grace time.Duration) {
	signal := func(s syscall.Signal) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pid == 0 {
			return false
		}
		signalTree(c.pid, s)
		return true
	}
	if grace > 0 {
		if !signal(syscall.SIGTERM) {
			return
		}
		select {
		case <-c.exited:
			return
		case <-time.After(grace):
		}
	}
	if signal(syscall.SIGKILL) {
		<-c.exited
	}
}

func (c *container) runningPID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pid
}

func (c *container) update(r *runtimeapi.LinuxContainerResources) {
	c.mu.Lock()
	defer c.mu.Unlock()
	merged := &runtimeapi.LinuxContainerResources{}
	if c.resources != nil {
		merged = proto.Clone(c.resources).(*runtimeapi.LinuxContainerResources)
	}
	proto.Merge(merged, r) // what is not set stays
	c.resources = merged
}

func (c *container) state() runtimeapi.ContainerState {
	switch {
	case c.started.IsZero():
		return runtimeapi.ContainerState_CONTAINER_CREATED
	case c.finished.IsZero():
		return runtimeapi.ContainerState_CONTAINER_RUNNING
	}
	return runtimeapi.ContainerState_CONTAINER_EXITED
}

func (c *container) listed() *runtimeapi.Container {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &runtimeapi.Container{Id: c.id, PodSandboxId: c.sandbox.id, Metadata: c.config.GetMetadata(), Image: c.config.GetImage(),
		ImageRef: c.image.id(), ImageId: c.image.id(), State: c.state(), CreatedAt: c.created.UnixNano(),
		Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations()}
}

func (c *container) status() *runtimeapi.ContainerStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &runtimeapi.ContainerStatus{Id: c.id, Metadata: c.config.GetMetadata(), State: c.state(), CreatedAt: c.created.UnixNano(),
		Image: c.config.GetImage(), ImageRef: c.image.id(), ImageId: c.image.id(), Reason: c.reason, Message: c.message, ExitCode: c.exitCode,
		Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(), Mounts: c.config.GetMounts(),
		Resources: &runtimeapi.ContainerResources{Linux: c.resources},
		User:      &runtimeapi.ContainerUser{Linux: &runtimeapi.LinuxContainerUser{Uid: int64(c.spec.UID), Gid: int64(c.spec.GID)}}}
	if path := c.config.GetLogPath(); path != "" {
		out.LogPath = filepath.Join(c.sandbox.config.GetLogDirectory(), path)
	}
	if !c.started.IsZero() {
		out.StartedAt = c.started.UnixNano()
	}
	if !c.finished.IsZero() {
		out.FinishedAt = c.finished.UnixNano()
	}
	return out
}

func (c *container) stats() *runtimeapi.ContainerStats {
	now := time.Now().UnixNano()
	return &runtimeapi.ContainerStats{
		Attributes: &runtimeapi.ContainerAttributes{Id: c.id, Metadata: c.config.GetMetadata(), Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations()},
		Cpu:        &runtimeapi.CpuUsage{Timestamp: now, UsageCoreNanoSeconds: &runtimeapi.UInt64Value{}},
		Memory:     &runtimeapi.MemoryUsage{Timestamp: now, WorkingSetBytes: &runtimeapi.UInt64Value{}},
	}
}

func (c *container) reopenLog() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid == 0 {
		return errors.New("container is not running")
	}
	return c.log.reopen()
}
