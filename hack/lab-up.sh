#!/bin/bash
# lab-up.sh LAB_BIN LAB_DIR [numalab up's flags]: a cluster of made-up GPU machines with real kubelets, and the
# operator installed in it as a person would: kubectl apply -k config/default.
set -eu
bin=$1 dir=$2
shift 2
image=ghcr.io/numaoperator/numa-operator
"$bin/numalab" down --dir "$dir" >/dev/null 2>&1 || true
"$bin/numalab" up --dir "$dir" --image "$image=$PWD/target/dist" "$@" >/dev/null
export KUBECONFIG=$dir/kubeconfig
"$bin/kubectl" apply -k config/default >/dev/null
"$bin/kubectl" -n numa-operator-system rollout status deployment/numa-operator --timeout=300s >/dev/null
echo "The lab is up. To play with it:"
echo "  export KUBECONFIG=$KUBECONFIG PATH=$bin:\$PATH"
