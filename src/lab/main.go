// Command numalab is a Kubernetes lab with made-up NUMA machines: a real control plane and real kubelets on
// one Linux box, without a container engine. See README.md for what is real and what is a fake.
//
// It is one multi-call binary: under the name (or with the first argument) kube-apiserver, kubelet, kubectl, …
// it is that program; under its own name it is the lab's command line, and the lab's daemons.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// commands are what people type; internal ones are processes that the lab starts for itself.
var commands = map[string]func(args []string) error{
	"up":        cmdUp,
	"down":      cmdDown,
	"status":    cmdStatus,
	"node":      cmdNode,
	"kubelet":   cmdKubelet,
	"gpuplugin": cmdGPUPlugin,
	"apiserver": cmdAPIServer,
	"exec":      cmdExec,
	"run":       cmdRun,
	"logs":      cmdLogs,
	"images":    cmdImages,

	"labd":           func([]string) error { return runLabd() },
	"node-init":      func([]string) error { return runNodeInit() },
	"cri":            runCRI,
	"container-init": func([]string) error { return runContainerInit() },
	"device-plugin":  runDevicePlugin,
}

const usage = `numalab: a Kubernetes lab with made-up NUMA machines (see README.md)

  numalab up --dir DIR [--nodes N] [--name-prefix P] [node flags] [--image NAME=DIR]... [--audit] [--no-nodes] [--node-grace 20s]
  numalab down [--purge]                       end everything; idempotent
  numalab status                               the summary that 'up' printed, as of now
  numalab node add NAME [node flags] | stop NAME | start NAME | reboot NAME [--memory-per-zone Q] [...]
  numalab kubelet stop|start|restart|kill NODE
  numalab gpuplugin stop|start NODE
  numalab apiserver stop|start
  numalab exec NODE -- CMD...                  inside the node: its processes, mounts, network, name
  numalab run -- CMD...                        a program of this host, in the control plane's network
  numalab logs NODE|NODE/cri|NODE/gpuplugin|NODE/init|etcd|kube-apiserver|...|labd
  numalab images                               the images that pods can use
  numalab kubectl ARGS...                      kubectl with the lab's kubeconfig

Node flags: --zones 2 --cpus-per-zone 8 --threads-per-core 2 --memory-per-zone 16Gi --hugepages-2Mi-per-zone 0
  --gpus-per-zone 4 --online-cpus LIST --no-gpu-plugin --no-config-dir
All commands but 'up' take --dir DIR or the environment variable NUMALAB_DIR.
`

func main() {
	name, args := filepath.Base(os.Args[0]), os.Args[1:]
	if app, ok := apps[name]; ok {
		app()
		return
	}
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		fmt.Print(usage)
		return
	}
	// The lab's own "kubelet" is about units; the program kubelet is there under its own name.
	if app, ok := apps[args[0]]; ok && commands[args[0]] == nil {
		os.Args = args // cobra and etcd read the process' own arguments
		if args[0] == "kubectl" {
			useLabKubeconfig()
		}
		app()
		return
	}
	command, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(os.Stderr, "numalab: unknown command %q; try 'numalab help'\n", args[0])
		os.Exit(1)
	}
	if err := command(args[1:]); err != nil {
		if code, ok := err.(exitCode); ok {
			os.Exit(int(code))
		}
		fmt.Fprintf(os.Stderr, "numalab: %v\n", err)
		os.Exit(1)
	}
}

// exitCode is the error of a command whose only message is its exit status.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }
