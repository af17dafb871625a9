#!/bin/bash
# Lays out target/dist as the image has it below /opt/numa-operator. The directory itself stays: a
# running lab has it mounted.
set -eu
mkdir -p target/dist
find target/dist -mindepth 1 -delete
mkdir target/dist/bin
cp src/main/dist/bin/numa-operator target/dist/bin/
cp -rl target/quarkus-app target/dist/quarkus-app
