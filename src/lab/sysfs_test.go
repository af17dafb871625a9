package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func testMachine(zones, cpus, threads int) machine {
	spec := defaultNodeSpec()
	spec.Name, spec.Zones, spec.CPUsPerZone, spec.ThreadsPerCore = "n", zones, cpus, threads
	return newMachine(spec)
}

func TestNumberingIsLinuxs(t *testing.T) {
	for _, c := range []struct {
		zones, cpus, threads int
		want                 []string // the zones' CPUs
		siblingsOf1          string
	}{
		{2, 8, 2, []string{"0-3,8-11", "4-7,12-15"}, "1,9"},
		{2, 4, 1, []string{"0-3", "4-7"}, "1"},
		{4, 4, 2, []string{"0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"}, "1,9"},
		{1, 16, 4, []string{"0-15"}, "1,5,9,13"},
	} {
		m := testMachine(c.zones, c.cpus, c.threads)
		for zone, want := range c.want {
			if got := formatCPUSet(m.zoneCPUs(zone)); got != want {
				t.Errorf("%+v: zone %d has %s", c, zone, got)
			}
		}
		if got := formatCPUSet(m.siblings(1)); got != c.siblingsOf1 {
			t.Errorf("%+v: siblings of 1: %s", c, got)
		}
	}
}

func TestSysfs(t *testing.T) {
	root := t.TempDir()
	m := testMachine(2, 8, 2)
	m.spec.MemoryPerZone, m.spec.HugePages2Mi = 16<<30, 512
	if err := m.writeSysfs(root); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"cpu/online": "0-15", "cpu/offline": "", "node/online": "0-1", "node/node1/cpulist": "4-7,12-15", "node/node1/cpumap": "0000f0f0",
		"node/node0/distance": "10 21", "node/node1/distance": "21 10",
		"cpu/cpu12/topology/thread_siblings_list": "4,12", "cpu/cpu12/topology/core_id": "0", "cpu/cpu12/topology/physical_package_id": "1",
		"node/node0/hugepages/hugepages-2048kB/nr_hugepages": "512", "hugepages/hugepages-2048kB/nr_hugepages": "1024",
		"pci/0001:10:00.0/numa_node": "1", "pci/0001:10:00.0/class": "0x030200", "pci/0000:80:00.0/vendor": "0x15b3",
		"node/node1/cpu12/topology/core_id": "0", // through the link
	} {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s: %q %v, want %q", path, got, err, want)
		}
	}
	info, _ := os.ReadFile(filepath.Join(root, "node/node0/meminfo"))
	if !strings.Contains(string(info), "Node 0 MemTotal:        16777216 kB") {
		t.Errorf("meminfo:\n%s", info)
	}
}

func TestOfflineCPUs(t *testing.T) {
	root := t.TempDir()
	spec := defaultNodeSpec()
	spec.OnlineCPUs = "0-6,8-15"
	m := newMachine(spec)
	if err := m.writeSysfs(root); err != nil {
		t.Fatal(err)
	}
	if got := formatCPUSet(m.zoneCPUs(1)); got != "4-6,12-15" {
		t.Errorf("zone 1 has %s", got)
	}
	if got, _ := os.ReadFile(filepath.Join(root, "cpu/offline")); string(got) != "7\n" {
		t.Errorf("offline: %q", got)
	}
	if _, err := os.Stat(filepath.Join(root, "cpu/cpu7/topology")); err == nil {
		t.Error("an offline CPU has no topology")
	}
	if got := formatCPUSet(m.siblings(15)); got != "15" {
		t.Errorf("siblings of 15: %s", got)
	}
}

func TestMemInfoTotalIsExact(t *testing.T) {
	m := testMachine(2, 8, 2)
	got := m.memInfo("MemTotal:       24684084 kB\nMemFree:        1 kB\nSwapTotal:      5 kB\nBuffers:        7 kB\n")
	if !strings.HasPrefix(got, "MemTotal:       33554432 kB\n") || !strings.Contains(got, "Buffers:        7 kB") || strings.Contains(got, " 5 kB") {
		t.Error(got)
	}
}

func TestCPUSets(t *testing.T) {
	for _, list := range []string{"", "0", "0-3", "0-3,8-11", "1,3,5-7"} {
		cpus, err := parseCPUSet(list)
		if err != nil || formatCPUSet(cpus) != list {
			t.Errorf("%q: %v %v", list, cpus, err)
		}
	}
	for _, list := range []string{"a", "3-1", "1-", "-1"} {
		if _, err := parseCPUSet(list); err == nil {
			t.Errorf("%q: want an error", list)
		}
	}
	if got := formatCPUMask([]int{0, 33, 63}, 64); got != "80000002,00000001" {
		t.Errorf("mask %s", got)
	}
}

func TestNodeSpecValidation(t *testing.T) {
	good := defaultNodeSpec()
	good.Name = "gpu-1"
	if err := good.validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*NodeSpec){
		"odd threads": func(s *NodeSpec) { s.ThreadsPerCore = 3 }, "no name": func(s *NodeSpec) { s.Name = "" },
		"upper case": func(s *NodeSpec) { s.Name = "GPU" }, "offline beyond the end": func(s *NodeSpec) { s.OnlineCPUs = "0-16" },
		"tiny": func(s *NodeSpec) { s.MemoryPerZone = 1 << 20 }, "no zones": func(s *NodeSpec) { s.Zones = 0 },
	} {
		s := good
		change(&s)
		if s.validate() == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}
