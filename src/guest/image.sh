#!/bin/bash
# image.sh NAME:TAG ROOT OUT.tar ENTRYPOINT…: the directory ROOT as an OCI image of one layer, for `ctr images import`.
set -euo pipefail
name=$1 root=$2 out=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
blobs=$work/blobs/sha256
mkdir -p "$blobs"

# store FILE TYPE: moves it among the blobs, and prints its descriptor without the closing brace
store() {
  local digest size
  digest=$(sha256sum "$1" | cut -d' ' -f1)
  size=$(stat -c %s "$1")
  mv "$1" "$blobs/$digest"
  printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%d' "$2" "$digest" "$size"
}

# hard links are files of their own in here
tar -C "$root" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --hard-dereference -cf "$work/layer" .
layer_id=sha256:$(sha256sum "$work/layer" | cut -d' ' -f1)
layer=$(store "$work/layer" layer.v1.tar)
entrypoint=$(printf ',"%s"' "$@")
cat >"$work/config" <<JSON
{"architecture": "amd64", "os": "linux",
 "config": {"Entrypoint": [${entrypoint#,}], "Env": ["PATH=/opt/numa-operator/bin:/bin"]},
 "rootfs": {"type": "layers", "diff_ids": ["$layer_id"]}}
JSON
config=$(store "$work/config" config.v1+json)
cat >"$work/manifest" <<JSON
{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": $config}, "layers": [$layer}]}
JSON
manifest=$(store "$work/manifest" manifest.v1+json)
cat >"$work/index.json" <<JSON
{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
 $manifest, "annotations": {"io.containerd.image.name": "$name", "org.opencontainers.image.ref.name": "${name##*:}"}}]}
JSON
echo '{"imageLayoutVersion": "1.0.0"}' >"$work/oci-layout"
tar -C "$work" -cf "$out" oci-layout index.json blobs
