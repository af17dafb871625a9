package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Addresses inside the lab. They exist in the lab's own network namespace only, so they may be constants:
// labs side by side do not see each other.
const (
	bridgeName      = "lab0"
	bridgeAddress   = "10.88.0.1"
	bridgeMAC       = "02:00:0a:58:ff:ff"
	nodeNetwork     = "10.88.0.0/16"
	serviceNetwork  = "10.96.0.0/16"
	apiServiceIP    = "10.96.0.1"
	dnsServiceIP    = "10.96.0.10"
	apiServerPort   = 6443
	gpuResource     = "nvidia.com/gpu"
	gpuPresentLabel = "nvidia.com/gpu.present"
)

// nodeAddress is the address of the lab's index-th node (from 1).
func nodeAddress(index int) string { return fmt.Sprintf("10.88.%d.%d", 1+index/250, 1+index%250) }

// LabConfig is what `up` was asked for.
type LabConfig struct {
	Dir       string            `json:"dir"`
	Binary    string            `json:"binary"`
	Server    string            `json:"server"`
	Audit     bool              `json:"audit,omitempty"`
	NodeGrace time.Duration     `json:"nodeGrace"`
	Images    map[string]string `json:"images,omitempty"`
	JavaHome  string            `json:"javaHome,omitempty"`
	Nodes     []NodeSpec        `json:"nodes"`
}

// NodeSpec is one machine.
type NodeSpec struct {
	Name           string `json:"name"`
	Index          int    `json:"index"`
	Address        string `json:"address"`
	Zones          int    `json:"zones"`
	CPUsPerZone    int    `json:"cpusPerZone"`
	ThreadsPerCore int    `json:"threadsPerCore"`
	MemoryPerZone  int64  `json:"memoryPerZone"` // bytes
	HugePages2Mi   int    `json:"hugepages2MiPerZone,omitempty"`
	GPUsPerZone    int    `json:"gpusPerZone"`
	OnlineCPUs     string `json:"onlineCPUs,omitempty"` // a cpuset; empty is all
	NoGPUPlugin    bool   `json:"noGPUPlugin,omitempty"`
	NoConfigDir    bool   `json:"noConfigDir,omitempty"`
}

var nodeName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,50}[a-z0-9])?$`)

func (s NodeSpec) validate() error {
	switch {
	case !nodeName.MatchString(s.Name):
		return fmt.Errorf("node name %q: want a DNS name of at most 52 characters", s.Name)
	case s.Zones < 1 || s.Zones > 64:
		return fmt.Errorf("--zones %d: want 1 to 64", s.Zones)
	case s.CPUsPerZone < 1 || s.ThreadsPerCore < 1 || s.CPUsPerZone%s.ThreadsPerCore != 0:
		return fmt.Errorf("--cpus-per-zone %d is not a multiple of --threads-per-core %d", s.CPUsPerZone, s.ThreadsPerCore)
	case s.Zones*s.CPUsPerZone > 1024:
		return fmt.Errorf("%d CPUs: want at most 1024", s.Zones*s.CPUsPerZone)
	case s.MemoryPerZone < 1<<28 || s.MemoryPerZone%1024 != 0:
		return fmt.Errorf("--memory-per-zone: want at least 256Mi, in whole KiB")
	case s.GPUsPerZone < 0 || s.GPUsPerZone > 16:
		return fmt.Errorf("--gpus-per-zone %d: want 0 to 16", s.GPUsPerZone)
	case s.HugePages2Mi < 0 || int64(s.HugePages2Mi)<<21 > s.MemoryPerZone:
		return fmt.Errorf("--hugepages-2Mi-per-zone %d: more than the zone's memory", s.HugePages2Mi)
	}
	if s.OnlineCPUs != "" {
		online, err := parseCPUSet(s.OnlineCPUs)
		if err != nil {
			return fmt.Errorf("--online-cpus: %w", err)
		}
		for _, cpu := range online {
			if cpu >= s.Zones*s.CPUsPerZone {
				return fmt.Errorf("--online-cpus %s: the machine's last CPU is %d", s.OnlineCPUs, s.Zones*s.CPUsPerZone-1)
			}
		}
	}
	return nil
}

// nodeFlags adds the flags that describe a machine; the values are defaults until parsed.
func nodeFlags(f *flag.FlagSet, s *NodeSpec) {
	f.IntVar(&s.Zones, "zones", s.Zones, "NUMA zones")
	f.IntVar(&s.CPUsPerZone, "cpus-per-zone", s.CPUsPerZone, "CPUs (hardware threads) of a zone")
	f.IntVar(&s.ThreadsPerCore, "threads-per-core", s.ThreadsPerCore, "SMT threads of a core")
	f.Func("memory-per-zone", "memory of a zone, a Kubernetes quantity", func(v string) error {
		q, err := resource.ParseQuantity(v)
		if err == nil {
			s.MemoryPerZone = q.Value()
		}
		return err
	})
	f.IntVar(&s.HugePages2Mi, "hugepages-2Mi-per-zone", s.HugePages2Mi, "2 MiB pages reserved in a zone")
	f.IntVar(&s.GPUsPerZone, "gpus-per-zone", s.GPUsPerZone, "GPUs of a zone")
	f.StringVar(&s.OnlineCPUs, "online-cpus", s.OnlineCPUs, "CPUs that are online, e.g. 0-6,8-15 (default all)")
	f.BoolVar(&s.NoGPUPlugin, "no-gpu-plugin", s.NoGPUPlugin, "start no device plugin")
	f.BoolVar(&s.NoConfigDir, "no-config-dir", s.NoConfigDir, "a kubelet without --config-dir")
}

func defaultNodeSpec() NodeSpec {
	return NodeSpec{Zones: 2, CPUsPerZone: 8, ThreadsPerCore: 2, MemoryPerZone: 16 << 30, GPUsPerZone: 4}
}

// layout names the files of a lab's directory.
type layout string

func (d layout) path(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}
func (d layout) config() string                { return d.path("lab.json") }
func (d layout) control() string               { return d.path("control.sock") }
func (d layout) kubeconfig() string            { return d.path("kubeconfig") }
func (d layout) pki(name string) string        { return d.path("pki", name) }
func (d layout) log(name string) string        { return d.path("logs", name+".log") }
func (d layout) node(name, file string) string { return d.path("nodes", name, file) }

// mounts is where labd mounts what lives in memory. It is empty outside labd's mount namespace.
func (d layout) mounts(elem ...string) string {
	return d.path(append([]string{"mnt"}, elem...)...)
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return writeFileAtomically(path, append(data, '\n'), 0o644)
}

func writeFileAtomically(path string, data []byte, mode os.FileMode) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, data, mode); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// labDir takes --dir (before or after other flags) or NUMALAB_DIR.
func labDir(flagValue string) (layout, error) {
	dir := flagValue
	if dir == "" {
		dir = os.Getenv("NUMALAB_DIR")
	}
	if dir == "" {
		return "", fmt.Errorf("which lab? give --dir DIR or set NUMALAB_DIR")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(abs, ":,\\ \n") {
		return "", fmt.Errorf("--dir %s: the path goes into overlay mount options, so it may not hold ':', ',', '\\' or blanks", abs)
	}
	return layout(abs), nil
}
