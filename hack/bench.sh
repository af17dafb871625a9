#!/bin/bash
# bench.sh LAB_BIN: measures, and writes tables to target/bench. PARTS, SIZES (numbers of nodes) and OPTIONS (of the
# operator's JVM, a flight recording for example) choose. Ends with 1 on wrong results, never on slow ones.
set -eu
lab_bin=$1
export PATH=$PATH:/usr/sbin:/sbin # ss
mvn() { command mvn -B --no-transfer-progress "$@"; }
commit=$(git rev-parse --short HEAD 2>/dev/null || echo "not a commit")
[ -z "$(git status --porcelain 2>/dev/null)" ] || commit="$commit with changes"

echo "== building"
mkdir -p target/bench
mvn -q package -DskipTests
hack/dist.sh
mvn -q dependency:build-classpath -Dmdep.includeScope=test -Dmdep.outputFile=target/bench/classpath
src/lab/build.sh "$lab_bin"

"$JAVA_HOME/bin/java" -XX:+UseSerialGC -Xmx1500m \
  -Djava.util.logging.manager=org.jboss.logmanager.LogManager \
  -Dlab.bin="$lab_bin" -Dbench.commit="$commit" \
  -Dbench.parts="${PARTS:-operator scheduler}" -Dbench.sizes="${SIZES:-100 1000 5000}" -Dbench.options="${OPTIONS:-}" \
  -cp "target/test-classes:target/classes:$(cat target/bench/classpath)" io.numaoperator.bench.Bench
