package main

import (
	"os"
	"os/signal"
	"syscall"
)

// runPause is the command of the pause images.
func runPause() error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	<-signals
	return nil
}
