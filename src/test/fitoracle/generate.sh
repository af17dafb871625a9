#!/bin/sh
# generate.sh: writes src/test/resources/fit/kubelet-VERSION.jsonl.gz, what the kubelet's own Device, CPU, Memory and
# Topology Manager answer to random pods (KubeletOracleTest). Needs Go, and the lab's modules in the module cache.
# Each manager gets one more file, managers/NAME.go.txt, that opens it: a state in memory, devices without a plugin.
# The kubelet takes devices in the order of Go maps: the same seed gives slightly different cases each time. Of 80,000
# cases the model refused 18 that the kubelet admits (threads of half a core, devices on two zones), and admitted none
# that it rejects; should one of the 18 kinds be among the 3,000, take another seed.
# Run it again after an upgrade of k8s.io/kubernetes in src/lab/go.mod. Not part of the build.
set -eu
cd "$(dirname "$0")"
lab=$(cd ../../lab && pwd)
version=$(sed -n 's,^[a-z[:space:]]*k8s.io/kubernetes v\([0-9.]*\)$,\1,p' "$lab/go.mod")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cp -r "$(go env GOMODCACHE)/k8s.io/kubernetes@v$version" "$work/kubernetes"
chmod -R u+w "$work/kubernetes"
for manager in cpumanager memorymanager devicemanager; do
  cp "managers/$manager.go.txt" "$work/kubernetes/pkg/kubelet/cm/$manager/zz_oracle.go"
done
cp main.go "$work/"
sed 's,^module .*,module fitoracle,' "$lab/go.mod" > "$work/go.mod"
cp "$lab/go.sum" "$work/"
echo 'replace k8s.io/kubernetes => ./kubernetes' >> "$work/go.mod"
(cd "$work" && GOFLAGS=-mod=mod go build -o fitoracle .)
out=$(cd .. && pwd)/resources/fit
mkdir -p "$out"
"$work/fitoracle" -seed 1 -count 3000 | gzip -9n > "$out/kubelet-$version.jsonl.gz"
echo "$out/kubelet-$version.jsonl.gz"
