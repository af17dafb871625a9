#!/bin/sh
# build.sh OUTDIR: builds OUTDIR/helm-template. Some seconds when the lab has been built before; else a minute or two.
set -eu
[ $# = 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
command -v go >/dev/null || { echo "$0: go is missing (1.26 or later)" >&2; exit 1; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"

stamp=$( { go version; echo "${GOFLAGS-}"; cat go.mod go.sum main.go; } | sha256sum)
if [ -x "$out/helm-template" ] && [ "$(cat "$out/helm-template.stamp" 2>/dev/null)" = "$stamp" ]; then
  exit 0
fi
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$out/helm-template.new" .
mv "$out/helm-template.new" "$out/helm-template"
echo "$stamp" >"$out/helm-template.stamp"
