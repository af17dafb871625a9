#!/bin/sh
# build.sh OUTDIR: builds the lab, one multi-call binary OUTDIR/numalab with the links kubectl, kubelet, … beside it.
# Cold it compiles Kubernetes (5 to 10 minutes on two cores, 5 GB of build cache); after that it links. It does
# nothing when the sources, the Go version and the flags are those of the last build.
set -eu
[ $# = 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
command -v go >/dev/null || { echo "$0: go is missing (1.26 or later)" >&2; exit 1; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"

kubernetes=$(sed -n "s,^[a-z[:space:]]*k8s.io/kubernetes \(v[0-9.]*\)$,\1,p" go.mod)
minor=${kubernetes#v1.}; minor=${minor%%.*}
v=k8s.io/component-base/version
ldflags="-s -w -X $v.gitVersion=$kubernetes -X $v.gitMajor=1 -X $v.gitMinor=$minor -X $v.gitTreeState=clean"

stamp=$( { go version; echo "${GOFLAGS-} $ldflags"; cat go.mod go.sum; for f in *.go; do case $f in *_test.go) ;; *) echo "$f"; cat "$f" ;; esac; done; } | sha256sum)
if [ -x "$out/numalab" ] && [ "$(cat "$out/numalab.stamp" 2>/dev/null)" = "$stamp" ]; then
  exit 0
fi
# Linked elsewhere and moved: running labs keep the file that they were started from.
CGO_ENABLED=0 go build -trimpath -ldflags="$ldflags" -o "$out/numalab.new" .
mv "$out/numalab.new" "$out/numalab"
for app in etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl; do
  ln -sfn numalab "$out/$app"
done
echo "$stamp" > "$out/numalab.stamp"
