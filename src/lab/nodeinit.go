package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// File descriptors that labd hands to a node's init.
const (
	initConfigFD = 3 // the boot configuration, once the network cable is plugged in
	initReportFD = 4 // "ok" or what went wrong
)

// Files of the lab in a node's /run.
const (
	nodeRun       = "/run/numalab"
	nodeFakes     = nodeRun + "/fake"   // what is mounted over /proc and /sys
	nodeBase      = nodeRun + "/base"   // the host's root, read-only: the userland of images
	nodeImages    = nodeRun + "/images" // the directories given with --image
	nodeCRISocket = nodeRun + "/cri.sock"
)

// nodeInit is PID 1 of a node. It stands for the kernel's and the firmware's part (fake sysfs), for systemd
// (units.go), and starts what a distribution would: D-Bus, the container runtime, the kubelet, a device plugin.
type nodeInit struct {
	boot     bootConfig
	reaper   *reaper
	units    *unitManager
	programs map[string]*service
	bindJava bool // the JDK is not on the root file system
}

func runNodeInit() error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // to systemd, a daemon-reload
	unix.CloseOnExec(initConfigFD)
	unix.CloseOnExec(initReportFD)
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	config, report := os.NewFile(initConfigFD, "config"), os.NewFile(initReportFD, "report")
	n := &nodeInit{programs: map[string]*service{}}
	err := json.NewDecoder(config).Decode(&n.boot)
	config.Close()
	if err != nil {
		return err // labd gave up
	}
	if err := n.start(); err != nil {
		fmt.Fprintln(report, strings.ReplaceAll(err.Error(), "\n", "; "))
		return err
	}
	fmt.Fprintln(report, "ok")
	report.Close()
	for range hangups {
		n.units.reload()
	}
	return nil
}

func (n *nodeInit) start() error {
	spec, d := n.boot.Spec, layout(n.boot.Dir)
	log.Printf("boot %s: %d zones of %d CPUs and %d MiB", n.boot.BootID, spec.Zones, spec.CPUsPerZone, spec.MemoryPerZone>>20)
	if err := unix.Sethostname([]byte(spec.Name)); err != nil {
		return err
	}
	if err := n.setUpRoot(); err != nil {
		return err
	}
	if err := n.fakeHardware(); err != nil {
		return err
	}
	n.reaper = newReaper()
	if err := setUpNodeNetwork(n.reaper, spec); err != nil {
		return err
	}
	n.units = newUnitManager(n.reaper)
	if err := startBus(n.reaper, n.units); err != nil {
		return err
	}
	if err := n.startPrograms(); err != nil {
		return err
	}
	kubelet, err := n.units.get("kubelet.service") // enabled: it starts at boot
	if err != nil {
		return err
	}
	go kubelet.start() //nolint:errcheck // a failure is the unit's state
	control, err := listenUnix(d.node(spec.Name, "init.sock"))
	if err != nil {
		return err
	}
	go serveControl(control, n.handle)
	return nil
}

func (n *nodeInit) startPrograms() error {
	d, name := layout(n.boot.Dir), n.boot.Spec.Name
	images, err := json.Marshal(imageConfig{Images: n.boot.Images, JavaHome: n.boot.JavaHome, BindJava: n.bindJava})
	if err != nil {
		return err
	}
	if err := os.WriteFile(nodeRun+"/images.json", images, 0o644); err != nil {
		return err
	}
	n.programs["cri"] = &service{name: "cri", reaper: n.reaper, log: d.node(name, "cri.log"), argv: []string{nodeBinary, "cri", n.boot.Spec.Address}}
	n.programs["gpuplugin"] = &service{name: "gpuplugin", reaper: n.reaper, log: d.node(name, "gpuplugin.log"),
		argv: []string{nodeBinary, "device-plugin", gpuResource, fmt.Sprint(n.boot.Spec.Zones), fmt.Sprint(n.boot.Spec.GPUsPerZone)}}
	if err := n.programs["cri"].start(); err != nil {
		return err
	}
	if n.boot.Spec.NoGPUPlugin || n.boot.Spec.GPUsPerZone == 0 {
		return nil
	}
	return n.programs["gpuplugin"].start()
}

// setUpRoot turns the node's disk into this mount namespace's root and mounts what a booting system mounts.
func (n *nodeInit) setUpRoot() error {
	root, d, name := n.boot.Root, layout(n.boot.Dir), n.boot.Spec.Name
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	in := func(path string) string { return filepath.Join(root, path) }
	for _, dir := range []string{"proc", "sys", "run", "tmp"} {
		if err := os.MkdirAll(in(dir), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("proc", in("proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	if err := unix.Mount("sysfs", in("sys"), "sysfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /sys: %w", err)
	}
	if err := bind("/sys/fs/cgroup", in("sys/fs/cgroup"), unix.MS_REC); err != nil {
		return err
	}
	// The kubelet must not touch the real machine's cgroups.
	if err := makeReadOnly(in("sys/fs/cgroup"), true); err != nil {
		return err
	}
	if err := setUpDev(in("dev"), "/dev", true); err != nil {
		return err
	}
	if err := mountTmpfs(in("run"), "mode=755"); err != nil {
		return err
	}
	if err := mountTmpfs(in("tmp"), "mode=1777"); err != nil {
		return err
	}
	if err := bind(d.node(name, "var-lib-kubelet"), in("var/lib/kubelet"), 0); err != nil {
		return err
	}
	if err := unix.Mount("", in("var/lib/kubelet"), "", unix.MS_SHARED, ""); err != nil {
		return err
	}
	if err := bind(d.node(name, "var-log"), in("var/log"), 0); err != nil {
		return err
	}
	if err := bind(n.boot.Dir, in(n.boot.Dir), 0); err != nil { // the directory "mnt" in it is empty here
		return err
	}
	if err := bindReadOnly(n.boot.Binary, in(nodeBinary)); err != nil {
		return err
	}
	if err := bindReadOnly("/", in(nodeBase)); err != nil {
		return err
	}
	for i, name := range sortedKeys(n.boot.Images) {
		if err := bindReadOnly(n.boot.Images[name], in(imageDir(i))); err != nil {
			return fmt.Errorf("image %s: %w", name, err)
		}
	}
	// A JDK outside the root file system would not be seen through the overlay.
	if java := n.boot.JavaHome; java != "" && onOtherFilesystem(java) {
		n.bindJava = true
		if err := bindReadOnly(java, in(java)); err != nil {
			return err
		}
	}
	return pivotInto(root)
}

// fakeHardware mounts the made-up machine over /proc and /sys, and shields the kernel's settings.
func (n *nodeInit) fakeHardware() error {
	m := newMachine(n.boot.Spec)
	if err := m.writeSysfs(nodeFakes); err != nil {
		return err
	}
	mounts := []struct{ from, over string }{
		{"cpu", "/sys/devices/system/cpu"}, {"node", "/sys/devices/system/node"},
		{"pci", "/sys/bus/pci/devices"}, {"hugepages", "/sys/kernel/mm/hugepages"},
	}
	for _, mount := range mounts {
		if _, err := os.Stat(mount.over); err != nil {
			continue // e.g. a machine without a PCI bus
		}
		if err := bindReadOnly(filepath.Join(nodeFakes, mount.from), mount.over); err != nil {
			return err
		}
	}
	host, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return err
	}
	// Nothing in a node may set the real kernel's parameters. Those that the kubelet sets at start are files of ours.
	if err := bindReadOnly("/proc/sys", "/proc/sys"); err != nil {
		return err
	}
	files := map[string]string{
		"/proc/meminfo":                       m.memInfo(string(host)),
		"/proc/sys/kernel/random/boot_id":     n.boot.BootID + "\n",
		"/proc/sys/vm/overcommit_memory":      "1\n",
		"/proc/sys/vm/panic_on_oom":           "0\n",
		"/proc/sys/kernel/panic":              "10\n",
		"/proc/sys/kernel/panic_on_oops":      "1\n",
		"/proc/sys/kernel/keys/root_maxkeys":  "1000000\n",
		"/proc/sys/kernel/keys/root_maxbytes": "25000000\n",
	}
	for path, content := range files {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		fake := fakeFile(path)
		if err := os.MkdirAll(filepath.Dir(fake), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(fake, []byte(content), 0o644); err != nil {
			return err
		}
		if err := bind(fake, path, 0); err != nil {
			return err
		}
	}
	return nil
}

// fakeFile is the file that is mounted over one of /proc.
func fakeFile(path string) string { return filepath.Join(nodeFakes, path) }

func onOtherFilesystem(path string) bool {
	var root, other unix.Stat_t
	return unix.Stat("/", &root) == nil && unix.Stat(path, &other) == nil && root.Dev != other.Dev
}

// handle answers labd.
func (n *nodeInit) handle(r request, _ func(string)) (any, error) {
	if r.Op == "program" {
		program := n.programs["gpuplugin"]
		if r.Action == "stop" {
			program.stop(syscall.SIGTERM, 3*time.Second)
			return nil, nil
		}
		if n.boot.Spec.GPUsPerZone == 0 {
			return nil, fmt.Errorf("node %s has no GPUs", n.boot.Spec.Name)
		}
		return nil, program.start()
	}
	u, err := n.units.get("kubelet.service")
	if err != nil {
		return nil, err
	}
	switch r.Action {
	case "start":
		return nil, u.start()
	case "stop":
		u.stop()
		return nil, nil
	case "restart":
		return nil, u.restart()
	case "kill":
		return nil, u.kill(syscall.SIGKILL)
	}
	return nil, fmt.Errorf("unknown action %q", r.Action)
}
