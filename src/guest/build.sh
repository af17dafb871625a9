#!/bin/bash
# build.sh OUTDIR: what the guest starts from, made of Debian packages alone, and nothing of this project's code:
#   OUTDIR/vmlinuz, OUTDIR/initrd.gz   Debian's cloud kernel, and the few modules that find the disk
#   OUTDIR/disk.ext4                   systemd, D-Bus, containerd, runc, CNI plugins, and the files of root/
# Takes about a minute, and nothing when it was made from these sources before. No package is installed on the host.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=src/image/debian.sh
. "$here/../image/debian.sh"
out=$(realpath -m "$1")
release=trixie
# containerd 2: a kubelet of 1.36 or later wants it
newer=forky
packages=systemd,systemd-sysv,dbus,kmod,iproute2,procps,mount,libseccomp2,iptables,qemu-guest-agent

stamp=$(cd "$here" && { cat build.sh ../image/debian.sh; find root -type f | sort | xargs tail -n +1; find root -type l -printf '%p %l\n' | sort; } | sha256sum)
[ "$(cat "$out/stamp" 2>/dev/null)" = "$stamp" ] && exit 0
rm -rf "$out"
mkdir -p "$out/tmp"

# unpack SUITE PACKAGE DIR
unpack() { debian_unpack "$out/tmp" "$@"; }

kernel() {
  local image=$out/tmp/kernel name version
  name=$(debian_apt "$out/tmp" $release apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ {print $2; exit}')
  unpack $release "$name" "$image"
  cp "$image"/boot/vmlinuz-* "$out/vmlinuz"
  version=$(basename "$image"/usr/lib/modules/*)
  # what costs a second here costs twenty in a guest without KVM
  find "$image/usr/lib/modules" -name '*.ko.xz' -exec xz -dq {} +
  depmod -b "$image/usr" "$version"
  unpack $release busybox-static "$out/tmp/busybox"

  local initrd=$out/tmp/initrd file
  mkdir -p "$initrd"/{bin,proc,sys,dev,new,modules}
  cp "$out/tmp/busybox/usr/bin/busybox" "$initrd/bin/"
  ln -s busybox "$initrd/bin/sh"
  # in the order in which they need each other
  modprobe -d "$image/usr" -S "$version" --show-depends -a virtio_pci virtio_blk ext4 | awk '$1 == "insmod" {print $2}' |
    while read -r file; do
      cp "$file" "$initrd/modules/"
      basename "$file" >>"$initrd/modules/order"
    done
  cat >"$initrd/init" <<'INIT'
#!/bin/sh
export PATH=/bin
b=/bin/busybox
$b mount -t proc proc /proc; $b mount -t sysfs sys /sys; $b mount -t devtmpfs dev /dev
if $b grep -qw guest.probe /proc/cmdline; then echo "guest: Linux runs"; $b poweroff -f; fi
for m in $($b cat /modules/order); do $b insmod /modules/$m; done
i=0; while [ ! -b /dev/vda ] && [ $i -lt 100 ]; do $b sleep 0.1; i=$((i + 1)); done
$b mount -t ext4 -o rw,noatime /dev/vda /new || { echo "no disk"; $b poweroff -f; }
for d in proc sys dev; do $b mount --move /$d /new/$d; done
exec $b switch_root /new /sbin/init
INIT
  chmod 755 "$initrd/init"
  (cd "$initrd" && find . | cpio -o -H newc --quiet | gzip -1) >"$out/initrd.gz"
}

disk() {
  local root=$out/tmp/root p
  mmdebstrap --quiet --variant=minbase --include=$packages --aptopt='APT::Sandbox::User "root"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' $release "$root" "deb $(debian_mirror) $release main"
  for p in containerd runc; do unpack $newer $p "$root"; done
  unpack $release containernetworking-plugins "$root"
  mkdir -p "$root/usr/lib/modules"
  cp -a "$out"/tmp/kernel/usr/lib/modules/* "$root/usr/lib/modules/"
  cp -a "$here/root/." "$root/"
  chown -R 0:0 "$root/etc"
  : >"$root/etc/machine-id" # made at the first boot
  touch "$root/etc/.updated" "$root/var/.updated" # systemd need not rebuild caches at the first boot
  mkdir -p "$root/payload" "$root/var/log/journal"
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
  truncate -s 4G "$out/disk.ext4"
  mke2fs -q -t ext4 -d "$root" "$out/disk.ext4"
}

kernel
disk
rm -rf "$out/tmp"
echo "$stamp" >"$out/stamp"
