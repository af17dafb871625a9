package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// criLog writes a container's output in the CRI's log format: time, stream, F for a full or P for a part of a
// line, text.
type criLog struct {
	path string
	mu   sync.Mutex
	file *os.File
}

func openCRILog(path string) (*criLog, error) {
	l := &criLog{path: path}
	return l, l.reopen()
}

// reopen follows a rotation by the kubelet.
func (l *criLog) reopen() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
	}
	l.file = f
	return nil
}

func (l *criLog) close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// copy reads the stream to its end.
func (l *criLog) copy(stream string, from *os.File) {
	defer from.Close()
	in := bufio.NewReaderSize(from, 16<<10)
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			tag := "F"
			if line[len(line)-1] == '\n' {
				line = line[:len(line)-1]
			} else if errors.Is(err, bufio.ErrBufferFull) {
				tag = "P"
			}
			l.write(stream, tag, line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (l *criLog) write(stream, tag string, line []byte) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	var out io.Writer = l.file
	fmt.Fprintf(out, "%s %s %s %s\n", time.Now().Format(time.RFC3339Nano), stream, tag, line)
}
