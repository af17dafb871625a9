#!/bin/bash
# test-guest.sh LAB_BIN BASE IMAGE_CACHE: the test on one QEMU machine with systemd, containerd and a real kubelet.service; see
# src/guest/README.md. GUEST_ACCELERATOR=tcg or kvm overrides what is found out.
set -eu
lab_bin=$1 base=$2 image_cache=$3
images=target/guest-images
mvn() { command mvn -B --no-transfer-progress "$@"; }
started=$SECONDS

echo "== the lab's binaries, and the guest's base (from Debian packages; about a minute when it is not cached)"
src/lab/build.sh "$lab_bin"
src/guest/build.sh "$base"

newest=$(find pom.xml src/main src/test -newer target/dist/agent.classpath -print -quit 2>/dev/null || echo all)
if [ -n "$newest" ] || [ ! -d target/test-classes ]; then
  echo "== operator and agent"
  mvn -q package -DskipTests # the unit tests are those of make test; here they are only compiled, GuestTest among them
  hack/dist.sh
fi

echo "== the image"
rm -rf $images
src/image/build.sh "$image_cache" target/dist $images/numa-operator.tar
src/image/oci.sh numa.test/pause:1 "$image_cache/userland/root" $images/pause.tar "bin lib lib64 tmp usr" <<'JSON' >/dev/null
{"Entrypoint": ["/bin/sh", "-c", "trap exit TERM; sleep 2147483 & wait"], "Env": ["PATH=/bin"]}
JSON

echo "== the guest"
mvn -q surefire:test -Dtest=GuestTest -Dtest.groups=guest -Dtest.excludedGroups= -Dlab.bin="$lab_bin" -Dguest.base="$base" \
  -Dguest.images="$PWD/$images"
echo "== make test-guest: $((SECONDS - started)) s"
