#!/bin/bash
# test-guest.sh LAB_BIN BASE: the test on one QEMU machine with systemd, containerd and a real kubelet.service; see
# src/guest/README.md. GUEST_ACCELERATOR=tcg or kvm overrides what is found out.
set -eu
lab_bin=$1 base=$2
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

echo "== the guest"
mvn -q surefire:test -Dtest=GuestTest -Dtest.groups=guest -Dtest.excludedGroups= -Dlab.bin="$lab_bin" -Dguest.base="$base"
echo "== make test-guest: $((SECONDS - started)) s"
