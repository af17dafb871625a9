#!/bin/bash
# bench.sh LAB_BIN: measures, and writes tables to target/bench. PARTS, SIZES (numbers of nodes) and OPTIONS (of the
# operator's JVM, a flight recording for example) choose; PAGE=1 puts the tables into docs/performance.md. Ends with 1 on wrong results, never on slow ones.
set -eu
lab_bin=$1
export PATH=$PATH:/usr/sbin:/sbin # ss
mvn() { command mvn -B --no-transfer-progress "$@"; }
commit=$(git rev-parse --short HEAD 2>/dev/null || echo "not a commit")
[ -z "$(git status --porcelain 2>/dev/null)" ] || commit="$commit with changes"

echo "== building"
mkdir -p target/bench
rm -f target/bench/*.md
mvn -q package -DskipTests # the unit tests are those of make test; the bench is among them
hack/dist.sh
mvn -q dependency:build-classpath -Dmdep.includeScope=test -Dmdep.outputFile=target/bench/classpath
src/lab/build.sh "$lab_bin"

code=0
"$JAVA_HOME/bin/java" -XX:+UseSerialGC -Xmx1500m \
  -Djava.util.logging.manager=org.jboss.logmanager.LogManager \
  -Dlab.bin="$lab_bin" -Dbench.commit="$commit" \
  -Dbench.parts="${PARTS:-per-node agent scheduler operator}" -Dbench.sizes="${SIZES:-100 1000 5000}" -Dbench.options="${OPTIONS:-}" \
  -cp "target/test-classes:target/classes:$(cat target/bench/classpath)" io.numaoperator.bench.Bench || code=$?

if [ -n "${PAGE:-}" ]; then
  page=docs/performance.md
  for table in target/bench/*.md; do
    name=$(basename "$table" .md)
    awk -v begin="<!-- bench $name -->" -v table="$table" '
      !inside {print}
      $0 == begin {inside = 1; while ((getline line < table) > 0) print line}
      $0 == "<!-- /bench -->" && inside {inside = 0; print}' "$page" >"$page.new"
    mv "$page.new" "$page"
  done
fi
exit $code
