package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cmdUp starts a lab and returns when it is ready; the lab goes on by itself.
func cmdUp(args []string) error {
	var dirFlag, prefix string
	var count int
	var noNodes bool
	config := LabConfig{Images: map[string]string{}}
	spec := defaultNodeSpec()
	f := flag.NewFlagSet("up", flag.ContinueOnError)
	f.StringVar(&dirFlag, "dir", "", "the lab's directory")
	f.IntVar(&count, "nodes", 4, "nodes to start with")
	f.StringVar(&prefix, "name-prefix", "gpu-", "nodes are called PREFIX1, PREFIX2, …")
	f.BoolVar(&noNodes, "no-nodes", false, "the control plane alone")
	f.DurationVar(&config.NodeGrace, "node-grace", 20*time.Second, "a node that is silent for so long is NotReady (Kubernetes' default is 50s)")
	f.BoolVar(&config.Audit, "audit", false, "write DIR/audit.log")
	f.Func("image", "NAME=DIR: an image whose containers see DIR at "+imageMount, func(v string) error {
		name, dir, ok := strings.Cut(v, "=")
		if !ok {
			return fmt.Errorf("want NAME=DIR")
		}
		abs, err := filepath.Abs(dir)
		if err == nil {
			var info os.FileInfo
			if info, err = os.Stat(abs); err == nil && !info.IsDir() {
				err = fmt.Errorf("%s is not a directory", dir)
			}
		}
		config.Images[name] = abs
		return err
	})
	nodeFlags(f, &spec)
	if err := parse(f, args, 0); err != nil {
		return err
	}
	d, err := labDir(dirFlag)
	if err != nil {
		return err
	}
	raiseInotify()
	if noNodes {
		count = 0
	}
	for i := 1; i <= count; i++ {
		node := spec
		node.Name = prefix + strconv.Itoa(i)
		if err := node.validate(); err != nil {
			return err
		}
		config.Nodes = append(config.Nodes, node)
	}
	config.Dir, config.JavaHome = string(d), findJava()
	if config.Binary, err = os.Executable(); err != nil {
		return err
	}
	if err := checkHost(d); err != nil {
		return err
	}
	listener, err := prepare(d, &config)
	if err != nil {
		return err
	}
	return launch(d, listener)
}

// parse parses flags and demands a number of arguments.
func parse(f *flag.FlagSet, args []string, want int) error {
	f.SetOutput(&bytes.Buffer{})
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != want {
		return fmt.Errorf("%s: unexpected arguments %q; try 'numalab help'", f.Name(), f.Args())
	}
	return nil
}

func checkHost(d layout) error {
	if os.Geteuid() != 0 {
		return errors.New("the lab makes namespaces and mounts: run it as root")
	}
	for program, pkg := range map[string]string{"ip": "iproute2", "dbus-daemon": "dbus-daemon (or dbus)", "nsenter": "util-linux"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is missing: install the package %s", program, pkg)
		}
	}
	if pid := labdPID(d); pid != 0 {
		return fmt.Errorf("a lab is running in %s (PID %d): 'numalab down' ends it", d, pid)
	}
	return nil
}

// findJava is JAVA_HOME, or that of the java on PATH, or nothing.
func findJava() string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return home
	}
	if java, err := exec.LookPath("java"); err == nil {
		if real, err := filepath.EvalSymlinks(java); err == nil {
			return filepath.Dir(filepath.Dir(real))
		}
	}
	return ""
}

// prepare clears the directory of a former lab and opens the API server's address on the host.
func prepare(d layout, config *LabConfig) (*os.File, error) {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return nil, err
	}
	if err := removeLab(d); err != nil {
		return nil, err
	}
	if err := writeJSON(d.config(), config); err != nil { // marks the directory as a lab's
		return nil, err
	}
	for _, dir := range []string{"bin", "logs", "nodes", "mnt"} {
		if err := os.MkdirAll(d.path(dir), 0o755); err != nil {
			return nil, err
		}
	}
	for name := range apps {
		if err := os.Symlink(config.Binary, d.path("bin", name)); err != nil {
			return nil, err
		}
	}
	if err := os.Symlink(config.Binary, d.path("bin", "numalab")); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	config.Server = "https://" + l.Addr().String()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return nil, err
	}
	return file, writeJSON(d.config(), config)
}

// launch starts labd in its own namespaces and shows what it reports.
func launch(d layout, listener *os.File) error {
	reportRead, reportWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(d.path("logs", "labd.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", "labd")
	cmd.Args[0] = "numalab"
	cmd.Env = append(withoutEnv(os.Environ(), "KUBECONFIG", "NUMALAB_DIR"), "NUMALAB_DIR="+string(d))
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	cmd.ExtraFiles = []*os.File{listener, reportWrite}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true,
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the lab: %w", err)
	}
	reportWrite.Close()
	listener.Close()
	if err := writePID(d, cmd.Process.Pid); err != nil {
		return err
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-interrupted      // half a lab is of no use: end it
		cmd.Process.Kill() //nolint:errcheck
	}()
	started := time.Now()
	result, err := readReplies(json.NewDecoder(reportRead), func(line string) {
		fmt.Fprintf(os.Stderr, "%5.1fs  %s\n", time.Since(started).Seconds(), line)
	})
	if err != nil {
		cmd.Process.Kill() //nolint:errcheck
		cmd.Wait()         //nolint:errcheck
		os.Remove(d.path("labd.pid"))
		return fmt.Errorf("%w; see %s", err, d.log("labd"))
	}
	return printJSON(result)
}

func printJSON(raw json.RawMessage) error {
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, raw, "", "  "); err != nil {
		return err
	}
	_, err := fmt.Println(pretty.String())
	return err
}

func withoutEnv(env []string, names ...string) []string {
	var out []string
next:
	for _, assignment := range env {
		for _, name := range names {
			if strings.HasPrefix(assignment, name+"=") {
				continue next
			}
		}
		out = append(out, assignment)
	}
	return out
}

// A PID alone may have been reused: the file holds the process' start time too.

func writePID(d layout, pid int) error {
	start, err := startTime(pid)
	if err != nil {
		return err
	}
	return writeFileAtomically(d.path("labd.pid"), fmt.Appendf(nil, "%d %s\n", pid, start), 0o644)
}

func startTime(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if fields[0] == "Z" {
		return "", os.ErrProcessDone
	}
	return fields[19], nil // field 22 of proc(5)
}

// labdPID is the PID of the lab's daemon, 0 when there is none.
func labdPID(d layout) int {
	data, err := os.ReadFile(d.path("labd.pid"))
	if err != nil {
		return 0
	}
	var pid int
	var start string
	if _, err := fmt.Sscan(string(data), &pid, &start); err != nil {
		return 0
	}
	if now, err := startTime(pid); err != nil || now != start {
		return 0
	}
	return pid
}

// removeLab removes what an ended lab left in its directory. Its mounts went with its namespaces. A directory that
// holds something else is not touched.
func removeLab(d layout) error {
	if entries, err := os.ReadDir(string(d)); err != nil || len(entries) == 0 {
		return err
	}
	if _, err := os.Stat(d.config()); err != nil {
		return fmt.Errorf("%s is not empty and holds no lab (no lab.json)", d)
	}
	for _, name := range []string{"bin", "logs", "nodes", "mnt", "pki", "etcd", "labd.pid", "control.sock", "kubeconfig", "audit.log", "audit-policy.yaml", "lab.json"} {
		if err := removeAll(d.path(name)); err != nil {
			return err
		}
	}
	return nil
}

// removeAll tries again for a while where a directory was filled while it was emptied. All processes of the lab have
// ended by then; that a kubelet's directory was not empty all the same was seen once, on a busy machine.
func removeAll(path string) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := os.RemoveAll(path)
		if !errors.Is(err, syscall.ENOTEMPTY) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// cmdDown ends a lab: with its daemon, PID 1 of its namespace, ends all of it.
func cmdDown(args []string) error {
	var dirFlag string
	var purge bool
	f := flag.NewFlagSet("down", flag.ContinueOnError)
	f.StringVar(&dirFlag, "dir", "", "the lab's directory")
	f.BoolVar(&purge, "purge", false, "remove the directory's content too (logs, audit log)")
	if err := parse(f, args, 0); err != nil {
		return err
	}
	d, err := labDir(dirFlag)
	if err != nil {
		return err
	}
	if pid := labdPID(d); pid != 0 {
		syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck
		deadline := time.Now().Add(20 * time.Second)
		for labdPID(d) != 0 { // it is gone when all processes of its namespace are
			if time.Now().After(deadline) {
				return fmt.Errorf("the lab's daemon (PID %d) does not end", pid)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	os.Remove(d.path("labd.pid"))
	os.Remove(d.control())
	if _, err := os.Stat(string(d)); purge && err == nil {
		if err := removeLab(d); err != nil {
			return err
		}
		os.Remove(string(d)) // fails when something else is in it: so be it
	}
	return nil
}

// Each node takes about ten inotify instances, and a kubelet without one ends ("inotify_init: too many open files").
const (
	inotifyInstances = "/proc/sys/fs/inotify/max_user_instances"
	inotifyEnough    = 1024
)

// raiseInotify lets this machine's users have as many inotify instances as several labs take. Where it may not, labs go
// as far as they can.
func raiseInotify() {
	now, err := os.ReadFile(inotifyInstances)
	if err != nil {
		return
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(now))); err == nil && n < inotifyEnough {
		_ = os.WriteFile(inotifyInstances, []byte(strconv.Itoa(inotifyEnough)), 0o644)
	}
}
