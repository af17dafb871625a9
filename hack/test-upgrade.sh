#!/bin/bash
# test-upgrade.sh LAB_BIN CACHE: an older operator, built from this repository's history, is upgraded in a lab in
# the middle of a change, downgraded and upgraded again. UPGRADE_FROM=COMMIT chooses another one.
set -eu
lab_bin=$1 cache=$2
# no release yet: the last commit whose operator did not look at the version of its agents
from=${UPGRADE_FROM:-de09e0e3aa0c6cd0c07e7a7ac36b2bd11f7a327a}
before=$cache/upgrade/$from

if [ ! -e "$before/built" ]; then
  echo "== the operator of before: $from"
  git cat-file -e "$from^{commit}" 2>/dev/null || {
    echo "test-upgrade.sh: this clone has no commit $from; a shallow one gets it by: git fetch --unshallow" >&2
    exit 1
  }
  rm -rf "$before"
  mkdir -p "$before"
  git archive "$from" | tar -x -C "$before"
  (cd "$before" && mvn -B --no-transfer-progress -q package -Dmaven.test.skip=true && hack/dist.sh)
  touch "$before/built"
fi

echo "== the operator of now"
mvn -B --no-transfer-progress -q package -DskipTests # the unit tests are those of make test
hack/dist.sh

echo "== the upgrade"
mvn -B --no-transfer-progress surefire:test -Dtest.groups=upgrade -Dtest.excludedGroups= -Dlab.bin="$lab_bin" \
  -Dupgrade.before="$before"
