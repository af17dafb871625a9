#!/bin/bash
# userland.sh OUTDIR: OUTDIR/root, what the image has beside Java and this project: Debian's libc, which a JVM wants,
# and busybox for the launcher, the agent's probe and the proof pod. Takes seconds, and nothing when it was made from
# these sources before.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=src/image/debian.sh
. "$here/debian.sh"
out=$(realpath -m "$1")
release=trixie
# what launcher, probe and proof pod run, and what a person wants who looks into a container
applets="sh cat sleep tail head grep sed paste stty dirname readlink ls ps id env true false"

stamp=$(cat "$here/userland.sh" "$here/debian.sh" | sha256sum)
[ "$(cat "$out/stamp" 2>/dev/null)" = "$stamp" ] && exit 0
rm -rf "$out"
work=$out/work root=$out/root
mkdir -p "$work" "$root"/{bin,dev,etc,proc,tmp,usr,var/lib/dpkg/status.d}

for package in libc6 busybox-static; do
  debian_unpack "$work" $release $package "$work/$package"
  # where scanners of images look for what Debian packages there are
  dpkg-deb -f "$work/debs/${package}"_*.deb >"$root/var/lib/dpkg/status.d/$package"
  mkdir -p "$root/usr/share/doc/$package"
  cp "$work/$package/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/"
done
# libc without its converters of character sets: Java has its own
cp -a "$work/libc6/usr"/lib* "$root/usr/"
find "$root/usr" -depth -name gconv -exec rm -r {} +
for lib in "$root"/usr/lib*; do ln -s "usr/${lib##*/}" "$root/${lib##*/}"; done
cp "$work/busybox-static/usr/bin/busybox" "$root/bin/"
for applet in $applets; do ln -s busybox "$root/bin/$applet"; done

cat >"$root/etc/passwd" <<'END'
root:x:0:0:root:/:/bin/sh
numa-operator:x:65532:65532:numa-operator:/tmp:/bin/sh
nobody:x:65534:65534:nobody:/tmp:/bin/sh
END
printf 'root:x:0:\nnuma-operator:x:65532:\nnobody:x:65534:\n' >"$root/etc/group"
# without it, libc asks DNS before /etc/hosts
echo "hosts: files dns" >"$root/etc/nsswitch.conf"
printf 'PRETTY_NAME="NUMA Operator on Debian %s"\nID=debian\nVERSION_CODENAME=%s\n' $release $release >"$root/etc/os-release"
chmod -R u=rwX,go=rX "$root"
chmod 1777 "$root/tmp"
rm -rf "$work"
echo "$stamp" >"$out/stamp"
