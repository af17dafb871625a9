#!/bin/bash
# payload.sh LAB_BIN LAB_DIR IMAGES OUT: the guest's second disk, with what a run brings: the kubelet, its kubeadm
# configuration with a certificate of the lab's authority, and the container images.
#   LAB_BIN  what src/lab/build.sh made
#   LAB_DIR  a running lab
#   IMAGES   a directory of container images as archives
#   OUT      directory for payload.ext4
set -euo pipefail
lab_bin=$1 lab_dir=$2 images=$3 out=$4
node=guest
address=10.88.0.2
server=https://10.88.0.1:6443
root=$out/payload/root
mkdir -p "$root/etc/kubernetes/pki" "$root/etc/default" "$root/var/lib/kubelet" "$out/payload/bin"
cp -r --reflink=auto "$images" "$out/payload/images"

# ---- the kubelet, as kubeadm join leaves it

cp --reflink=auto "$lab_bin/numalab" "$out/payload/bin/"
for name in kubelet kubectl; do ln -s numalab "$out/payload/bin/$name"; done
cp "$lab_dir/pki/ca.crt" "$root/etc/kubernetes/pki/"
(
  umask 077
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/O=system:nodes/CN=system:node:$node" \
    -keyout "$out/node.key" -out "$out/node.csr"
  openssl x509 -req -in "$out/node.csr" -CA "$lab_dir/pki/ca.crt" -CAkey "$lab_dir/pki/ca.key" -set_serial "0x$(openssl rand -hex 8)" \
    -days 30 -extfile <(echo "extendedKeyUsage = clientAuth") -out "$out/node.crt"
) 2>"$out/openssl.log" || { cat "$out/openssl.log" >&2; exit 1; }
cat >"$root/etc/kubernetes/kubelet.conf" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: "$server", certificate-authority-data: $(base64 -w0 "$lab_dir/pki/ca.crt")}}]
users: [{name: node, user: {client-certificate-data: $(base64 -w0 "$out/node.crt"), client-key-data: $(base64 -w0 "$out/node.key")}}]
contexts: [{name: node, context: {cluster: lab, user: node}}]
current-context: node
YAML
cat >"$root/var/lib/kubelet/config.yaml" <<'YAML'
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true, cacheTTL: 0s}
  x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}
authorization:
  mode: Webhook
  webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}
cgroupDriver: systemd
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
healthzBindAddress: 127.0.0.1
healthzPort: 10248
rotateCertificates: false
staticPodPath: /etc/kubernetes/manifests
# Beside kubeadm's: neither swap accounting nor iptables in a guest without pods of a network, and status reports at
# the lab's pace, whose controller manager gives a node up after 20 s
failSwapOn: false
imageGCHighThresholdPercent: 100
makeIPTablesUtilChains: false
nodeLeaseDurationSeconds: 20
nodeStatusUpdateFrequency: 5s
YAML
echo "KUBELET_KUBEADM_ARGS=\"--node-ip=$address --hostname-override=$node --node-labels=numa.test/guest=true --v=2\"" \
  >"$root/var/lib/kubelet/kubeadm-flags.env"
mkdir -p "$root/etc/kubernetes/manifests"
echo $node >"$root/etc/hostname"
printf '127.0.0.1 localhost\n%s %s\n' $address $node >"$root/etc/hosts"
echo "nameserver 10.96.0.10" >"$root/etc/resolv.conf"

size=$(($(du -sm "$out/payload" | cut -f1) + 64))
truncate -s "${size}M" "$out/payload.ext4"
mke2fs -q -t ext4 -O ^has_journal -d "$out/payload" "$out/payload.ext4"
rm -rf "$out/payload"
