# shellcheck shell=bash disable=SC2034
# stage.sh: sourced. Operator and agent of the image's directory ROOT, started as in a container (chroot, their users)
# in a network of their own, against StandInApiServer. As root; needs JAVA_HOME.
#   stage_up ROOT          once, in a process that `unshare --mount --net --pid --fork --mount-proc` began
#   stage_operator VAR=VALUE…, stage_agent VAR=VALUE…   start, wait until ready, set pid, milliseconds, cpu (s)
#   stage_end              ends what was started last

stage_here=$(dirname "${BASH_SOURCE[0]}")

stage_up() {
  root=$1 work=$1/tmp/stage
  local lib=$root/opt/numa-operator/quarkus-app/lib account=$root/var/run/secrets/kubernetes.io/serviceaccount
  ip link set lo up
  mount -t proc proc "$root/proc"
  mount --bind /dev "$root/dev"
  mkdir -p "$work"/host/{sys,run/dbus,var/log,var/lib/kubelet,var/lib/numaoperator,etc/kubernetes} "$account"
  mount --bind /sys "$work/host/sys"
  "$JAVA_HOME/bin/keytool" -genkeypair -keyalg EC -alias api -dname CN=stand-in -ext san=ip:127.0.0.1 -validity 2 \
    -storetype PKCS12 -keystore "$work/api.p12" -storepass stand-in 2>/dev/null
  "$JAVA_HOME/bin/keytool" -exportcert -rfc -alias api -keystore "$work/api.p12" -storepass stand-in >"$account/ca.crt" 2>/dev/null
  printf none >"$account/token"
  printf numa-operator-system >"$account/namespace"
  "$JAVA_HOME/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$lib/main/*:$lib/boot/*" "$stage_here/StandInApiServer.java" \
    6443 "$work/api.p12" stand-in >"$work/api.log" 2>&1 &
  api=$!
  trap 'kill $api ${pid:-} 2>/dev/null || true' EXIT
  stage_wait "the stand-in API server" $api "$work/api.log" grep -qs ^listening "$work/api.log"
}

# stage_wait WHAT PID LOG CONDITION…
stage_wait() {
  local what=$1 process=$2 log=$3 i
  shift 3
  for ((i = 0; i < 2400; i++)); do
    "$@" && return
    kill -0 "$process" 2>/dev/null || break
    sleep 0.05
  done
  echo "$what does not come up:" >&2
  tail -5 "$log" >&2
  return 1
}

# stage_start USER PROGRAM VAR=VALUE…
stage_start() {
  local user=$1 program=$2 start=$EPOCHREALTIME condition="stage_${2}_ready"
  shift 2
  rm -f "$root/tmp/numa-agent-alive"
  chroot --userspec="$user:$user" "$root" /bin/env -i PATH=/opt/numa-operator/bin:/bin KUBERNETES_SERVICE_HOST=127.0.0.1 \
    KUBERNETES_SERVICE_PORT=6443 "$@" numa-operator "$program" >"$work/$program.log" 2>&1 &
  pid=$!
  stage_wait "$program" $pid "$work/$program.log" "$condition"
  milliseconds=$(((${EPOCHREALTIME//[.,]/} - ${start//[.,]/}) / 1000))
  cpu=$(awk '{print ($14 + $15) / 100}' "/proc/$pid/stat")
}

stage_operator() { stage_start 65532 operator POD_NAME=operator NAMESPACE=numa-operator-system "$@"; }
stage_agent() { stage_start 0 agent NODE_NAME=gpu-1 HOST_ROOT=/tmp/stage/host "$@"; }

stage_operator_ready() {
  local line
  { exec 3<>/dev/tcp/127.0.0.1/8080; } 2>/dev/null || return 1
  printf 'GET /q/health/ready HTTP/1.0\r\n\r\n' >&3
  read -r line <&3 || true
  exec 3>&-
  [[ $line == *" 200 "* ]]
}

stage_agent_ready() { [ -e "$root/tmp/numa-agent-alive" ]; }

stage_end() {
  kill "$pid"
  wait "$pid" 2>/dev/null || true
  pid=
}
