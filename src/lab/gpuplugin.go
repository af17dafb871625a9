package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// devicePlugin stands for a GPU vendor's device plugin: it advertises devices with their NUMA node and registers
// again whenever the kubelet comes back. It has no preference among devices, so the kubelet's own choice shows.
type devicePlugin struct {
	pluginapi.UnimplementedDevicePluginServer
	devices []*pluginapi.Device
	stop    chan struct{}
}

// runDevicePlugin takes a resource name, a number of zones and a number of devices per zone.
func runDevicePlugin(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: numalab device-plugin RESOURCE ZONES PER-ZONE")
	}
	zones, err1 := strconv.Atoi(args[1])
	perZone, err2 := strconv.Atoi(args[2])
	if err1 != nil || err2 != nil {
		return fmt.Errorf("ZONES and PER-ZONE are numbers")
	}
	var devices []*pluginapi.Device
	for zone := 0; zone < zones; zone++ {
		for i := 0; i < perZone; i++ {
			devices = append(devices, &pluginapi.Device{ID: fmt.Sprintf("GPU-%d-%d", zone, i), Health: pluginapi.Healthy,
				Topology: &pluginapi.TopologyInfo{Nodes: []*pluginapi.NUMANode{{ID: int64(zone)}}}})
		}
	}
	last := ""
	for {
		if err := servePlugin(args[0], devices); err.Error() != last {
			last = err.Error()
			log.Print(last)
		}
		time.Sleep(250 * time.Millisecond)
	}
}

// servePlugin serves and registers until the kubelet restarts, which removes the plugins' sockets.
func servePlugin(resource string, devices []*pluginapi.Device) error {
	kubelet := filepath.Join(pluginapi.DevicePluginPath, "kubelet.sock")
	if _, err := os.Stat(kubelet); err != nil {
		return fmt.Errorf("waiting for the kubelet")
	}
	endpoint := strings.ReplaceAll(resource, "/", "-") + ".sock"
	socket := filepath.Join(pluginapi.DevicePluginPath, endpoint)
	os.Remove(socket)
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	plugin := &devicePlugin{devices: devices, stop: make(chan struct{})}
	server := grpc.NewServer()
	pluginapi.RegisterDevicePluginServer(server, plugin)
	go server.Serve(l) //nolint:errcheck
	defer func() { close(plugin.stop); server.Stop() }()
	conn, err := grpc.NewClient("unix://"+kubelet, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := pluginapi.NewRegistrationClient(conn).Register(ctx, &pluginapi.RegisterRequest{
		Version: pluginapi.Version, Endpoint: endpoint, ResourceName: resource}); err != nil {
		return err
	}
	log.Printf("registered %d of %s", len(devices), resource)
	for {
		if _, err := os.Stat(socket); err != nil {
			return fmt.Errorf("the kubelet restarted")
		}
		time.Sleep(250 * time.Millisecond)
	}
}

func (p *devicePlugin) GetDevicePluginOptions(context.Context, *pluginapi.Empty) (*pluginapi.DevicePluginOptions, error) {
	return &pluginapi.DevicePluginOptions{}, nil
}

func (p *devicePlugin) ListAndWatch(_ *pluginapi.Empty, s grpc.ServerStreamingServer[pluginapi.ListAndWatchResponse]) error {
	if err := s.Send(&pluginapi.ListAndWatchResponse{Devices: p.devices}); err != nil {
		return err
	}
	<-p.stop
	return nil
}

func (p *devicePlugin) Allocate(_ context.Context, r *pluginapi.AllocateRequest) (*pluginapi.AllocateResponse, error) {
	out := &pluginapi.AllocateResponse{}
	for _, c := range r.ContainerRequests {
		out.ContainerResponses = append(out.ContainerResponses, &pluginapi.ContainerAllocateResponse{
			Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(c.DevicesIds, ",")}})
	}
	return out, nil
}
