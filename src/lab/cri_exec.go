package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// startStreaming serves `kubectl exec` and `port-forward`; the kubelet proxies to it over the loopback address.
func (s *criServer) startStreaming() error {
	l, err := net.Listen("tcp", "127.0.0.1:0") // to learn a free port
	if err != nil {
		return err
	}
	config := streaming.DefaultConfig
	config.Addr = l.Addr().String()
	l.Close()
	if s.stream, err = streaming.NewServer(config, streamRuntime{s}); err != nil {
		return err
	}
	go func() { log.Printf("streaming: %v", s.stream.Start(true)) }()
	return nil
}

func (s *criServer) ExecSync(ctx context.Context, r *runtimeapi.ExecSyncRequest) (*runtimeapi.ExecSyncResponse, error) {
	if r.GetTimeout() > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.GetTimeout())*time.Second)
		defer cancel()
	}
	var stdout, stderr bytes.Buffer
	code, err := s.exec(ctx, r.GetContainerId(), r.GetCmd(), nil, &stdout, &stderr)
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ExecSyncResponse{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: int32(code)}, nil
}

func (s *criServer) exec(ctx context.Context, id string, argv []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	c, err := s.container(id)
	if err != nil {
		return 0, err
	}
	pid := c.runningPID()
	if pid == 0 {
		return 0, status.Errorf(codes.FailedPrecondition, "container %q is not running", id)
	}
	target := strconv.Itoa(pid)
	args := []string{"-t", target, "-m", "-u", "-i", "-p", "-r", "-w" + c.spec.Cwd, "-S", strconv.Itoa(c.spec.UID), "-G", strconv.Itoa(c.spec.GID), "--", "/usr/bin/env", "-i"}
	args = append(append(args, c.spec.Env...), argv...)
	cmd := exec.CommandContext(ctx, "nsenter", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Run()
	if ctx.Err() == context.DeadlineExceeded {
		return 0, status.Errorf(codes.DeadlineExceeded, "command %q timed out", strings.Join(argv, " "))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func (s *criServer) Exec(_ context.Context, r *runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	if _, err := s.container(r.GetContainerId()); err != nil {
		return nil, err
	}
	if r.GetTty() {
		return nil, status.Error(codes.Unimplemented, "the lab's runtime has no terminals: leave -t away")
	}
	return s.stream.GetExec(r)
}

func (s *criServer) PortForward(_ context.Context, r *runtimeapi.PortForwardRequest) (*runtimeapi.PortForwardResponse, error) {
	return s.stream.GetPortForward(r)
}

// streamRuntime is what the streaming server calls.
type streamRuntime struct{ *criServer }

func (s *criServer) execStream(ctx context.Context, id string, argv []string, in io.Reader, out, errOut io.WriteCloser) error {
	var stdout, stderr io.Writer = io.Discard, io.Discard
	if out != nil {
		stdout = out
	}
	if errOut != nil {
		stderr = errOut
	}
	code, err := s.exec(ctx, id, argv, in, stdout, stderr)
	if err == nil && code != 0 {
		return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: code}
	}
	return err
}

func (s streamRuntime) Exec(ctx context.Context, id string, argv []string, in io.Reader, out, errOut io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	return s.execStream(ctx, id, argv, in, out, errOut)
}

func (s streamRuntime) Attach(context.Context, string, io.Reader, io.WriteCloser, io.WriteCloser, bool, <-chan remotecommand.TerminalSize) error {
	return errors.New("the lab's runtime does not attach")
}

// PortForward connects to the pod's port, which is one of the node's.
func (s streamRuntime) PortForward(ctx context.Context, _ string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	backend, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer backend.Close()
	go func() { io.Copy(backend, stream); backend.(*net.TCPConn).CloseWrite() }() //nolint:errcheck
	_, err = io.Copy(stream, backend)
	return err
}
