package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	securejoin "github.com/cyphar/filepath-securejoin"
	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// containerSpec is what container-init is told (runc's config.json, in small).
type containerSpec struct {
	Dir          string            `json:"dir"` // of the container, in the node
	Argv         []string          `json:"argv"`
	Env          []string          `json:"env"`
	Cwd          string            `json:"cwd"`
	Hostname     string            `json:"hostname,omitempty"`
	OwnHostname  bool              `json:"ownHostname,omitempty"`
	UID          int               `json:"uid"`
	GID          int               `json:"gid"`
	Groups       []int             `json:"groups"`
	Capabilities []int             `json:"capabilities"` // those that stay
	NoNewPrivs   bool              `json:"noNewPrivs,omitempty"`
	HostPID      bool              `json:"hostPID,omitempty"`
	Privileged   bool              `json:"privileged,omitempty"`
	ReadOnlyRoot bool              `json:"readOnlyRoot,omitempty"`
	Image        string            `json:"image,omitempty"`
	Java         string            `json:"java,omitempty"` // to be mounted too
	Links        map[string]string `json:"links,omitempty"`
	ResolvConf   string            `json:"resolvConf,omitempty"`
	Mounts       []containerMount  `json:"mounts,omitempty"`
}

type containerMount struct {
	Host      string `json:"host"`
	Container string `json:"container"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
	Recursive bool   `json:"recursive,omitempty"`
	Slave     bool   `json:"slave,omitempty"`
}

// capabilities by number.
var capabilityNames = []string{"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
	"LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO",
	"SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD",
	"LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ",
	"PERFMON", "BPF", "CHECKPOINT_RESTORE"}

// defaultCapabilities are containerd's.
var defaultCapabilities = []string{"CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP", "SETPCAP",
	"NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"}

func keptCapabilities(wanted *runtimeapi.Capability, privileged bool) ([]int, error) {
	kept := map[int]bool{}
	set := func(names []string, value bool) error {
		for _, name := range names {
			name = strings.TrimPrefix(strings.ToUpper(name), "CAP_")
			if name == "ALL" {
				for number := range capabilityNames {
					kept[number] = value
				}
				continue
			}
			number := slices.Index(capabilityNames, name)
			if number < 0 {
				return fmt.Errorf("unknown capability %q", name)
			}
			kept[number] = value
		}
		return nil
	}
	names := defaultCapabilities
	if privileged {
		names = []string{"ALL"}
	}
	set(names, true) //nolint:errcheck // known names
	// "ALL" first, whichever list it is in: drop ALL and add X keeps X, add ALL and drop X lacks X.
	if slices.Contains(wanted.GetAddCapabilities(), "ALL") {
		set([]string{"ALL"}, true) //nolint:errcheck
	}
	if slices.Contains(wanted.GetDropCapabilities(), "ALL") {
		set([]string{"ALL"}, false) //nolint:errcheck
	}
	without := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.EqualFold(name, "ALL") })
	}
	if err := set(without(wanted.GetAddCapabilities()), true); err != nil {
		return nil, err
	}
	if err := set(without(wanted.GetDropCapabilities()), false); err != nil {
		return nil, err
	}
	out := []int{}
	for number := range capabilityNames {
		if kept[number] {
			out = append(out, number)
		}
	}
	return out, nil
}

// runContainerInit makes the container's world in its fresh namespaces and becomes the container's command. A
// failure is written to the pipe that the exec would have closed.
func runContainerInit() error {
	runtime.LockOSThread() // credentials belong to threads
	unix.CloseOnExec(3)
	unix.CloseOnExec(4)
	var spec containerSpec
	failure := os.NewFile(4, "failure")
	err := json.NewDecoder(os.NewFile(3, "spec")).Decode(&spec)
	if err == nil {
		err = spec.become()
	}
	fmt.Fprint(failure, err)
	os.Exit(128)
	return nil
}

func (s *containerSpec) become() error {
	if s.OwnHostname {
		if err := unix.Sethostname([]byte(s.Hostname)); err != nil {
			return err
		}
	}
	// Mounts of the node may come in where a volume asks for it; none may go out.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	root, err := s.makeRoot()
	if err != nil {
		return err
	}
	if err := pivotInto(root); err != nil {
		return err
	}
	if s.ReadOnlyRoot {
		if err := makeReadOnly("/", false); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(s.Cwd, 0o755); err != nil && !s.ReadOnlyRoot {
		return err
	}
	if err := unix.Chdir(s.Cwd); err != nil {
		return fmt.Errorf("working directory %s: %w", s.Cwd, err)
	}
	os.Clearenv()
	for _, assignment := range s.Env {
		key, value, _ := strings.Cut(assignment, "=")
		os.Setenv(key, value)
	}
	path, err := exec.LookPath(s.Argv[0])
	if err != nil {
		return err
	}
	if err := s.dropPrivileges(); err != nil {
		return err
	}
	err = unix.Exec(path, s.Argv, s.Env)
	return fmt.Errorf("exec %s: %w", path, err)
}

func (s *containerSpec) makeRoot() (string, error) {
	root := filepath.Join(s.Dir, "root")
	// What is the machine's rather than the image's is empty in a container.
	for dir, mode := range map[string]os.FileMode{"tmp": 0o777 | os.ModeSticky, "run": 0o755, "var/log": 0o755, "var/lib/kubelet": 0o755, "etc/kubernetes": 0o755, "etc/systemd/system": 0o755} {
		if err := hideLower(filepath.Join(s.Dir, "upper"), dir, mode); err != nil {
			return "", err
		}
	}
	if err := mountOverlay(nodeBase, s.Dir, root); err != nil {
		return "", err
	}
	in := func(path string) string { return filepath.Join(root, path) }
	if err := s.mountSystem(in); err != nil {
		return "", err
	}
	if err := bindReadOnly(nodeBinary, in(containerBinary)); err != nil {
		return "", err
	}
	if s.Image != "" {
		if err := bindReadOnly(s.Image, in(imageMount)); err != nil {
			return "", err
		}
	}
	if s.Java != "" {
		if err := bindReadOnly(s.Java, in(s.Java)); err != nil {
			return "", err
		}
	}
	for link, target := range s.Links {
		os.Remove(in(link))
		if err := os.MkdirAll(filepath.Dir(in(link)), 0o755); err != nil {
			return "", err
		}
		if err := os.Symlink(target, in(link)); err != nil {
			return "", err
		}
	}
	os.Remove(in("etc/resolv.conf")) // may be a link
	if err := os.WriteFile(in("etc/resolv.conf"), []byte(s.ResolvConf), 0o644); err != nil {
		return "", err
	}
	for _, m := range s.Mounts {
		if err := s.mountVolume(root, m); err != nil {
			return "", err
		}
	}
	return root, nil
}

// mountSystem mounts /proc, /sys and /dev. The made-up hardware is visible in a container as on its node.
func (s *containerSpec) mountSystem(in func(string) string) error {
	for _, dir := range []string{"proc", "sys"} {
		if err := os.MkdirAll(in(dir), 0o755); err != nil {
			return err
		}
	}
	if s.HostPID {
		if err := bind("/proc", in("proc"), unix.MS_REC); err != nil {
			return err
		}
	} else {
		if err := unix.Mount("proc", in("proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
			return fmt.Errorf("mounting /proc: %w", err)
		}
		if err := bindReadOnly(in("proc/sys"), in("proc/sys")); err != nil {
			return err
		}
		for _, path := range []string{"/proc/meminfo", "/proc/sys/kernel/random/boot_id"} {
			if err := bindReadOnly(fakeFile(path), in(path)); err != nil {
				return err
			}
		}
	}
	if err := bind("/sys", in("sys"), unix.MS_REC); err != nil {
		return err
	}
	if !s.Privileged {
		if err := makeReadOnly(in("sys"), true); err != nil {
			return err
		}
	}
	return setUpDev(in("dev"), "/dev", s.Privileged)
}

func (s *containerSpec) mountVolume(root string, m containerMount) error {
	if _, err := os.Stat(m.Host); os.IsNotExist(err) {
		// containerd makes a missing directory; whether it may be missing was the kubelet's to check
		if err := os.MkdirAll(m.Host, 0o755); err != nil {
			return err
		}
	}
	target, err := securejoin.SecureJoin(root, m.Container) // links in the image must not lead out of it
	if err != nil {
		return err
	}
	if err := bind(m.Host, target, unix.MS_REC); err != nil {
		return err
	}
	propagation := uintptr(unix.MS_PRIVATE)
	if m.Slave {
		propagation = unix.MS_SLAVE
	}
	if err := unix.Mount("", target, "", propagation|unix.MS_REC, ""); err != nil {
		return err
	}
	if m.ReadOnly {
		return makeReadOnly(target, m.Recursive)
	}
	return nil
}

// dropPrivileges sets user, groups and capabilities of this thread, which is the one that calls exec.
func (s *containerSpec) dropPrivileges() error {
	if s.NoNewPrivs {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	// exec gives root what the bounding set allows, and others nothing: as containerd without ambient capabilities
	for number := 0; number < 64; number++ {
		if slices.Contains(s.Capabilities, number) {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(number), 0, 0, 0); err != nil && err != unix.EINVAL {
			return fmt.Errorf("dropping capability %d: %w", number, err)
		}
	}
	if err := syscall.Setgroups(s.Groups); err != nil {
		return err
	}
	if err := syscall.Setgid(s.GID); err != nil {
		return err
	}
	return syscall.Setuid(s.UID)
}
