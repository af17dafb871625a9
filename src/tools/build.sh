#!/bin/sh
# build.sh OUTDIR: builds other people's judges of what we make: OUTDIR/bundle-validate,
# kstatus, argo-health and flux-health.
# go.mod takes the versions of ../lab/go.mod where both have a module: after the lab's build a minute on two cores.
set -eu
[ $# = 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
command -v go >/dev/null || { echo "$0: go is missing (1.26 or later)" >&2; exit 1; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"

stamp=$( { go version; echo "${GOFLAGS-}"; cat go.mod go.sum ./*/*.go; } | sha256sum)
if [ -x "$out/bundle-validate" ] && [ "$(cat "$out/tools.stamp" 2>/dev/null)" = "$stamp" ]; then
  exit 0
fi
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$out/" ./...
echo "$stamp" > "$out/tools.stamp"
