#!/bin/bash
# need.sh PROGRAM:DEBIAN_PACKAGE...: installs what is missing, quietly, where apt-get and root are there.
set -eu
missing=()
for pair in "$@"; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing+=("${pair##*:}")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "Missing packages (Debian names): ${missing[*]}" >&2
  exit 1
fi
log=$(mktemp)
if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -5 "$log" >&2
  echo "Could not install ${missing[*]}." >&2
  exit 1
fi
rm -f "$log"
