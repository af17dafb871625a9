package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

// install writes what kubeadm and the distribution's kubelet package leave on a machine that joined a cluster.
// It runs once; what changes later is the business of whoever changes it, and outlives reboots.
func (n *node) install() error {
	spec, d := n.spec, n.lab.dir
	kubeconfig, err := n.lab.ca.kubeconfig(fmt.Sprintf("https://%s:%d", bridgeAddress, apiServerPort), "system:node:"+spec.Name, "system:nodes")
	if err != nil {
		return err
	}
	for _, dir := range []string{"var-lib-kubelet", "var-log"} {
		if err := os.MkdirAll(d.node(spec.Name, dir), 0o755); err != nil {
			return err
		}
	}
	// kubelet.log beside the node's other files, for people
	if err := os.Symlink("var-log/kubelet.log", d.node(spec.Name, "kubelet.log")); err != nil && !os.IsExist(err) {
		return err
	}
	args := []string{"--node-ip=" + spec.Address, "--hostname-override=" + spec.Name, "--v=2"}
	if spec.GPUsPerZone > 0 {
		args = append(args, "--node-labels="+gpuPresentLabel+"=true") // stands for GPU Feature Discovery
	}
	extra := ""
	if !spec.NoConfigDir {
		extra = "--config-dir=/etc/kubernetes/kubelet.conf.d"
		if err := os.MkdirAll(filepath.Join(n.root(), "etc/kubernetes/kubelet.conf.d"), 0o755); err != nil {
			return err
		}
	}
	kubelet := d.node(spec.Name, "var-lib-kubelet")
	etc := filepath.Join(n.root(), "etc")
	files := []struct {
		path, content string
		mode          os.FileMode
	}{
		{kubelet + "/config.yaml", kubeletConfig, 0o644},
		{kubelet + "/kubeadm-flags.env", fmt.Sprintf("KUBELET_KUBEADM_ARGS=%q\n", strings.Join(args, " ")), 0o644},
		{etc + "/default/kubelet", fmt.Sprintf("KUBELET_EXTRA_ARGS=%s\n", extra), 0o644},
		{etc + "/systemd/system/kubelet.service", kubeletUnit, 0o644},
		{etc + "/systemd/system/kubelet.service.d/10-kubeadm.conf", kubeletDropIn, 0o644},
		{etc + "/kubernetes/kubelet.conf", string(kubeconfig), 0o600},
		{etc + "/kubernetes/pki/ca.crt", string(n.lab.ca.certPEM), 0o644},
		{etc + "/hostname", spec.Name + "\n", 0o644},
		{etc + "/hosts", fmt.Sprintf("127.0.0.1 localhost\n%s %s\n", spec.Address, spec.Name), 0o644},
		{etc + "/resolv.conf", fmt.Sprintf("nameserver %s\n", dnsServiceIP), 0o644},
		{etc + "/machine-id", strings.ReplaceAll(uuid.NewString(), "-", "") + "\n", 0o444},
	}
	if err := os.MkdirAll(etc+"/kubernetes/manifests", 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return err
		}
		os.Remove(f.path) // may be a link into the host's /run
		if err := os.WriteFile(f.path, []byte(f.content), f.mode); err != nil {
			return err
		}
	}
	for _, name := range []string{"kubelet", "kubectl", "numalab"} {
		link := filepath.Join(n.root(), "usr/bin", name)
		os.Remove(link)
		if err := os.Symlink(nodeBinary, link); err != nil {
			return err
		}
	}
	return nil
}

// nodeBinary is where a node finds this program (bind-mounted at boot).
const nodeBinary = "/usr/local/lib/numalab/numalab"

// kubeletUnit and kubeletDropIn are those of the Kubernetes project's own packages, but for RestartSec (10 there):
// tests wait for restarts.
const kubeletUnit = `[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=1

[Install]
WantedBy=multi-user.target
`

const kubeletDropIn = `# Note: This dropin only works with kubeadm and kubelet v1.11+
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
# This is a file that "kubeadm init" and "kubeadm join" generate at runtime, populating the KUBELET_KUBEADM_ARGS variable dynamically
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
# This is a file that the user can use for overrides of the kubelet args as a last resort. Preferably, the user should use
# the .NodeRegistration.KubeletExtraArgs object in the configuration files instead. KUBELET_EXTRA_ARGS should be sourced from this file.
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`

// kubeletConfig is kubeadm's, but for the settings that keep the kubelet's hands off the real machine's cgroups,
// firewall, swap and OOM scores, and for quicker status updates.
const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 0.0.0.0
port: 10250
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true, cacheTTL: 0s}
  x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}
authorization:
  mode: Webhook
  webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}
cgroupDriver: cgroupfs
cgroupsPerQOS: false
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix:///run/numalab/cri.sock
enforceNodeAllocatable: ["none"]
evictionHard: {memory.available: 100Mi}
failCgroupV1: false
failSwapOn: false
healthzBindAddress: 127.0.0.1
healthzPort: 10248
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
makeIPTablesUtilChains: false
nodeStatusUpdateFrequency: 3s
oomScoreAdj: 0
readOnlyPort: 0
resolvConf: /etc/resolv.conf
rotateCertificates: false
serializeImagePulls: false
staticPodPath: /etc/kubernetes/manifests
systemReserved: {memory: 200Mi}
`
