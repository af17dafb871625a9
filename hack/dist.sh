#!/bin/bash
# Lays out target/dist as the image has it below /opt/numa-operator. The directory itself stays: a
# running lab has it mounted.
set -eu
mkdir -p target/dist
find target/dist -mindepth 1 -delete
mkdir target/dist/bin
cp src/main/dist/bin/numa-operator target/dist/bin/
cp -rl target/quarkus-app target/dist/quarkus-app
# for the agent's end of D-Bus, which is asked for it by nobody: 32 hex digits, the same in each image
echo 6e756d616f70657261746f722d616774 >target/dist/machine-id

# The agent's class path: only what its code reaches. Each open jar costs memory on every node, and
# the logging framework in lib/boot would take over java.util.logging.
agent_jars='com.fasterxml.jackson.core.jackson-(annotations|core|databind)
  com.fasterxml.jackson.dataformat.jackson-dataformat-yaml org.yaml.snakeyaml at.yawk.lz4.lz4-java
  com.github.hypfvieh.dbus-java-(core|transport-native-unixsocket) com.google.guava.(guava|failureaccess)
  com.fasterxml.jackson.dataformat.jackson-dataformat-yaml org.yaml.snakeyaml
  com.google.protobuf.protobuf-java io.perfmark.perfmark-api org.slf4j.slf4j-api
  io.fabric8.kubernetes-(client-api|httpclient-jdk|model-common|model-core)
  io.grpc.grpc-(api|core|netty|protobuf|protobuf-lite|stub|util)
  io.netty.netty-(buffer|codec|codec-http|codec-http2|common|handler|resolver|transport)'
for jar in $agent_jars; do
  # shellcheck disable=SC2010 # names from Maven: no spaces
  (cd target/dist/quarkus-app && ls -d lib/main/* lib/boot/* | grep -E "/$jar-[0-9][^/]*\.jar$") ||
    { echo "dist.sh: no jar for $jar" >&2; exit 1; }
done >target/dist/agent.classpath
(cd target/dist/quarkus-app && ls app/*.jar) >>target/dist/agent.classpath
