package main

import (
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// setUpBridge makes the lab's network in labd's own network namespace. The service addresses that stand for
// kube-proxy's live on the bridge: nodes reach them through their default route. A bridge without a MAC address of
// its own has the lowest of its ports', which a node that is plugged in anew changes: the others would send to the
// former one for up to a minute.
func setUpBridge(r *reaper) error {
	return ipBatch(r,
		"link set lo up",
		"link add "+bridgeName+" address "+bridgeMAC+" type bridge",
		"link set "+bridgeName+" up",
		"addr add "+bridgeAddress+"/16 dev "+bridgeName,
		"addr add "+apiServiceIP+"/32 dev "+bridgeName)
}

// plugIn connects the network namespace of the node's init to the bridge. The MAC address follows from the
// node's number, so that neighbours' caches outlive a reboot.
func plugIn(r *reaper, spec NodeSpec, boot, pid int) error {
	host := fmt.Sprintf("n%db%d", spec.Index, boot) // the previous boot's cable may take a moment to go
	return ipBatch(r,
		fmt.Sprintf("link add %s type veth peer name eth0 address 02:00:0a:58:%02x:%02x netns %d", host, spec.Index/256, spec.Index%256, pid),
		fmt.Sprintf("link set %s master %s up", host, bridgeName))
}

// setUpNodeNetwork runs in the node.
func setUpNodeNetwork(r *reaper, spec NodeSpec) error {
	return ipBatch(r,
		"link set lo up",
		"addr add "+spec.Address+"/16 dev eth0",
		"link set eth0 up",
		"route add default via "+bridgeAddress)
}

func ipBatch(r *reaper, lines ...string) error {
	return r.run(strings.Join(lines, "\n")+"\n", "ip", "-batch", "-")
}

// forward gives every connection of the listener a connection of its own to the target.
func forward(l net.Listener, target func() (string, error)) {
	for {
		c, err := l.Accept()
		if err != nil {
			if ne, ok := err.(net.Error); ok && ne.Timeout() || strings.Contains(err.Error(), "too many open files") {
				time.Sleep(50 * time.Millisecond)
				continue
			}
			return // closed
		}
		go func() {
			defer c.Close()
			address, err := target()
			if err != nil {
				return
			}
			backend, err := net.DialTimeout("tcp", address, 5*time.Second)
			if err != nil {
				return
			}
			defer backend.Close()
			join(c.(*net.TCPConn), backend.(*net.TCPConn))
		}()
	}
}

// join copies both ways and passes each side's end of stream on.
func join(a, b *net.TCPConn) {
	done := make(chan struct{})
	go func() {
		io.Copy(b, a) //nolint:errcheck
		b.CloseWrite()
		close(done)
	}()
	io.Copy(a, b) //nolint:errcheck
	a.CloseWrite()
	<-done
}
