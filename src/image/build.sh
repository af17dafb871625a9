#!/bin/bash
# build.sh CACHE DIST OUT.tar [ROOT]: the image of operator, agent and CLI as an OCI archive, without Docker or a registry: from
# Debian packages (userland.sh), a Java runtime of the modules that the three need, and DIST, which hack/dist.sh laid out.
#   ROOT   keeps what is in the image, as a directory
#   CACHE  keeps userland, Java runtime, and the caches of loaded classes of what was built last
# The latter (train.sh) want root; without it, the image starts more slowly.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: $0 CACHE DIST OUT.tar [ROOT]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
cache=$(realpath -m "$1") dist=$(realpath "$2") out=$(realpath -m "$3")
# the name that is installed
name=$(sed -n 's/^ *image: //p' "$here/../../config/manager/deployment.yaml")
# What the class files name (jdeps) without parts of libraries that are not reached (java.desktop, java.sql, java.compiler),
# and jdk.zipfs, which Quarkus looks up.
modules=java.base,java.logging,java.management,java.naming,java.net.http,java.xml,jdk.httpserver,jdk.management
modules+=,jdk.net,jdk.security.auth,jdk.unsupported,jdk.zipfs

"$here/userland.sh" "$cache/userland"
jre=$cache/jre-$({ cat "$JAVA_HOME/release"; echo "$modules"; } | sha256sum | cut -c1-16)
if [ ! -d "$jre" ]; then
  rm -rf "$cache"/jre-*
  "$JAVA_HOME/bin/jlink" --strip-debug --no-man-pages --no-header-files --add-modules "$modules" --output "$jre.new"
  mv "$jre.new" "$jre"
fi

mkdir -p "$(dirname "$out")"
if [ $# = 4 ]; then
  root=$4
  mkdir "$root"
else
  root=$(mktemp -d "$(dirname "$out")/root.XXXXXX")
  trap 'rm -rf "$root"' EXIT
fi
app=$root/opt/numa-operator
mkdir -p "$root/opt"
cp -a "$cache/userland/root/." "$root/"
cp -r "$dist" "$app"
cp -r "$jre" "$app/jre"
chmod -R u=rwX,go=rX "$root/opt"
# the caches of classes are of jars with the times that they have in the image
find "$root" -exec touch -h -d @0 {} +

if [ "$(id -u)" = 0 ]; then
  trained=$cache/classes-$({ cat "$here"/{train.sh,stage.sh,StandInApiServer.java} "$jre/release"; cd "$app"; find . -type f | sort | xargs sha256sum; } |
    sha256sum | cut -c1-16)
  if [ ! -d "$trained" ]; then
    rm -rf "$cache"/classes-*
    "$here/train.sh" "$root"
    rm -rf "$root"/tmp/* "$root/var/run"
    mkdir "$trained.new"
    cp "$app"/*.aot "$app/operator.classpath" "$trained.new/"
    mv "$trained.new" "$trained"
  fi
  cp "$trained"/* "$app/"
  chmod 644 "$app"/*.aot
else
  echo "$0: not as root: no caches of loaded classes" >&2
fi

"$here/oci.sh" "$name" "$root" "$out" \
  "bin dev etc lib lib64 proc tmp usr var opt/numa-operator/jre" \
  "opt/numa-operator/quarkus-app/lib" \
  "--exclude=opt/numa-operator/jre --exclude=opt/numa-operator/quarkus-app/lib opt/numa-operator" <<JSON
{"Entrypoint": ["numa-operator"], "User": "65532:65532", "WorkingDir": "/tmp", "Env": ["PATH=/opt/numa-operator/bin:/bin"],
 "Labels": {"org.opencontainers.image.title": "numa-operator", "org.opencontainers.image.version": "${name##*:}",
  "org.opencontainers.image.licenses": "Apache-2.0",
  "org.opencontainers.image.description": "NUMA Operator: operator, agent and kubectl numa"}}
JSON
