// fitoracle admits random pods with the kubelet's own managers and writes what they said, one JSON case a line.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"sort"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/utils/cpuset"
)

const mi = 1 << 20

type zoneOut struct {
	ID, CPUs, AllocatableCPUs, FreeCPUs, FreeCoreCPUs int
	Memory                                            map[string][2]uint64
	Group                                             []int
	Distances                                         map[int]uint64
}
type deviceOut struct {
	Resource    string
	Zones       []int
	Total, Free int
}
type nodeOut struct {
	Policy, Scope                                      string
	StaticCPUs, StaticMemory, FullCores, PreferClosest bool
	ThreadsPerCore                                     int
	Zones                                              []zoneOut
	Devices                                            []deviceOut
}
type containerOut struct {
	Name, Kind string
	MilliCPUs  int64
	Memory     map[string]int64
	Devices    map[string]int64
}
type podOut struct {
	Guaranteed bool
	Containers []containerOut
}
type caseOut struct {
	Node     nodeOut
	Pod      podOut
	Admitted bool
	Reason   string
	Affinity map[string][]int `json:",omitempty"`
	After    nodeOut
}

type group struct {
	resource string
	zones    []int
	ids      []string
}
type provider interface {
	topologymanager.HintProvider
	Remove(pod *v1.Pod)
}
type machine struct {
	r             *rand.Rand
	ids           []int
	policy, scope string
	threads       int
	full, closest bool
	topo          []cadvisorapi.Node
	manager       topologymanager.Manager
	cpu           *cpumanager.Oracle
	mem           *memorymanager.Oracle
	dev           *devicemanager.Oracle
	groups        []*group
	active        []*v1.Pod
	providers     []provider
	smallest      uint64
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.Intn(len(of))] }

func newMachine(r *rand.Rand, dir string) *machine {
	m := &machine{r: r, threads: pick(r, 2, 2, 2, 1)}
	n := pick(r, 1, 2, 2, 2, 3, 4)
	step := pick(r, 1, 1, 1, 4)
	m.policy = pick(r, "single-numa-node", "single-numa-node", "restricted", "best-effort", "none")
	m.scope = pick(r, "pod", "container")
	staticCPU, staticMem := r.Intn(8) > 0, r.Intn(4) > 0
	m.full = staticCPU && r.Intn(4) == 0
	m.closest = m.policy != "none" && r.Intn(4) == 0
	details := topology.CPUDetails{}
	cores, cpu := 0, 0
	oneSocket := r.Intn(4) == 0
	hugepages := r.Intn(3) == 0
	reserved := cpuset.New()
	reservedMem := map[int]uint64{}
	var cpuZones int
	for i := 0; i < n; i++ {
		id := i * step
		m.ids = append(m.ids, id)
		node := cadvisorapi.Node{Id: id, Memory: uint64(pick(r, 1000, 1000, 2000)) * mi}
		memoryOnly := n > 2 && i == n-1 && r.Intn(4) == 0
		if !memoryOnly {
			cpuZones++
			zoneCores := pick(r, 3, 4, 6)
			if m.threads == 1 {
				zoneCores *= 2
			}
			for c := 0; c < zoneCores; c++ {
				for t := 0; t < m.threads; t++ {
					socket := i
					if oneSocket {
						socket = 0
					}
					details[cpu] = topology.CPUInfo{NUMANodeID: id, SocketID: socket, CoreID: cores, UncoreCacheID: id}
					if c == 0 && (t == 0 || !m.full && r.Intn(2) == 0 || m.full && r.Intn(4) > 0) {
						reserved = reserved.Union(cpuset.New(cpu))
					}
					cpu++
				}
				cores++
			}
			reservedMem[id] = 100 * mi
		}
		if hugepages {
			node.HugePages = []cadvisorapi.HugePagesInfo{{PageSize: 2048, NumPages: uint64(pick(r, 0, 50, 100))}}
		}
		for j := 0; j < n; j++ {
			d := uint64(10)
			if j != i {
				d = uint64(12 + 4*((i+j)%3))
			}
			for len(node.Distances) < j*step {
				node.Distances = append(node.Distances, 0)
			}
			node.Distances = append(node.Distances, d)
		}
		m.topo = append(m.topo, node)
	}
	options := map[string]string{}
	if m.closest {
		options["prefer-closest-numa-nodes"] = "true"
	}
	mgr, err := topologymanager.NewManager(m.topo, m.policy, m.scope, options)
	if err != nil {
		panic(err)
	}
	m.manager = mgr
	m.dev = devicemanager.NewOracle(dir, m.topo, mgr, &m.active)
	m.providers = append(m.providers, m.dev)
	if staticCPU {
		sockets := cpuZones
		if oneSocket {
			sockets = 1
		}
		t := &topology.CPUTopology{NumCPUs: cpu, NumCores: cores, NumSockets: sockets, NumNUMANodes: cpuZones, NumUncoreCache: cpuZones, CPUDetails: details}
		opts := map[string]string{}
		if m.full {
			opts["full-pcpus-only"] = "true"
		}
		m.cpu = cpumanager.NewOracle(t, reserved, mgr, opts)
		m.providers = append(m.providers, m.cpu)
	}
	if staticMem {
		m.mem = memorymanager.NewOracle(&cadvisorapi.MachineInfo{Topology: m.topo}, reservedMem, mgr)
		m.providers = append(m.providers, m.mem)
	}
	for _, p := range m.providers {
		mgr.AddHintProvider(klog.Background(), p)
	}
	resources := []string{"example.com/gpu"}
	if r.Intn(3) == 0 {
		resources = append(resources, "example.com/nic")
	}
	for _, res := range resources {
		for _, id := range m.ids {
			if r.Intn(6) > 0 {
				m.add(res, []int{id}, r.Intn(5))
			}
		}
		if n > 1 && r.Intn(6) == 0 {
			m.add(res, []int{m.ids[0], m.ids[1]}, 1+r.Intn(2))
		}
		if r.Intn(8) == 0 {
			m.add(res, nil, 1+r.Intn(3))
		}
	}
	if r.Intn(4) == 0 {
		m.add("example.com/plain", nil, 3)
	}
	return m
}
func (m *machine) add(res string, zones []int, count int) {
	if count == 0 {
		return
	}
	g := &group{resource: res, zones: zones}
	for i := 0; i < count; i++ {
		id := fmt.Sprintf("%s-%v-%d", res, zones, i)
		m.dev.Add(res, id, zones)
		g.ids = append(g.ids, id)
	}
	m.groups = append(m.groups, g)
}
func (m *machine) out() nodeOut {
	o := nodeOut{Policy: m.policy, Scope: m.scope, StaticCPUs: m.cpu != nil, StaticMemory: m.mem != nil, FullCores: m.full, PreferClosest: m.closest, ThreadsPerCore: m.threads}
	for _, node := range m.topo {
		z := zoneOut{ID: node.Id, Memory: map[string][2]uint64{}, Group: []int{}, Distances: map[int]uint64{}}
		if m.cpu != nil {
			c := m.cpu.Free()[node.Id]
			z.CPUs, z.AllocatableCPUs, z.FreeCPUs, z.FreeCoreCPUs = c[0], c[1], c[2], c[3]
		}
		if m.mem != nil {
			s := m.mem.State.GetMachineState()[node.Id]
			for t, b := range s.MemoryMap {
				z.Memory[string(t)] = [2]uint64{b.Allocatable, b.Free}
			}
			if s.NumberOfAssignments > 0 {
				z.Group = append(z.Group, s.Cells...)
				sort.Ints(z.Group)
			}
		}
		for _, id := range m.ids {
			z.Distances[id] = node.Distances[id]
		}
		o.Zones = append(o.Zones, z)
	}
	for _, g := range m.groups {
		d := deviceOut{Resource: g.resource, Zones: append([]int{}, g.zones...), Total: len(g.ids)}
		for _, id := range g.ids {
			if m.dev.IsFree(g.resource, id) {
				d.Free++
			}
		}
		o.Devices = append(o.Devices, d)
	}
	return o
}
func (m *machine) pod(n int) (*v1.Pod, podOut) {
	r := m.r
	guaranteed := r.Intn(8) > 0
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", n), UID: types.UID(fmt.Sprint("u", n))}}
	out := podOut{Guaranteed: guaranteed}
	always := v1.ContainerRestartPolicyAlways
	add := func(kind string) {
		name := fmt.Sprint("c", len(out.Containers))
		milli := int64(pick(r, 1000, 2000, 2000, 3000, 4000, 4000, 6000, 8000, 10000, 1500))
		if m.full && r.Intn(6) > 0 {
			milli = int64(pick(r, 2000, 4000, 6000, 8000))
		}
		mem := int64(pick(r, 100, 200, 450, 800, 950, 1200)) * mi
		if r.Intn(3) > 0 {
			mem = int64(pick(r, 100, 200, 300)) * mi
		}
		c := containerOut{Name: name, Kind: kind, MilliCPUs: milli, Memory: map[string]int64{"memory": mem}, Devices: map[string]int64{}}
		if len(m.topo[0].HugePages) > 0 && r.Intn(3) == 0 {
			c.Memory["hugepages-2Mi"] = int64(pick(r, 40, 100, 180)) * mi
		}
		for _, res := range []string{"example.com/gpu", "example.com/nic", "example.com/plain", "example.com/unknown"} {
			chance := 5
			if res == "example.com/gpu" {
				chance = 2
			}
			if r.Intn(chance) == 0 {
				c.Devices[res] = int64(pick(r, 1, 1, 2, 2, 3, 4, 5, 0))
			}
		}
		list := v1.ResourceList{v1.ResourceCPU: *resource.NewMilliQuantity(milli, resource.DecimalSI)}
		for t, b := range c.Memory {
			list[v1.ResourceName(t)] = *resource.NewQuantity(b, resource.BinarySI)
		}
		limits := list.DeepCopy()
		for d, q := range c.Devices {
			limits[v1.ResourceName(d)] = *resource.NewQuantity(q, resource.DecimalSI)
			list[v1.ResourceName(d)] = limits[v1.ResourceName(d)]
		}
		if !guaranteed {
			delete(limits, v1.ResourceCPU)
		}
		ctr := v1.Container{Name: name, Resources: v1.ResourceRequirements{Requests: list, Limits: limits}}
		switch kind {
		case "App":
			pod.Spec.Containers = append(pod.Spec.Containers, ctr)
		case "Sidecar":
			ctr.RestartPolicy = &always
			fallthrough
		default:
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, ctr)
		}
		out.Containers = append(out.Containers, c)
	}
	if r.Intn(3) == 0 {
		for i := 0; i <= r.Intn(2); i++ {
			add(pick(r, "Init", "Init", "Sidecar"))
		}
	}
	for i := 0; i < pick(r, 1, 1, 1, 2, 3); i++ {
		add("App")
	}
	return pod, out
}

func main() {
	seed := flag.Int64("seed", 1, "")
	count := flag.Int("count", 2000, "cases")
	flag.Parse()
	klog.SetOutput(nopWriter{})
	klog.LogToStderr(false)
	dir, _ := os.MkdirTemp("", "fitoracle")
	defer os.RemoveAll(dir)
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	enc := json.NewEncoder(w)
	r := rand.New(rand.NewSource(*seed))
	for written := 0; written < *count; {
		m := newMachine(r, dir)
		for n := 0; n < 6+r.Intn(6) && written < *count; n++ {
			if len(m.active) > 0 && r.Intn(4) == 0 {
				i := r.Intn(len(m.active))
				gone := m.active[i]
				m.active = append(m.active[:i:i], m.active[i+1:]...)
				for _, p := range m.providers {
					p.Remove(gone)
				}
			}
			pod, out := m.pod(n)
			c := caseOut{Node: m.out(), Pod: out}
			m.active = append(m.active, pod)
			result := m.manager.Admit(&lifecycle.PodAdmitAttributes{Pod: pod})
			c.Admitted, c.Reason = result.Admit, result.Reason+": "+result.Message
			if result.Admit {
				c.Affinity = map[string][]int{}
				for _, ctr := range append(append([]v1.Container{}, pod.Spec.InitContainers...), pod.Spec.Containers...) {
					a := m.manager.GetAffinity(string(pod.UID), ctr.Name)
					if a.NUMANodeAffinity != nil {
						c.Affinity[ctr.Name] = a.NUMANodeAffinity.GetBits()
					}
				}
			} else {
				m.active = m.active[:len(m.active)-1]
				for _, p := range m.providers {
					p.Remove(pod)
				}
			}
			c.After = m.out()
			if err := enc.Encode(c); err != nil {
				panic(err)
			}
			written++
		}
	}
}

type nopWriter struct{}

func (nopWriter) Write(b []byte) (int, error) { return len(b), nil }
