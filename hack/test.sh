#!/bin/bash
# test.sh LAB_BIN: all tests. The lab's Go build (cold about 10 minutes) runs beside Maven's part.
set -eu
lab_bin=$1
mvn() { command mvn -B --no-transfer-progress "$@"; }

echo "== shellcheck"
shellcheck src/main/resources/guard/guard.sh

mkdir -p target
echo "== building the lab beside the unit tests (its output: target/lab-build.log)"
(for part in lab tools helm; do nice "src/$part/build.sh" "$lab_bin"; done) >target/lab-build.log 2>&1 &
lab_build=$!
trap 'kill $lab_build 2>/dev/null || true' EXIT

echo "== unit tests and package"
mvn package
hack/dist.sh

echo "== waiting for the lab's build"
if ! wait $lab_build; then
  tail -20 target/lab-build.log
  exit 1
fi
trap - EXIT
(cd src/lab && go test -vet=off ./...)

echo "== the OLM bundle, by Operator Framework's validators"
"$lab_bin/bundle-validate" bundle

echo "== tests on a real API server and real kubelets"
rm -rf target/audit # each lab leaves there what was asked for under our ServiceAccounts
# two labs at a time: they wait more than they compute
mvn surefire:test -Dtest.groups=lab -Dtest.excludedGroups= -Dlab.bin="$lab_bin" -DforkCount=2

echo "== each permission was used, and none was missing"
mvn surefire:test -Dtest.groups=audit -Dtest.excludedGroups=
