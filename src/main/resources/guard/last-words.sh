#!/bin/sh
# The last words of the kubelet: ExecStopPost= of its unit, so it runs whenever a kubelet has ended.
#
#   last-words.sh [ROOT]     ROOT: where the node's root directory is seen; empty for the node itself
#
# What the kubelet said since it was started is in the journal, and only the journal's own programs can read
# that: the agent has none in its image. It takes the reason of a failed start from the file written here.
set -u
words=${1:-}/var/lib/numaoperator/guard/last-words

# systemd gives each start of the unit an id, and the journal each line the id of its start
journalctl --sync 2>/dev/null
journalctl --quiet --no-pager --output=cat --lines=200 "_SYSTEMD_INVOCATION_ID=${INVOCATION_ID:-none}" >"$words.tmp" 2>/dev/null
mv -f "$words.tmp" "$words"
exit 0
