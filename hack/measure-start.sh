#!/bin/bash
# measure-start.sh IMAGE_CACHE DIST: how long operator and agent of the image take to be ready, and what memory they hold
# then, with the JVM's own settings, with the launcher's, and with the image's caches of loaded classes too. All in one
# run and in turn, so that the ratios hold on a machine that does other things. As root. RUNS=3: the median is printed.
set -euo pipefail
if [ "${3:-}" != staged ]; then
  mkdir -p target
  root=$(mktemp -d "$PWD/target/measure.XXXXXX")
  trap 'rm -rf "$root"' EXIT
  src/image/build.sh "$1" "$2" "$root/image.tar" "$root/root" >/dev/null
  unshare --mount --net --pid --fork --mount-proc "$0" "$root/root" "$root/results" staged
  exit
fi
results=$2
# shellcheck source=src/image/stage.sh
. src/image/stage.sh
stage_up "$1"
app=$1/opt/numa-operator
options() { sed -n "s/^: \"\${$1=\(.*\)}\"/\1/p" "$app/bin/numa-operator"; }

# one PROGRAM MEMORY_LIMIT VARIANT: a line of $results
one() {
  local variable=NUMA_${1^^}_JAVA_OPTIONS settings="-XX:MaxRAM=$2"
  [ "$3" = jvm ] || settings+=" $(options "$variable")"
  if [ "$3" != image ]; then for file in "$app"/{operator.classpath,*.aot}; do mv "$file" "$file.off"; done; fi
  "stage_$1" "$variable=$settings"
  sleep 4
  awk -v head="$1 $3 $milliseconds $cpu" '/^VmRSS/ {rss = $2} /^RssAnon/ {print head, int(rss / 1024), int($2 / 1024)}' \
    "/proc/$pid/status" >>"$results"
  stage_end
  if [ "$3" != image ]; then for file in "$app"/*.off; do mv "$file" "${file%.off}"; done; fi
}

for ((run = 0; run < ${RUNS:-3}; run++)); do
  for variant in jvm launcher image; do
    one operator 512m $variant
    one agent 160m $variant
  done
done
sort "$results" | awk '
  function median(list, n, i) { n = split(list, a); asort_(a, n); return a[int((n + 1) / 2)] }
  function asort_(a, n, i, j, t) { for (i = 2; i <= n; i++) { t = a[i] + 0; for (j = i - 1; j > 0 && a[j] + 0 > t; j--) a[j + 1] = a[j]; a[j + 1] = t } }
  { for (f = 3; f <= 6; f++) v[$1, $2, f] = v[$1, $2, f] " " $f }
  END {
    split("operator agent", programs); split("jvm launcher image", variants)
    printf "%-9s %-9s %14s %14s %14s %18s\n", "PROGRAM", "SETTINGS", "READY ms", "CPU s", "RSS MiB", "ANONYMOUS MiB"
    for (p = 1; p <= 2; p++) for (k = 1; k <= 3; k++) {
      printf "%-9s %-9s", programs[p], variants[k]
      for (f = 3; f <= 6; f++) {
        m = median(v[programs[p], variants[k], f]); base = median(v[programs[p], "jvm", f])
        printf " %8s (%.2f)", m, m / base
      }
      print ""
    }
  }'
