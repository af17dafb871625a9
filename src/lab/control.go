package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// The control protocol: one request per connection, answered by lines of JSON: progress, then the result.

type request struct {
	Op       string    `json:"op"`
	Name     string    `json:"name,omitempty"`   // a node, or a program
	Action   string    `json:"action,omitempty"` // start, stop, …
	Node     *NodeSpec `json:"node,omitempty"`
	TimeoutS int       `json:"timeoutSeconds,omitempty"`
}

type reply struct {
	Progress string          `json:"progress,omitempty"`
	Done     bool            `json:"done,omitempty"`
	Error    string          `json:"error,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
}

// shortPath gives a socket's path through an open directory: a unix address holds 107 bytes, a lab's directory
// may be deeper.
func shortPath(socket string) (path string, release func(), err error) {
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(socket)), func() { dir.Close() }, nil
}

func listenUnix(socket string) (net.Listener, error) {
	path, release, err := shortPath(socket)
	if err != nil {
		return nil, err
	}
	defer release()
	os.Remove(socket)
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // the path is gone by then
	return l, os.Chmod(socket, 0o600)
}

func dialUnix(socket string) (*net.UnixConn, error) {
	path, release, err := shortPath(socket)
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	return c.(*net.UnixConn), nil
}

// peerPID is the PID, in our own PID namespace, of the process that listens at the socket's other end.
func peerPID(c *net.UnixConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, err
	}
	if credErr != nil {
		return 0, credErr
	}
	return int(cred.Pid), nil
}

// serveControl answers requests until the process ends.
func serveControl(l net.Listener, handle func(r request, progress func(string)) (any, error)) {
	for {
		c, err := l.Accept()
		if err != nil {
			log.Printf("control socket: %v", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		go func() {
			defer c.Close()
			var r request
			if err := json.NewDecoder(c).Decode(&r); err != nil {
				return // a mere probe
			}
			out := json.NewEncoder(c)
			result, err := handle(r, func(line string) { out.Encode(reply{Progress: line}) }) //nolint:errcheck
			final := reply{Done: true}
			if err != nil {
				final.Error = err.Error()
			} else if result != nil {
				final.Result, _ = json.Marshal(result)
			}
			out.Encode(final) //nolint:errcheck
		}()
	}
}

// call sends one request and shows its progress.
func call(socket string, r request, progress func(string)) (json.RawMessage, error) {
	c, err := dialUnix(socket)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := json.NewEncoder(c).Encode(r); err != nil {
		return nil, err
	}
	return readReplies(json.NewDecoder(c), progress)
}

func readReplies(in *json.Decoder, progress func(string)) (json.RawMessage, error) {
	for {
		var answer reply
		if err := in.Decode(&answer); err != nil {
			return nil, errors.New("the lab ended before it answered")
		}
		if answer.Progress != "" && progress != nil {
			progress(answer.Progress)
		}
		if answer.Done {
			if answer.Error != "" {
				return nil, errors.New(answer.Error)
			}
			return answer.Result, nil
		}
	}
}
