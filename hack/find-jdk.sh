#!/bin/bash
# Prints the home of a JDK of at least 25, or nothing. With --explain: says what to install.
set -u
need=25
if [ "${1:-}" = --explain ]; then
  echo "No JDK of at least $need was found (JAVA_HOME, PATH, /usr/lib/jvm)." >&2
  echo "Install one, for example the Debian package openjdk-$need-jdk or Temurin's temurin-$need-jdk." >&2
  exit 0
fi
version() { "$1/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p'; }
on_path=$(command -v javac 2>/dev/null) && on_path=$(dirname "$(dirname "$(readlink -f "$on_path")")")
for home in "${JAVA_HOME:-}" "${on_path:-}" /usr/lib/jvm/*; do
  [ -x "$home/bin/javac" ] || continue
  found=$(version "$home")
  if [ "${found:-0}" -ge $need ]; then
    echo "$home"
    exit 0
  fi
done
