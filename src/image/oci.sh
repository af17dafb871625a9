#!/bin/bash
# oci.sh NAME:TAG ROOT OUT.tar LAYER… <CONFIG: the directory ROOT as an OCI image, for `ctr images import`, `podman load`
# or `skopeo copy oci-archive:`. Prints the digest of its manifest, which is the same for the same files.
#   LAYER   paths in ROOT, as words
#   CONFIG  JSON: entrypoint, user, environment, labels
# Layers are not compressed: what imports the archive need not unpack them, and what pushes it can compress them.
set -euo pipefail
name=$1 root=$2 out=$3
shift 3
image_config=$(cat)
work=$(mktemp -d "$(dirname "$out")/oci.XXXXXX")
trap 'rm -rf "$work"' EXIT
blobs=$work/blobs/sha256
mkdir -p "$blobs"

# reproducible FILE.tar DIR PATH…: hard links are files of their own in here
reproducible() {
  local file=$1 dir=$2
  shift 2
  tar -C "$dir" --format=gnu --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --hard-dereference -cf "$file" "$@"
}

# store FILE TYPE: moves it among the blobs, and prints its descriptor without the closing brace
store() {
  local digest size
  digest=$(sha256sum "$1" | cut -d' ' -f1)
  size=$(stat -c %s "$1")
  mv "$1" "$blobs/$digest"
  printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%d' "$2" "$digest" "$size"
}

layers='' ids=''
for layer in "$@"; do
  # shellcheck disable=SC2086 # words
  reproducible "$work/layer" "$root" $layer
  descriptor=$(store "$work/layer" layer.v1.tar)
  layers+=",$descriptor}"
  ids+=,$(grep -o '"sha256:[0-9a-f]*"' <<<"$descriptor") # of an uncompressed layer both digests are the same
done
case $(uname -m) in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *) echo "$0: no name for the architecture $(uname -m)" >&2; exit 1 ;;
esac
cat >"$work/config" <<JSON
{"created": "1970-01-01T00:00:00Z", "architecture": "$architecture", "os": "linux", "config": $image_config,
 "rootfs": {"type": "layers", "diff_ids": [${ids#,}]}}
JSON
config=$(store "$work/config" config.v1+json)
cat >"$work/manifest" <<JSON
{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": $config}, "layers": [${layers#,}]}
JSON
manifest=$(store "$work/manifest" manifest.v1+json)
cat >"$work/index.json" <<JSON
{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
 $manifest, "annotations": {"io.containerd.image.name": "$name", "org.opencontainers.image.ref.name": "${name##*:}"}}]}
JSON
echo '{"imageLayoutVersion": "1.0.0"}' >"$work/oci-layout"
reproducible "$out" "$work" oci-layout index.json blobs
grep -o 'sha256:[0-9a-f]*' <<<"$manifest"
