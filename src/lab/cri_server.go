package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
)

// criServer stands for containerd on a node: the CRI's RuntimeService over real processes. It outlives the
// kubelet's restarts; its memory of pods is lost at the node's end, as the processes are.
//
// Real: processes, mounts, PID and mount namespaces, users, capabilities, environment, logs, signals, exit codes,
// exec, port forwarding. Not there: cgroups (cpusets, quotas and memory limits are recorded, not applied), network
// namespaces (every pod has the node's network and address), seccomp and LSMs, user namespaces, checkpointing,
// container events and usage figures.
type criServer struct {
	runtimeapi.UnimplementedRuntimeServiceServer
	images  *imageServer
	config  imageConfig
	address string // the node's, and so every pod's
	stream  streaming.Server

	mu         sync.Mutex
	sandboxes  map[string]*sandbox
	containers map[string]*container
}

// sandbox is a pod. It has no process of its own: its only namespace is the node's network.
type sandbox struct {
	id      string
	config  *runtimeapi.PodSandboxConfig
	handler string
	created time.Time
	ready   bool
}

func runCRI(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("the container runtime is started by a node's init only")
	}
	var config imageConfig
	if err := readJSON(nodeRun+"/images.json", &config); err != nil {
		return err
	}
	images, err := labImages(config)
	if err != nil {
		return err
	}
	s := &criServer{images: &imageServer{images: images}, config: config, address: args[0],
		sandboxes: map[string]*sandbox{}, containers: map[string]*container{}}
	if err := s.startStreaming(); err != nil {
		return err
	}
	os.Remove(nodeCRISocket)
	l, err := net.Listen("unix", nodeCRISocket)
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(16<<20), grpc.UnaryInterceptor(logFailures))
	runtimeapi.RegisterRuntimeServiceServer(server, s)
	runtimeapi.RegisterImageServiceServer(server, s.images)
	log.Printf("serving the CRI with %d images", len(images))
	return server.Serve(l)
}

func logFailures(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	answer, err := handler(ctx, request)
	if err != nil {
		log.Printf("%s: %v", info.FullMethod, err)
	}
	return answer, err
}

func newID() string {
	id := make([]byte, 32)
	rand.Read(id) //nolint:errcheck // never fails
	return hex.EncodeToString(id)
}

func (s *criServer) Version(context.Context, *runtimeapi.VersionRequest) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{Version: "0.1.0", RuntimeName: "numalab", RuntimeVersion: "1.0.0", RuntimeApiVersion: "v1"}, nil
}

func (s *criServer) Status(_ context.Context, r *runtimeapi.StatusRequest) (*runtimeapi.StatusResponse, error) {
	return &runtimeapi.StatusResponse{
		Status: &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
			{Type: runtimeapi.RuntimeReady, Status: true}, {Type: runtimeapi.NetworkReady, Status: true}}},
		RuntimeHandlers: []*runtimeapi.RuntimeHandler{{Name: "", Features: &runtimeapi.RuntimeHandlerFeatures{}}},
	}, nil
}

func (s *criServer) RuntimeConfig(context.Context, *runtimeapi.RuntimeConfigRequest) (*runtimeapi.RuntimeConfigResponse, error) {
	return &runtimeapi.RuntimeConfigResponse{Linux: &runtimeapi.LinuxRuntimeConfiguration{CgroupDriver: runtimeapi.CgroupDriver_CGROUPFS}}, nil
}

func (s *criServer) UpdateRuntimeConfig(context.Context, *runtimeapi.UpdateRuntimeConfigRequest) (*runtimeapi.UpdateRuntimeConfigResponse, error) {
	return &runtimeapi.UpdateRuntimeConfigResponse{}, nil
}

func (s *criServer) RunPodSandbox(_ context.Context, r *runtimeapi.RunPodSandboxRequest) (*runtimeapi.RunPodSandboxResponse, error) {
	if dir := r.GetConfig().GetLogDirectory(); dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.sandboxes { // a runtime reserves the name namespace/name/uid/attempt
		if m, o := r.GetConfig().GetMetadata(), other.config.GetMetadata(); m.GetUid() == o.GetUid() && m.GetAttempt() == o.GetAttempt() {
			return nil, status.Errorf(codes.AlreadyExists, "sandbox of pod %s/%s attempt %d exists", m.GetNamespace(), m.GetName(), m.GetAttempt())
		}
	}
	box := &sandbox{id: newID(), config: r.GetConfig(), handler: r.GetRuntimeHandler(), created: time.Now(), ready: true}
	s.sandboxes[box.id] = box
	return &runtimeapi.RunPodSandboxResponse{PodSandboxId: box.id}, nil
}

func (s *criServer) sandbox(id string) (*sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if box, ok := s.sandboxes[id]; ok {
		return box, nil
	}
	return nil, status.Errorf(codes.NotFound, "no sandbox %q", id)
}

func (s *criServer) containersOf(sandboxID string) []*container {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*container
	for _, c := range s.containers {
		if c.sandbox.id == sandboxID {
			out = append(out, c)
		}
	}
	return out
}

func (s *criServer) StopPodSandbox(_ context.Context, r *runtimeapi.StopPodSandboxRequest) (*runtimeapi.StopPodSandboxResponse, error) {
	box, err := s.sandbox(r.GetPodSandboxId())
	if err != nil {
		return &runtimeapi.StopPodSandboxResponse{}, nil // idempotent
	}
	for _, c := range s.containersOf(box.id) {
		c.stop(0)
	}
	s.mu.Lock()
	box.ready = false
	s.mu.Unlock()
	return &runtimeapi.StopPodSandboxResponse{}, nil
}

func (s *criServer) RemovePodSandbox(ctx context.Context, r *runtimeapi.RemovePodSandboxRequest) (*runtimeapi.RemovePodSandboxResponse, error) {
	if _, err := s.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: r.GetPodSandboxId()}); err != nil {
		return nil, err
	}
	for _, c := range s.containersOf(r.GetPodSandboxId()) {
		if err := s.remove(c); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	delete(s.sandboxes, r.GetPodSandboxId())
	s.mu.Unlock()
	return &runtimeapi.RemovePodSandboxResponse{}, nil
}

func sandboxState(ready bool) runtimeapi.PodSandboxState {
	if ready {
		return runtimeapi.PodSandboxState_SANDBOX_READY
	}
	return runtimeapi.PodSandboxState_SANDBOX_NOTREADY
}

func (s *criServer) PodSandboxStatus(_ context.Context, r *runtimeapi.PodSandboxStatusRequest) (*runtimeapi.PodSandboxStatusResponse, error) {
	box, err := s.sandbox(r.GetPodSandboxId())
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &runtimeapi.PodSandboxStatusResponse{Status: &runtimeapi.PodSandboxStatus{
		Id: box.id, Metadata: box.config.GetMetadata(), State: sandboxState(box.ready), CreatedAt: box.created.UnixNano(),
		Network: &runtimeapi.PodSandboxNetworkStatus{Ip: s.address},
		Linux: &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{
			Options: box.config.GetLinux().GetSecurityContext().GetNamespaceOptions()}},
		Labels: box.config.GetLabels(), Annotations: box.config.GetAnnotations(), RuntimeHandler: box.handler,
	}}, nil
}

func (s *criServer) ListPodSandbox(_ context.Context, r *runtimeapi.ListPodSandboxRequest) (*runtimeapi.ListPodSandboxResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &runtimeapi.ListPodSandboxResponse{}
	filter := r.GetFilter()
	for _, box := range s.sandboxes {
		state := sandboxState(box.ready)
		if filter.GetId() != "" && filter.GetId() != box.id || filter.GetState() != nil && filter.GetState().State != state ||
			!hasLabels(box.config.GetLabels(), filter.GetLabelSelector()) {
			continue
		}
		out.Items = append(out.Items, &runtimeapi.PodSandbox{Id: box.id, Metadata: box.config.GetMetadata(), State: state,
			CreatedAt: box.created.UnixNano(), Labels: box.config.GetLabels(), Annotations: box.config.GetAnnotations(), RuntimeHandler: box.handler})
	}
	slices.SortFunc(out.Items, func(a, b *runtimeapi.PodSandbox) int { return int(b.CreatedAt - a.CreatedAt) })
	return out, nil
}

func hasLabels(have, want map[string]string) bool {
	for key, value := range want {
		if have[key] != value {
			return false
		}
	}
	return true
}

func (s *criServer) CreateContainer(_ context.Context, r *runtimeapi.CreateContainerRequest) (*runtimeapi.CreateContainerResponse, error) {
	box, err := s.sandbox(r.GetPodSandboxId())
	if err != nil {
		return nil, err
	}
	img := s.images.find(r.GetConfig().GetImage().GetImage())
	if img == nil {
		return nil, s.images.missing(r.GetConfig().GetImage().GetImage())
	}
	c := &container{id: newID(), sandbox: box, image: img, config: r.GetConfig(), created: time.Now(),
		resources: r.GetConfig().GetLinux().GetResources(), exited: make(chan struct{})}
	if c.spec, err = c.buildSpec(s.config); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if err := os.MkdirAll(c.dir(), 0o700); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.containers[c.id] = c
	s.mu.Unlock()
	return &runtimeapi.CreateContainerResponse{ContainerId: c.id}, nil
}

func (s *criServer) container(id string) (*container, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.containers[id]; ok {
		return c, nil
	}
	return nil, status.Errorf(codes.NotFound, "no container %q", id)
}

func (s *criServer) StartContainer(_ context.Context, r *runtimeapi.StartContainerRequest) (*runtimeapi.StartContainerResponse, error) {
	c, err := s.container(r.GetContainerId())
	if err != nil {
		return nil, err
	}
	if err := c.start(); err != nil {
		return nil, status.Error(codes.Unknown, err.Error())
	}
	return &runtimeapi.StartContainerResponse{}, nil
}

func (s *criServer) StopContainer(_ context.Context, r *runtimeapi.StopContainerRequest) (*runtimeapi.StopContainerResponse, error) {
	c, err := s.container(r.GetContainerId())
	if err != nil {
		return &runtimeapi.StopContainerResponse{}, nil // idempotent
	}
	c.stop(time.Duration(r.GetTimeout()) * time.Second)
	return &runtimeapi.StopContainerResponse{}, nil
}

func (s *criServer) RemoveContainer(_ context.Context, r *runtimeapi.RemoveContainerRequest) (*runtimeapi.RemoveContainerResponse, error) {
	if c, err := s.container(r.GetContainerId()); err == nil {
		if err := s.remove(c); err != nil {
			return nil, err
		}
	}
	return &runtimeapi.RemoveContainerResponse{}, nil
}

func (s *criServer) remove(c *container) error {
	c.stop(0)
	s.mu.Lock()
	delete(s.containers, c.id)
	s.mu.Unlock()
	return os.RemoveAll(c.dir())
}

func (s *criServer) ListContainers(_ context.Context, r *runtimeapi.ListContainersRequest) (*runtimeapi.ListContainersResponse, error) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.containers))
	s.mu.Unlock()
	out, filter := &runtimeapi.ListContainersResponse{}, r.GetFilter()
	for _, c := range all {
		listed := c.listed()
		if filter.GetId() != "" && filter.GetId() != c.id || filter.GetPodSandboxId() != "" && filter.GetPodSandboxId() != c.sandbox.id ||
			filter.GetState() != nil && filter.GetState().State != listed.State || !hasLabels(listed.Labels, filter.GetLabelSelector()) {
			continue
		}
		out.Containers = append(out.Containers, listed)
	}
	slices.SortFunc(out.Containers, func(a, b *runtimeapi.Container) int { return int(b.CreatedAt - a.CreatedAt) })
	return out, nil
}

func (s *criServer) ContainerStatus(_ context.Context, r *runtimeapi.ContainerStatusRequest) (*runtimeapi.ContainerStatusResponse, error) {
	c, err := s.container(r.GetContainerId())
	if err != nil {
		return nil, err
	}
	out := &runtimeapi.ContainerStatusResponse{Status: c.status()}
	if r.GetVerbose() {
		info, _ := json.Marshal(map[string]any{"pid": c.runningPID(), "cpusetCpus": out.Status.Resources.GetLinux().GetCpusetCpus(),
			"cpusetMems": out.Status.Resources.GetLinux().GetCpusetMems(), "argv": c.spec.Argv})
		out.Info = map[string]string{"info": string(info)}
	}
	return out, nil
}

// UpdateContainerResources records what the kubelet's managers decided. The real machine has other CPUs.
func (s *criServer) UpdateContainerResources(_ context.Context, r *runtimeapi.UpdateContainerResourcesRequest) (*runtimeapi.UpdateContainerResourcesResponse, error) {
	c, err := s.container(r.GetContainerId())
	if err != nil {
		return nil, err
	}
	c.update(r.GetLinux())
	return &runtimeapi.UpdateContainerResourcesResponse{}, nil
}

func (s *criServer) UpdatePodSandboxResources(context.Context, *runtimeapi.UpdatePodSandboxResourcesRequest) (*runtimeapi.UpdatePodSandboxResourcesResponse, error) {
	return &runtimeapi.UpdatePodSandboxResourcesResponse{}, nil
}

func (s *criServer) ReopenContainerLog(_ context.Context, r *runtimeapi.ReopenContainerLogRequest) (*runtimeapi.ReopenContainerLogResponse, error) {
	c, err := s.container(r.GetContainerId())
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ReopenContainerLogResponse{}, c.reopenLog()
}

// Usage figures: the attributes are right, the numbers are empty.

func (s *criServer) ContainerStats(_ context.Context, r *runtimeapi.ContainerStatsRequest) (*runtimeapi.ContainerStatsResponse, error) {
	c, err := s.container(r.GetContainerId())
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ContainerStatsResponse{Stats: c.stats()}, nil
}

func (s *criServer) ListContainerStats(context.Context, *runtimeapi.ListContainerStatsRequest) (*runtimeapi.ListContainerStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &runtimeapi.ListContainerStatsResponse{}
	for _, c := range s.containers {
		out.Stats = append(out.Stats, c.stats())
	}
	return out, nil
}

func (s *criServer) PodSandboxStats(_ context.Context, r *runtimeapi.PodSandboxStatsRequest) (*runtimeapi.PodSandboxStatsResponse, error) {
	box, err := s.sandbox(r.GetPodSandboxId())
	if err != nil {
		return nil, err
	}
	return &runtimeapi.PodSandboxStatsResponse{Stats: box.stats()}, nil
}

func (s *criServer) ListPodSandboxStats(context.Context, *runtimeapi.ListPodSandboxStatsRequest) (*runtimeapi.ListPodSandboxStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &runtimeapi.ListPodSandboxStatsResponse{}
	for _, box := range s.sandboxes {
		out.Stats = append(out.Stats, box.stats())
	}
	return out, nil
}

func (b *sandbox) stats() *runtimeapi.PodSandboxStats {
	return &runtimeapi.PodSandboxStats{Attributes: &runtimeapi.PodSandboxAttributes{Id: b.id, Metadata: b.config.GetMetadata(),
		Labels: b.config.GetLabels(), Annotations: b.config.GetAnnotations()}, Linux: &runtimeapi.LinuxPodSandboxStats{}}
}

func (s *criServer) ListMetricDescriptors(context.Context, *runtimeapi.ListMetricDescriptorsRequest) (*runtimeapi.ListMetricDescriptorsResponse, error) {
	return &runtimeapi.ListMetricDescriptorsResponse{}, nil
}

func (s *criServer) ListPodSandboxMetrics(context.Context, *runtimeapi.ListPodSandboxMetricsRequest) (*runtimeapi.ListPodSandboxMetricsResponse, error) {
	return &runtimeapi.ListPodSandboxMetricsResponse{}, nil
}

// signalTree sends a signal to a process, and with SIGKILL to its whole session's process group.
func signalTree(pid int, signal syscall.Signal) {
	syscall.Kill(pid, signal) //nolint:errcheck
	if signal == syscall.SIGKILL {
		syscall.Kill(-pid, signal) //nolint:errcheck
	}
}
