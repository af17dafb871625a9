package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// machine is the made-up hardware of a node, numbered as Linux numbers it: first one thread of every core, zone
// by zone, then the cores' second threads, and so on. Two zones of 8 CPUs with 2 threads a core have the CPUs
// 0-3,8-11 and 4-7,12-15.
type machine struct {
	spec   NodeSpec
	online []int
}

func newMachine(spec NodeSpec) machine {
	m := machine{spec: spec}
	if spec.OnlineCPUs != "" {
		m.online, _ = parseCPUSet(spec.OnlineCPUs) // validated before
		return m
	}
	for cpu := 0; cpu < m.total(); cpu++ {
		m.online = append(m.online, cpu)
	}
	return m
}

func (m machine) total() int         { return m.spec.Zones * m.spec.CPUsPerZone }
func (m machine) coresOfZone() int   { return m.spec.CPUsPerZone / m.spec.ThreadsPerCore }
func (m machine) zoneOf(cpu int) int { return m.coreOf(cpu) / m.coresOfZone() }

// coreOf numbers cores over the whole machine.
func (m machine) coreOf(cpu int) int { return cpu % (m.spec.Zones * m.coresOfZone()) }

// onlineWhere lists the online CPUs that satisfy the condition.
func (m machine) onlineWhere(is func(cpu int) bool) []int {
	var out []int
	for _, cpu := range m.online {
		if is(cpu) {
			out = append(out, cpu)
		}
	}
	return out
}

func (m machine) zoneCPUs(zone int) []int {
	return m.onlineWhere(func(cpu int) bool { return m.zoneOf(cpu) == zone })
}
func (m machine) siblings(cpu int) []int {
	return m.onlineWhere(func(other int) bool { return m.coreOf(other) == m.coreOf(cpu) })
}

func (m machine) memTotalKiB() int64 { return int64(m.spec.Zones) * m.spec.MemoryPerZone / 1024 }

// fileTree writes a directory of small files and remembers the first error.
type fileTree struct {
	root string
	err  error
}

func (t *fileTree) write(path, content string) {
	if t.err != nil {
		return
	}
	full := filepath.Join(t.root, path)
	if t.err = os.MkdirAll(filepath.Dir(full), 0o755); t.err == nil {
		t.err = os.WriteFile(full, []byte(content+"\n"), 0o644)
	}
}

func (t *fileTree) link(target, path string) {
	if t.err != nil {
		return
	}
	full := filepath.Join(t.root, path)
	if t.err = os.MkdirAll(filepath.Dir(full), 0o755); t.err == nil {
		t.err = os.Symlink(target, full)
	}
}

// writeSysfs writes what the node's sysfs shows of the machine: the directories cpu, node, pci and hugepages, to
// be mounted over /sys/devices/system/{cpu,node}, /sys/bus/pci/devices and /sys/kernel/mm/hugepages.
func (m machine) writeSysfs(root string) error {
	t := &fileTree{root: root}
	m.writeCPUs(t)
	m.writeNodes(t)
	m.writePCI(t)
	m.writeHugePages(t, "hugepages", m.spec.Zones*m.spec.HugePages2Mi)
	return t.err
}

func (m machine) writeCPUs(t *fileTree) {
	all := fmt.Sprintf("0-%d", m.total()-1)
	if m.total() == 1 {
		all = "0"
	}
	t.write("cpu/possible", all)
	t.write("cpu/present", all)
	t.write("cpu/online", formatCPUSet(m.online))
	t.write("cpu/kernel_max", "8191")
	t.write("cpu/isolated", "")
	smt := m.spec.ThreadsPerCore > 1
	t.write("cpu/smt/active", map[bool]string{true: "1", false: "0"}[smt])
	t.write("cpu/smt/control", map[bool]string{true: "on", false: "notsupported"}[smt])
	var offline []int
	for cpu := 0; cpu < m.total(); cpu++ {
		dir := fmt.Sprintf("cpu/cpu%d/", cpu)
		zone := m.zoneOf(cpu)
		t.link(fmt.Sprintf("../../node/node%d", zone), dir+fmt.Sprintf("node%d", zone))
		if !slices.Contains(m.online, cpu) {
			offline = append(offline, cpu)
			t.write(dir+"online", "0") // an offline CPU has no topology, as on Linux
			continue
		}
		t.write(dir+"online", "1")
		m.writeTopology(t, dir+"topology/", cpu, zone)
		m.writeCaches(t, dir+"cache/", cpu, zone)
	}
	t.write("cpu/offline", formatCPUSet(offline))
}

func (m machine) writeTopology(t *fileTree, dir string, cpu, zone int) {
	t.write(dir+"physical_package_id", fmt.Sprint(zone)) // one socket per zone
	t.write(dir+"die_id", "0")
	t.write(dir+"cluster_id", "65535")
	t.write(dir+"core_id", fmt.Sprint(m.coreOf(cpu)%m.coresOfZone()))
	sets := map[string][]int{
		"thread_siblings": m.siblings(cpu), "core_cpus": m.siblings(cpu), "cluster_cpus": m.siblings(cpu),
		"core_siblings": m.zoneCPUs(zone), "package_cpus": m.zoneCPUs(zone), "die_cpus": m.zoneCPUs(zone),
	}
	for name, cpus := range sets {
		t.write(dir+name, formatCPUMask(cpus, m.total()))
		t.write(dir+name+"_list", formatCPUSet(cpus))
	}
}

func (m machine) writeCaches(t *fileTree, dir string, cpu, zone int) {
	caches := []struct {
		level, id  int
		kind, size string
		shared     []int
	}{
		{1, m.coreOf(cpu), "Data", "48K", m.siblings(cpu)},
		{1, m.coreOf(cpu), "Instruction", "32K", m.siblings(cpu)},
		{2, m.coreOf(cpu), "Unified", "2048K", m.siblings(cpu)},
		{3, zone, "Unified", "32768K", m.zoneCPUs(zone)},
	}
	for i, c := range caches {
		index := fmt.Sprintf("%sindex%d/", dir, i)
		t.write(index+"level", fmt.Sprint(c.level))
		t.write(index+"id", fmt.Sprint(c.id))
		t.write(index+"type", c.kind)
		t.write(index+"size", c.size)
		t.write(index+"coherency_line_size", "64")
		t.write(index+"shared_cpu_list", formatCPUSet(c.shared))
		t.write(index+"shared_cpu_map", formatCPUMask(c.shared, m.total()))
	}
}

func (m machine) writeNodes(t *fileTree) {
	var zones, withCPU []int
	for zone := 0; zone < m.spec.Zones; zone++ {
		zones = append(zones, zone)
		if len(m.zoneCPUs(zone)) > 0 {
			withCPU = append(withCPU, zone)
		}
	}
	for _, name := range []string{"online", "possible", "has_memory", "has_normal_memory"} {
		t.write("node/"+name, formatCPUSet(zones))
	}
	t.write("node/has_cpu", formatCPUSet(withCPU))
	for _, zone := range zones {
		dir := fmt.Sprintf("node/node%d/", zone)
		t.write(dir+"cpulist", formatCPUSet(m.zoneCPUs(zone)))
		t.write(dir+"cpumap", formatCPUMask(m.zoneCPUs(zone), m.total()))
		var distances []string
		for _, other := range zones {
			if other == zone {
				distances = append(distances, "10")
			} else {
				distances = append(distances, "21")
			}
		}
		t.write(dir+"distance", strings.Join(distances, " "))
		t.write(dir+"meminfo", zoneMemInfo(zone, m.spec.MemoryPerZone/1024, m.spec.HugePages2Mi))
		m.writeHugePages(t, dir+"hugepages", m.spec.HugePages2Mi)
		for cpu := 0; cpu < m.total(); cpu++ {
			if m.zoneOf(cpu) == zone {
				t.link(fmt.Sprintf("../../cpu/cpu%d", cpu), fmt.Sprintf("%scpu%d", dir, cpu))
			}
		}
	}
}

func zoneMemInfo(zone int, totalKiB int64, hugePages int) string {
	free := totalKiB / 10 * 9
	var b strings.Builder
	for _, line := range []struct {
		name  string
		value int64
		unit  string
	}{
		{"MemTotal", totalKiB, " kB"}, {"MemFree", free, " kB"}, {"MemUsed", totalKiB - free, " kB"},
		{"HugePages_Total", int64(hugePages), ""}, {"HugePages_Free", int64(hugePages), ""}, {"HugePages_Surp", 0, ""},
	} {
		fmt.Fprintf(&b, "Node %d %-16s %8d%s\n", zone, line.name+":", line.value, line.unit)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (m machine) writeHugePages(t *fileTree, dir string, pages2Mi int) {
	for size, count := range map[string]int{"2048kB": pages2Mi, "1048576kB": 0} {
		base := dir + "/hugepages-" + size + "/"
		t.write(base+"nr_hugepages", fmt.Sprint(count))
		t.write(base+"free_hugepages", fmt.Sprint(count))
		t.write(base+"surplus_hugepages", "0")
	}
}

// pciDevice is a device as /sys/bus/pci/devices shows it.
type pciDevice struct {
	address, vendor, device, class string
	zone                           int
}

func (m machine) pciDevices() []pciDevice {
	var out []pciDevice
	for zone := 0; zone < m.spec.Zones; zone++ {
		domain := fmt.Sprintf("%04x", zone) // one PCI segment per zone, as on large servers
		for gpu := 0; gpu < m.spec.GPUsPerZone; gpu++ {
			out = append(out, pciDevice{fmt.Sprintf("%s:%02x:00.0", domain, 0x10+gpu), "0x10de", "0x2330", "0x030200", zone})
		}
		out = append(out, pciDevice{domain + ":80:00.0", "0x15b3", "0x1021", "0x020000", zone})
	}
	return out
}

func (m machine) writePCI(t *fileTree) {
	for _, d := range m.pciDevices() {
		dir := "pci/" + d.address + "/"
		t.write(dir+"vendor", d.vendor)
		t.write(dir+"device", d.device)
		t.write(dir+"subsystem_vendor", d.vendor)
		t.write(dir+"subsystem_device", d.device)
		t.write(dir+"class", d.class)
		t.write(dir+"numa_node", fmt.Sprint(d.zone))
		t.write(dir+"local_cpulist", formatCPUSet(m.zoneCPUs(d.zone)))
		t.write(dir+"local_cpus", formatCPUMask(m.zoneCPUs(d.zone), m.total()))
	}
}

// memInfo is the host's /proc/meminfo with the machine's total, nine tenths of it free.
func (m machine) memInfo(host string) string {
	total := m.memTotalKiB()
	lines := strings.Split(host, "\n")
	for i, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		switch name {
		case "MemTotal":
			lines[i] = fmt.Sprintf("MemTotal:       %8d kB", total)
		case "MemFree", "MemAvailable":
			lines[i] = fmt.Sprintf("%-15s %8d kB", name+":", total/10*9)
		case "SwapTotal", "SwapFree":
			lines[i] = fmt.Sprintf("%-15s %8d kB", name+":", 0)
		case "HugePages_Total", "HugePages_Free":
			lines[i] = fmt.Sprintf("%-15s %8d", name+":", m.spec.Zones*m.spec.HugePages2Mi)
		}
	}
	return strings.Join(lines, "\n")
}
