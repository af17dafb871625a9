#!/bin/bash
# install-yaml.sh LAB_BIN: dist/install.yaml, all of config/default in one file, for kubectl apply -f. By the kubectl on
# PATH, or the lab's, which is built when it is not there.
set -euo pipefail
lab_bin=$1
kubectl=$(command -v kubectl || true)
if [ -z "$kubectl" ]; then
  [ -x "$lab_bin/kubectl" ] || src/lab/build.sh "$lab_bin"
  kubectl=$lab_bin/kubectl
fi
mkdir -p dist
{
  echo '# NUMA Operator, made of config/default: kubectl apply --server-side -f install.yaml'
  echo '# To remove it, delete all NumaPolicies first, and wait until they are gone: docs/install.md'
  "$kubectl" kustomize config/default
} >dist/install.yaml.new
mv dist/install.yaml.new dist/install.yaml
echo "dist/install.yaml: $(grep -c '^kind:' dist/install.yaml) objects"
