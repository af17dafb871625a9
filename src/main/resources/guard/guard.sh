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
#   boot     the boot that the guard was put there in
#   armed    there while a change is not verified: "attempt N", "limit N", then in this order, as a kubelet
#            without state files starts with either configuration:
#            "clear - PATH", "remove - PATH", "restore BACKUP PATH", "reload"
#   starts   empty at first; not there where starts are counted anew
# and writes for it:
#   starts   a byte for each start since
#   restored "attempt N", "starts N"
# and for itself, below /run, which a reboot empties and which takes a byte when a full disk takes none:
#   started     this boot had its first start
#   starts      the starts that the disk would not take
#   restored-N  the same of the restoration
#
# A guard that fails must never keep a kubelet down: nothing here ends it early, and its exit code is 0.
set -u
root=${1:-}
home=$root/var/lib/numaoperator
guard=$home/guard
run=$root/run/numaoperator-guard

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

# Takes a state file away, and keeps it where there is room. Nothing here waits for the disk: what was begun
# is done before the timeout of the unit's line.
set_aside() {
  [ -e "$1" ] || return 0
  mv -f "$1" "$guard/cleared-${1##*/}" || rm -f "$1"
}

size() {
  if [ -f "$1" ]; then wc -c <"$1" || echo 0; else echo 0; fi
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

# Only a start that is noted may take state files away: the next one of this boot would do so under running
# containers. The disk does not always take a note.
note_start() {
  [ ! -e "$run/started" ] && mkdir -p "$run" && echo >"$run/started"
}

first_start_of_boot() {
  note_start || return 0
  [ -f "$guard/node" ] && [ -f "$guard/boot" ] || return 0
  now='' last=''
  read -r now <"$root/proc/sys/kernel/random/boot_id"
  read -r last <"$guard/boot"
  [ -n "$now" ] && [ -n "$last" ] && [ "$now" != "$last" ] || return 0
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
  [ -e "$guard/starts" ] || rm -f "$run/starts"
  unverified=$(($(size "$guard/starts") + $(size "$run/starts")))
  printf . >>"$guard/starts" || printf . >>"$run/starts"
  [ "$unverified" -ge "$limit" ] || return 0
  restore || return 0
  note_restored
}

restored() {
  [ -e "$guard/restored" ] || [ -e "$run/restored-$attempt" ]
}

note_restored() {
  [ -e "$guard/restored" ] && return 0
  printf 'attempt %d\nstarts %d\n' "$attempt" "$unverified" | put "$guard/restored" ||
    echo >"$run/restored-$attempt"
}

# Configuration at every start, should one have been interrupted; state files once: those that the
# restored kubelet writes are its own.
restore() {
  say "attempt $attempt: $unverified starts and not verified: what was before it is restored"
  whole=0
  while read -r kind backup path; do
    case $kind in
      clear) restored || set_aside "$root$path" ;;
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
