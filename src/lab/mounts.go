package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func mountTmpfs(target, options string) error {
	if err := unix.Mount("numalab", target, "tmpfs", unix.MS_NOSUID, options); err != nil {
		return fmt.Errorf("mounting a tmpfs on %s: %w", target, err)
	}
	return nil
}

// mountOverlay mounts lower with a writable layer in state/upper.
func mountOverlay(lower, state, target string) error {
	for _, dir := range []string{state + "/upper", state + "/work", target} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", lower, state, state)
	if err := unix.Mount("overlay", target, "overlay", 0, options); err != nil {
		return fmt.Errorf("mounting an overlay on %s: %w", target, err)
	}
	return nil
}

// hideLower makes a directory of an overlay's upper layer hide the lower one, as if it had been empty.
func hideLower(upper, dir string, mode os.FileMode) error {
	path := filepath.Join(upper, dir)
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	if err := os.Chmod(path, mode); err != nil {
		return err
	}
	return unix.Setxattr(path, "trusted.overlay.opaque", []byte("y"), 0)
}

// bind bind-mounts a file or directory and makes the target if need be.
func bind(source, target string, flags uintptr) error {
	if err := makeMountPoint(source, target); err != nil {
		return err
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND|flags, ""); err != nil {
		return fmt.Errorf("binding %s on %s: %w", source, target, err)
	}
	return nil
}

func makeMountPoint(source, target string) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.MkdirAll(target, 0o755)
	}
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// makeReadOnly sets a mount, or with recursive a tree of mounts, read-only in this namespace.
func makeReadOnly(target string, recursive bool) error {
	var flags uint
	if recursive {
		flags = unix.AT_RECURSIVE
	}
	err := unix.MountSetattr(unix.AT_FDCWD, target, flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if err != nil {
		return fmt.Errorf("making %s read-only: %w", target, err)
	}
	return nil
}

// bindReadOnly is bind, read-only.
func bindReadOnly(source, target string) error {
	if err := bind(source, target, 0); err != nil {
		return err
	}
	return makeReadOnly(target, false)
}

// pivotInto makes newRoot the root of this mount namespace and lets go of the old one.
func pivotInto(newRoot string) error {
	if err := unix.Chdir(newRoot); err != nil {
		return err
	}
	// The old root is stacked on the new one, then detached: no directory for it is needed.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root to %s: %w", newRoot, err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detaching the old root: %w", err)
	}
	return unix.Chdir("/")
}

// setUpDev fills an empty /dev with what every machine and container has.
func setUpDev(dev, hostDev string, kmsg bool) error {
	if err := os.MkdirAll(dev, 0o755); err != nil {
		return err
	}
	if err := mountTmpfs(dev, "mode=755,size=1m"); err != nil {
		return err
	}
	names := []string{"null", "zero", "full", "random", "urandom", "tty"}
	if kmsg {
		names = append(names, "kmsg") // the kubelet's OOM watcher reads it
	}
	for _, name := range names {
		if err := bind(filepath.Join(hostDev, name), filepath.Join(dev, name), 0); err != nil {
			return err
		}
	}
	for _, dir := range []string{"pts", "shm"} {
		if err := os.Mkdir(filepath.Join(dev, dir), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("devpts", filepath.Join(dev, "pts"), "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return fmt.Errorf("mounting devpts: %w", err)
	}
	if err := mountTmpfs(filepath.Join(dev, "shm"), "mode=1777,size=64m"); err != nil {
		return err
	}
	for name, target := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0",
		"stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	return nil
}
