#!/bin/sh
# The guard of NUMA Operator: ExecStartPre= of the kubelet's unit, so it runs with the kubelet stopped.
#
#   guard.sh [ROOT]     ROOT: where the node's root directory is seen; empty for the node itself
#
# 1. Starts that the agent has not yet found to be good are counted. Past the limit the configuration of
#    before the change comes back: an agent cannot repair the kubelet that would have to start it.
# 2. The managers' state files are set aside once per boot: a kubelet with Static managers refuses them
#    when memory, CPUs or hugepages have changed, and no container is left that they could speak of.
#
# It reads what the agent has written beside it:
#   node     what is managed: "config PATH", "state PATH"
#   boot     the boot that the state files are of
#   armed    there while a change is not verified: "attempt N", "limit N", then in this order, as a kubelet
#            without state files starts with either configuration:
#            "clear - PATH", "remove - PATH", "restore BACKUP PATH", "reload"
# and writes for it:
#   starts   a byte for each start since
#   restored "attempt N", "starts N"
#
# A guard that fails must never keep a kubelet down: nothing here ends it early, and its exit code is 0.
set -u
root=${1:-}
home=$root/var/lib/numaoperator
guard=$home/guard

say() { echo "numaoperator guard: $*" >&2; }

# Puts standard input into a file, whole or not at all, also over a power loss. A link stays a link, and the
# file's mode stays. The kubelet passes over files whose name begins with a dot and ends otherwise than in
# .conf.
put() {
  [ -L "$1" ] && set -- "$(readlink -f "$1")"
  part=${1%/*}/.${1##*/}.tmp
  [ -e "$1" ] && cp -p "$1" "$part"
  cat >"$part" && sync "$part" && mv -f "$part" "$1"
}

# Takes a state file away, with a backup where there is room for one.
set_aside() {
  [ -e "$1" ] || return 0
  put "$guard/cleared-${1##*/}" <"$1"
  rm -f "$1"
}

# Whether any of the managed configuration is there.
managed() {
  while read -r kind path; do
    [ "$kind" = config ] && [ -e "$root$path" ] && return 0
  done <"$guard/node"
  return 1
}

clear_state() {
  while read -r kind path; do
    [ "$kind" = state ] && set_aside "$root$path"
  done <"$guard/node"
}

# The new boot is written down first. Should that fail, the files stay: the next start of this boot would
# take them away under running containers.
first_start_of_boot() {
  [ -f "$guard/node" ] && [ -f "$guard/boot" ] || return 0
  now='' last=''
  read -r now <"$root/proc/sys/kernel/random/boot_id"
  read -r last <"$guard/boot"
  [ -n "$now" ] && [ -n "$last" ] && [ "$now" != "$last" ] || return 0
  echo "$now" | put "$guard/boot" || return 0
  managed || return 0
  say "first start of this boot: the state files of the last are set aside"
  clear_state
}

count_start() {
  [ -f "$guard/armed" ] || return 0
  attempt=0 limit=3
  while read -r kind value _; do
    case $kind in
      attempt) attempt=$value ;;
      limit) limit=$value ;;
    esac
  done <"$guard/armed"
  unverified=$(wc -c 2>/dev/null <"$guard/starts" || echo 0)
  printf . >>"$guard/starts"
  [ "$unverified" -ge "$limit" ] || return 0
  restore || return 0
  [ -e "$guard/restored" ] ||
    printf 'attempt %d\nstarts %d\n' "$attempt" "$unverified" | put "$guard/restored"
}

# Configuration at every start, should one have been interrupted; state files once: those that the
# restored kubelet writes are its own.
restore() {
  say "attempt $attempt: $unverified starts and not verified: what was before it is restored"
  whole=0
  while read -r kind backup path; do
    case $kind in
      clear) [ -e "$guard/restored" ] || set_aside "$root$path" ;;
      remove) rm -f "$root$path" || whole=1 ;;
      restore) put "$root$path" <"$home/backup/$backup" || whole=1 ;;
      reload) [ -n "$root" ] || kill -HUP 1 ;; # systemd's daemon-reload; counts from the next start
    esac
  done <"$guard/armed"
  return $whole
}

first_start_of_boot
count_start
exit 0
