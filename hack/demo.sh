#!/bin/bash
# demo.sh LAB_BIN LAB_DIR: the main job, on real kubelets: a pod across two NUMA nodes, one NumaPolicy, four nodes
# brought into line one by one, aligned pods. Every claim it prints was read from the cluster; it exits 0 only then.
set -euo pipefail
bin=$1 dir=$2
policy=gpu-nodes
node=gpu-1
export PATH=$bin:$PWD/target/dist/bin:$PATH KUBECONFIG=$dir/kubeconfig

bold=$'\e[1m' plain=$'\e[0m'
[ -t 1 ] || { bold='' plain=''; }
title() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }
say() { printf '   %s\n' "$*"; }
fail() {
  printf '\nFAILED: %s\n' "$*" >&2
  exit 1
}

leave() {
  code=$?
  if [ "${KEEP:-}" = 1 ] && [ -f "$KUBECONFIG" ]; then
    printf '\nThe lab is left up (KEEP=1). End it with: make lab-down\n  export KUBECONFIG=%s PATH=%s:$PATH\n' "$KUBECONFIG" "$bin"
  else
    numalab down --dir "$dir" >/dev/null 2>&1 || true
  fi
  exit $code
}
trap leave EXIT

build() {
  title "Building (the Go build of the lab takes about 10 minutes when its cache is cold)"
  mkdir -p target
  nice src/lab/build.sh "$bin" >target/lab-build.log 2>&1 &
  lab=$!
  if [ ! -f target/dist/built ] || [ -n "$(find pom.xml src/main -newer target/dist/built -print -quit)" ]; then
    say "operator, agent (Maven)"
    mvn -B -q --no-transfer-progress package -Dmaven.test.skip=true -Dspotless.check.skip || fail "the Maven build"
    hack/dist.sh
    touch target/dist/built
  fi
  since=$SECONDS
  while kill -0 $lab 2>/dev/null; do
    if (((SECONDS - since) % 30 == 29)); then say "lab: still compiling Kubernetes' control plane and kubelet ($((SECONDS - since)) s)"; fi
    sleep 1
  done
  wait $lab || { tail -5 target/lab-build.log; fail "the lab's build"; }
}

# pod NAME GPUS CPUS [NODE]: a Guaranteed pod
pod() {
  kubectl apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {demo: numa}}
spec:
  terminationGracePeriodSeconds: 0
  restartPolicy: Never
  nodeSelector: {kubernetes.io/hostname: $node}
  containers:
  - name: main
    image: numa.test/pause:1
    resources: {limits: {nvidia.com/gpu: "$2", cpu: "$3", memory: 1Gi}}
YAML
}

# deployment NAME SCHEDULER: one pod with 4 GPUs
deployment() {
  kubectl apply -f - >/dev/null <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: $1}
spec:
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}}
    spec:
      schedulerName: $2
      terminationGracePeriodSeconds: 0
      nodeSelector: {kubernetes.io/hostname: $node}
      containers:
      - name: main
        image: numa.test/pause:1
        resources: {limits: {nvidia.com/gpu: "4", cpu: "2", memory: 1Gi}}
YAML
}

delete_pods() { kubectl delete pod --wait=true --ignore-not-found "$@" >/dev/null 2>&1 || true; }

# held: the containers of $node with CPUs, devices and NUMA nodes, from the kubelet's PodResources socket. The node
# has the lab's images below /run/numalab/images; ours is the first.
held() {
  numalab exec --dir "$dir" "$node" -- env HOST_ROOT=/ /run/numalab/images/0/bin/numa-operator agent podresources ||
    fail "the kubelet's PodResources cannot be read"
}
show_held() { held | grep -E "^POD|default/" | sed 's/^/   /'; }
# field POD COLUMN: CPU-ZONE, MEM-ZONE, DEV-ZONE or PLACED, the last columns of the table
field() {
  held | awk -v pod="default/$1" -v name="$2" '
    NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) fromEnd = NF - i}
    $1 == pod {print $(NF - fromEnd)}'
}

leave_two_and_two() {
  for i in 1 2 3 4 5 6 7 8; do pod "filler-$i" 1 1; done
  kubectl wait pod -l demo=numa --for=condition=Ready --timeout=180s >/dev/null || fail "8 pods with one GPU each did not run"
  for zone in 0 1; do
    # shellcheck disable=SC2046 # two names
    delete_pods $(held | awk -v z="$zone" '$1 ~ /^default\/filler/ && $(NF - 1) == z {sub("default/", "", $1); print $1}' | head -2)
  done
  [ "$(held | grep -c '^default/filler')" = 4 ] || fail "4 of 8 GPUs should be taken"
}

build
started=$SECONDS

title "A cluster: 4 machines, each 2 NUMA nodes x 8 CPUs x 16 GiB x 4 GPUs, with real kubelets as kubeadm leaves them"
hack/lab-up.sh "$bin" "$dir" --nodes 4 >/dev/null
kubectl get nodes -o custom-columns='NODE:.metadata.name,KUBELET:.status.nodeInfo.kubeletVersion,CPUS:.status.allocatable.cpu,MEMORY:.status.allocatable.memory,GPUS:.status.allocatable.nvidia\.com/gpu' | sed 's/^/   /'

title "Before: half of $node's GPUs are free, two on each NUMA node; a pod asks for 4"
leave_two_and_two
pod before 4 4
kubectl wait pod before --for=condition=Ready --timeout=180s >/dev/null || fail "the default kubelet should admit the pod"
show_held
[ "$(field before DEV-ZONE)" = "0,1" ] || fail "the pod's GPUs should be on both NUMA nodes, they are on: $(field before DEV-ZONE)"
say ""
say "Its GPUs are on NUMA nodes 0 and 1, it runs, and nothing told you. This is the pod that is 35 % slower."
delete_pods -l demo=numa

title "kubectl apply -f config/samples/gpu-nodes.yaml (its verification window shortened from 60 s to 5 s)"
sed 's/window: 60s/window: 5s/' config/samples/gpu-nodes.yaml | tee target/demo-policy.yaml | grep -v '^ *#' | sed 's/^/   /'
kubectl apply -f target/demo-policy.yaml >/dev/null

title "Node by node: cordoned, changed, verified, back in service"
last=''
cordoned=''
for _ in $(seq 600); do
  table=$(kubectl get numanode --no-headers --sort-by=.metadata.name -o 'custom-columns=NODE:.metadata.name,KUBELET:.status.conditions[?(@.type=="KubeletConfigured")].reason,DEVICES:.status.conditions[?(@.type=="DevicesReporting")].reason,TOPOLOGY:.status.conditions[?(@.type=="TopologyPublished")].reason,READY:.status.conditions[?(@.type=="AlignmentReady")].status,STEP:.status.attempt.step,GPUS:.status.inventory.gpuCount' 2>/dev/null || true)
  out=$(kubectl get nodes --no-headers | awk '$2 ~ /SchedulingDisabled/ {print $1}' | tr '\n' ' ')
  [ -z "$out" ] || cordoned="$cordoned $out"
  [ "$(wc -w <<<"$out")" -le 1 ] || fail "maxUnavailable is 1, but out of service are: $out"
  if [ "$table|$out" != "$last" ] && [ -n "$table" ]; then
    printf '   %3ds  out of service: %s\n' $((SECONDS - started)) "${out:-none}"
    { echo "NODE KUBELET DEVICES TOPOLOGY READY STEP GPUS"; echo "$table"; } | column -t | sed 's/^/         /'
    last="$table|$out"
  fi
  ready=$(kubectl get numapol $policy -o jsonpath='{.status.conditions[?(@.type=="Ready")].status} {.status.nodes.ready}')
  [ "$ready" = "True 4" ] && [ -z "$out" ] && break
  sleep 0.5
done
[ "$ready" = "True 4" ] || fail "the policy did not bring all kubelets into line: $ready"
for n in gpu-1 gpu-2 gpu-3 gpu-4; do
  grep -q "$n" <<<"$cordoned" || fail "$n was never seen out of service"
done

title "After: kubectl get numapol,numanode"
kubectl get numapol,numanode | sed 's/^/   /'
say ""
say "The conditions of the policy:"
kubectl get numapol $policy -o jsonpath='{range .status.conditions[*]}{.type}{"\t"}{.status}{"\t"}{.reason}{"\t"}{.message}{"\n"}{end}' | column -t -s $'\t' | cut -c1-160 | sed 's/^/   /'

title "The same pods again on $node"
pod four 4 4
kubectl wait pod four --for=condition=Ready --timeout=180s >/dev/null || fail "4 GPUs should be admitted"
show_held
[ "$(field four PLACED)" = Aligned ] || fail "pod four is not aligned: $(field four PLACED)"
[ "$(field four CPU-ZONE)" = "$(field four DEV-ZONE)" ] || fail "CPUs and GPUs of pod four are on different NUMA nodes"
say ""
say "Its CPUs, memory and GPUs are on one NUMA node, as the kubelet itself says (PodResources)."
delete_pods four

title "The case of before: two GPUs are free on each NUMA node, and pods ask for 4"
# 4 of a zone's 6 free CPUs each: the kubelet has to put them on different NUMA nodes
pod left 2 4
pod right 2 4
kubectl wait pod left right --for=condition=Ready --timeout=180s >/dev/null || fail "2 + 2 GPUs should be admitted"
show_held

say ""
say "With the default scheduler, which cannot see NUMA nodes, a Deployment loops:"
deployment blind default-scheduler
for _ in $(seq 40); do
  failed=$(kubectl get pods -l app=blind -o jsonpath='{range .items[*]}{.status.reason}{"\n"}{end}' | grep -c TopologyAffinityError || true)
  [ "$failed" -ge 3 ] && break
  sleep 0.5
done
kubectl delete deployment blind --wait=true >/dev/null
[ "$failed" -ge 3 ] || fail "the default scheduler's pods should be rejected again and again, $failed were"
say "$failed pods were bound to $node and rejected with TopologyAffinityError within seconds."
delete_pods -l app=blind

say ""
say "With the policy's scheduler (schedulerName: numa-scheduler) the same Deployment waits, and says why:"
deployment seeing numa-scheduler
for _ in $(seq 60); do
  why=$(kubectl get events --field-selector reason=FailedScheduling -o jsonpath='{range .items[*]}{.involvedObject.name}{" "}{.message}{"\n"}{end}' | grep ^seeing | grep -oE "zone 0 has [^;]*zone 1 has [0-9]+" | tail -1 || true)
  [ -n "$why" ] && break
  sleep 0.5
done
[ -n "$why" ] || fail "the pod should be Pending with the reason in numbers"
say "Pending: $why"
kubectl get pods -l app=seeing -o jsonpath='{range .items[*]}{.status.phase}{"\n"}{end}' | grep -qv Pending && fail "the pod should be Pending"
say "Pod left ends, so a NUMA node has its 4 GPUs free:"
delete_pods left
kubectl wait pod -l app=seeing --for=condition=Ready --timeout=180s >/dev/null || fail "the waiting pod should run now"
show_held
[ "$(held | grep -c "^default/seeing.*Aligned")" = 1 ] || fail "the pod is not aligned"

title "The page: the same cluster as a NUMA map"
hack/page-png.sh target/page.png || fail "the page could not be drawn"
say "target/page.png; with KEEP=1: kubectl -n numa-operator-system port-forward deployment/numa-operator 8081, http://localhost:8081/"

title "What it costs"
for pid in $(pgrep -f io.numaoperator.agent.AgentMain); do
  awk -v pid="$pid" '/VmRSS/ {printf "   agent (pid %s): %.0f MB resident\n", pid, $2 / 1024}' "/proc/$pid/status" 2>/dev/null || true
done
say "from an empty cluster to here: $((SECONDS - started)) s"

# the agent reports what containers hold every few seconds
for _ in $(seq 30); do
  map=$(kubectl numa map "$node")
  grep -qE "^[a-z]  default/seeing" <<<"$map" && break
  sleep 1
done
title "kubectl numa status"
kubectl numa status || fail "all nodes should be ready"
title "kubectl numa map"
kubectl numa map
title "kubectl numa map $node"
kubectl numa map "$node"
grep -qE "^[a-z]  default/seeing.*Aligned" <<<"$map" || fail "the map should show the Deployment's pod, aligned"
kubectl delete deployment seeing --wait=false >/dev/null
title "Seen, all of it."
