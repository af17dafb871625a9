package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// service is a program that the lab itself keeps running (not a systemd unit of a node: see units.go).
type service struct {
	name string
	argv []string
	env  []string
	log  string

	reaper  *reaper
	mu      sync.Mutex
	pid     int           // 0 when not running
	ended   chan struct{} // closed when the current process has ended
	wanted  bool
	started time.Time
}

func (s *service) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = true
	if s.pid != 0 {
		return nil
	}
	return s.launch()
}

func (s *service) launch() error {
	out, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Env, cmd.Dir = append(os.Environ(), s.env...), "/"
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pid, done, err := s.reaper.start(cmd)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	ended := make(chan struct{})
	s.pid, s.ended, s.started = pid, ended, time.Now()
	go func() {
		status := <-done
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pid = 0
		close(ended)
		if s.wanted {
			log.Printf("%s ended (%s) after %.1fs: starting it again", s.name, describeStatus(status), time.Since(s.started).Seconds())
			time.AfterFunc(time.Second, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				if s.wanted && s.pid == 0 {
					if err := s.launch(); err != nil {
						log.Print(err)
					}
				}
			})
		}
	}()
	return nil
}

// stop ends the program: with the signal, and after the grace period with SIGKILL.
func (s *service) stop(signal syscall.Signal, grace time.Duration) {
	s.mu.Lock()
	s.wanted = false
	pid, ended := s.pid, s.ended
	if pid != 0 {
		syscall.Kill(pid, signal) //nolint:errcheck
	}
	s.mu.Unlock()
	if pid == 0 {
		return
	}
	select {
	case <-ended:
		return
	case <-time.After(grace):
	}
	s.mu.Lock()
	if s.pid == pid {
		syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck
	}
	s.mu.Unlock()
	<-ended
}

func (s *service) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pid != 0
}

func describeStatus(s syscall.WaitStatus) string {
	if s.Signaled() {
		return "signal " + s.Signal().String()
	}
	return fmt.Sprintf("exit code %d", s.ExitStatus())
}
