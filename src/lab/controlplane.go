package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// controlPlane runs etcd, the API server, the controller manager and the scheduler in labd's namespaces.
type controlPlane struct {
	dir     layout
	etcd    *service
	api     *service
	manager *service
	sched   *service
	client  kubernetes.Interface
}

// auditPolicy writes one line per finished request, of every user, without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

func newControlPlane(d layout, config LabConfig, r *reaper) (*controlPlane, error) {
	program := func(name string, args ...string) *service {
		return &service{name: name, reaper: r, log: d.log(name), argv: append([]string{d.path("bin", name)}, args...)}
	}
	pki := func(flag, file string) string { return "--" + flag + "=" + d.pki(file) }
	c := &controlPlane{dir: d}
	c.etcd = program("etcd", "--data-dir="+d.path("etcd"), "--name=lab",
		"--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
		"--listen-peer-urls=http://127.0.0.1:2380", "--initial-advertise-peer-urls=http://127.0.0.1:2380",
		"--initial-cluster=lab=http://127.0.0.1:2380",
		"--unsafe-no-fsync", "--log-level=warn") // a lab has nothing to lose at a power cut
	api := []string{
		"--etcd-servers=http://127.0.0.1:2379", "--bind-address=0.0.0.0", fmt.Sprintf("--secure-port=%d", apiServerPort),
		"--advertise-address=" + bridgeAddress, "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true", "--service-cluster-ip-range=" + serviceNetwork,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--kubelet-preferred-address-types=InternalIP",
		pki("client-ca-file", "ca.crt"), pki("tls-cert-file", "apiserver.crt"), pki("tls-private-key-file", "apiserver.key"),
		pki("kubelet-client-certificate", "apiserver-kubelet-client.crt"), pki("kubelet-client-key", "apiserver-kubelet-client.key"),
		pki("service-account-key-file", "sa.pub"), pki("service-account-signing-key-file", "sa.key"),
	}
	if config.Audit {
		if err := os.WriteFile(d.path("audit-policy.yaml"), []byte(auditPolicy), 0o644); err != nil {
			return nil, err
		}
		// One file, never rotated away under its readers.
		api = append(api, "--audit-policy-file="+d.path("audit-policy.yaml"), "--audit-log-path="+d.path("audit.log"), "--audit-log-maxsize=4096")
	}
	c.api = program("kube-apiserver", api...)
	c.manager = program("kube-controller-manager", pki("kubeconfig", "controller-manager.conf"), pki("root-ca-file", "ca.crt"),
		pki("service-account-private-key-file", "sa.key"), pki("cluster-signing-cert-file", "ca.crt"), pki("cluster-signing-key-file", "ca.key"),
		"--use-service-account-credentials=true", "--allocate-node-cidrs=false", "--node-monitor-grace-period="+config.NodeGrace.String(),
		"--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=0")
	c.sched = program("kube-scheduler", pki("kubeconfig", "scheduler.conf"), "--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=0")
	return c, nil
}

// up starts everything and returns when the API server is ready.
func (c *controlPlane) up(progress func(string)) error {
	for _, s := range []*service{c.etcd, c.api} {
		if err := s.start(); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.dir.pki("labd.conf"))
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 50, 100
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if err := c.waitReady(5 * time.Minute); err != nil {
		return err
	}
	progress("API server ready")
	for _, s := range []*service{c.manager, c.sched} {
		if err := s.start(); err != nil {
			return err
		}
	}
	return nil
}

func (c *controlPlane) waitReady(limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err := c.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		cancel()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the API server is not ready after %s (%v); see %s", limit, err, c.dir.log("kube-apiserver"))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// stopAPI is an outage: whoever talks to the API server is cut off at once. (Asked politely it would serve open
// watches for up to a minute.)
func (c *controlPlane) stopAPI() { c.api.stop(syscall.SIGKILL, 0) }

func (c *controlPlane) startAPI() error {
	if err := c.api.start(); err != nil {
		return err
	}
	return c.waitReady(5 * time.Minute)
}
