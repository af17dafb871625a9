#!/bin/bash
# promtool.sh DIR: puts promtool into DIR, out of Debian's package prometheus, which is not installed: it would start
# a server. Nothing is done where DIR or the PATH has one.
set -eu
dir=$1
if [ -x "$dir/promtool" ] || command -v promtool >/dev/null 2>&1; then exit 0; fi
if ! command -v apt-get >/dev/null; then
  echo "Missing: promtool (of Prometheus), which tests the alerts" >&2
  exit 1
fi
mkdir -p "$dir"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # apt-get download writes as its own user, _apt
if ! (cd "$work" && { apt-get download prometheus || { apt-get update && apt-get download prometheus; }; } \
  && dpkg-deb -x prometheus_*.deb files) >"$work/log" 2>&1; then
  tail -5 "$work/log" >&2
  echo "Could not get promtool out of Debian's package prometheus." >&2
  exit 1
fi
mv "$work/files/usr/bin/promtool" "$dir/promtool"
