#!/bin/bash
# accelerator.sh BASE: prints what QEMU can run a guest with here, kvm or tcg (its own interpreter, many times slower).
# There are machines whose /dev/kvm opens, makes virtual machines and stops them at the first instructions of Linux, so
# Linux is started: it takes a second or two where KVM works.
set -eu
[ -w /dev/kvm ] || { echo tcg; exit; }
console=$(mktemp)
trap 'rm -f "$console"' EXIT
timeout 15 qemu-system-x86_64 -machine q35 -accel kvm -cpu host -m 256 -nodefaults -no-reboot -display none -monitor none \
  -serial file:"$console" -kernel "$1/vmlinuz" -initrd "$1/initrd.gz" -append "console=ttyS0 quiet guest.probe" >/dev/null 2>&1 || true
if grep -q "guest: Linux runs" "$console"; then echo kvm; else echo tcg; fi
