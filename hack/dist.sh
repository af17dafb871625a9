#!/bin/bash
# Lays out target/dist as the image has it below /opt/numa-operator. The directory itself stays: a
# running lab has it mounted.
set -eu
mkdir -p target/dist
find target/dist -mindepth 1 -delete
mkdir target/dist/bin
cp src/main/dist/bin/* target/dist/bin/
ln -s numa-operator target/dist/bin/kubectl-numa
cp -rl target/quarkus-app target/dist/quarkus-app
# for the agent's end of D-Bus, which is asked for it by nobody: 32 hex digits, the same in each image
echo 6e756d616f70657261746f722d616774 >target/dist/machine-id

# class_path FILE JAR...: the class path of a plain main, each jar by its name's beginning
class_path() {
  file=$1
  shift
  for jar in "$@"; do
    # shellcheck disable=SC2010 # names from Maven: no spaces
    (cd target/dist/quarkus-app && ls -d lib/main/* lib/boot/* | grep -E "/$jar-[0-9][^/]*\.jar$") ||
      { echo "dist.sh: no jar for $jar" >&2; exit 1; }
  done >"target/dist/$file"
  (cd target/dist/quarkus-app && ls app/*.jar) >>"target/dist/$file"
}

# What both of them reach: fabric8's configuration, authentication and HTTP, without its upper half.
client='com.fasterxml.jackson.core.jackson-(annotations|core|databind)
  com.fasterxml.jackson.dataformat.jackson-dataformat-yaml org.yaml.snakeyaml
  org.slf4j.slf4j-api io.fabric8.kubernetes-(client-api|httpclient-jdk|model-common|model-core)'

# Only what the agent's code reaches. Each open jar costs memory on every node, and the logging
# framework in lib/boot would take over java.util.logging.
# shellcheck disable=SC2086 # words
class_path agent.classpath $client \
  at.yawk.lz4.lz4-java com.github.hypfvieh.dbus-java-'(core|transport-native-unixsocket)' \
  com.google.guava.'(guava|failureaccess)' com.google.protobuf.protobuf-java \
  io.perfmark.perfmark-api io.grpc.grpc-'(api|core|netty|protobuf|protobuf-lite|stub|util)' \
  io.netty.netty-'(buffer|codec|codec-http|codec-http2|common|handler|resolver|transport)'

# What kubectl numa reaches, the objects of all plans included.
# shellcheck disable=SC2086 # words
class_path cli.classpath $client com.fasterxml.jackson.datatype.jackson-datatype-jsr310 \
  info.picocli.picocli org.snakeyaml.snakeyaml-engine \
  io.fabric8.kubernetes-model-'(admissionregistration|apps|batch|coordination|policy|rbac|scheduling)'
