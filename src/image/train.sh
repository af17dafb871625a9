#!/bin/bash
# train.sh ROOT: gives the image's directory ROOT caches of loaded classes (JEP 483, 514, 515) for operator and agent: each
# runs once against a stand-in for the API server, so it is also a test that they start with what ROOT has. As root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ "${2:-}" != staged ]; then exec unshare --mount --net --pid --fork --mount-proc "$0" "$1" staged; fi
# shellcheck source=src/image/stage.sh
. "$here/stage.sh"
app=$1/opt/numa-operator

# one class path, since the JVM caches only what its own loaders load; changed classes come first
(cd "$app/quarkus-app" && printf '%s\n' quarkus/transformed-bytecode.jar quarkus/generated-bytecode.jar app/*.jar lib/boot/*.jar \
  lib/main/*.jar) >"$app/operator.classpath"
stage_up "$1"
# of the machine that makes the cache, nothing may be in it
portable="-XX:+UnlockDiagnosticVMOptions -XX:-AOTAdapterCaching -XX:-AOTStubCaching"
options() { sed -n "s/^: \"\${$1=\(.*\)}\"/\1/p" "$app/bin/numa-operator"; }
for program in operator agent; do
  variable=NUMA_${program^^}_JAVA_OPTIONS
  # shellcheck disable=SC2154 # of stage.sh
  mkdir -p "$work/$program"
  chmod 777 "$work/$program"
  "stage_$program" "$variable=$(options "$variable") $portable -XX:AOTCacheOutput=/tmp/stage/$program/cache"
  sleep 3 # what it does once it is ready
  kill "$pid"
  wait "$pid" || true # it makes the cache at its end
  pid=
  [ -s "$work/$program/cache" ] || { tail -5 "$work/$program.log" >&2; exit 1; }
  cp "$work/$program/cache" "$app/$program.aot"
done
