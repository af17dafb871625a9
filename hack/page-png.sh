#!/bin/bash
# page-png.sh FILE [SEARCH]: a picture of the operator's page, as a person sees it through kubectl port-forward.
# Of the cluster that KUBECONFIG names; kubectl and chromium are on PATH. SEARCH is for example '?node=gpu-1'.
set -euo pipefail
file=$(realpath "$1") search=${2:-}
work=$(mktemp -d)
kubectl -n numa-operator-system port-forward deployment/numa-operator :8081 >"$work/forward" 2>&1 &
forward=$!
trap 'kill $forward 2>/dev/null || true; wait $forward 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 120); do
  port=$(sed -n 's/^Forwarding from 127\.0\.0\.1:\([0-9]*\) .*/\1/p' "$work/forward")
  [ -n "$port" ] && break
  kill -0 $forward 2>/dev/null || break
  sleep 0.5
done
[ -n "$port" ] || { echo "page-png.sh: no port-forward to the operator:" >&2; cat "$work/forward" >&2; exit 1; }
rm -f "$file"
timeout 180 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --hide-scrollbars \
  --user-data-dir="$work/profile" --window-size=1280,1000 --screenshot="$file" \
  "http://localhost:$port/$search" >"$work/chromium" 2>&1 || true
[ -s "$file" ] || { echo "page-png.sh: no picture:" >&2; tail -5 "$work/chromium" >&2; exit 1; }
