package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// reaper waits for children in a process that is PID 1 of its namespace. Such a process inherits every orphan,
// so it must wait for any child; exec.Cmd.Wait would race with that. Children are therefore started and waited
// for here only.
type reaper struct {
	mu      sync.Mutex
	waiting map[int]chan syscall.WaitStatus
}

func newReaper() *reaper {
	r := &reaper{waiting: map[int]chan syscall.WaitStatus{}}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD)
	go func() {
		for range signals {
			r.reap()
		}
	}()
	return r
}

func (r *reaper) reap() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if done, ok := r.waiting[pid]; ok {
			delete(r.waiting, pid)
			done <- status
		}
	}
}

// start starts cmd; its exit status arrives on the channel. Stdout and Stderr must be files (or nil).
func (r *reaper) start(cmd *exec.Cmd) (int, <-chan syscall.WaitStatus, error) {
	r.mu.Lock() // an early exit must not be reaped before it is registered
	defer r.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	pid, done := cmd.Process.Pid, make(chan syscall.WaitStatus, 1)
	r.waiting[pid] = done
	cmd.Process.Release() //nolint:errcheck
	return pid, done, nil
}

// run runs a short command and returns what it printed as its error.
func (r *reaper) run(stdin string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = in, in
	if stdin != "" {
		input, feed, err := os.Pipe()
		if err != nil {
			in.Close()
			return err
		}
		defer input.Close()
		cmd.Stdin = input
		go func() { io.WriteString(feed, stdin); feed.Close() }() //nolint:errcheck
	}
	_, done, err := r.start(cmd)
	in.Close()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	io.Copy(&text, out) //nolint:errcheck
	if status := <-done; !status.Exited() || status.ExitStatus() != 0 {
		return fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), strings.TrimSpace(text.String()))
	}
	return nil
}
