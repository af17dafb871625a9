package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// takeDir takes --dir DIR (or --dir=DIR) out of the arguments, wherever it stands before a "--".
func takeDir(args []string) (layout, []string, error) {
	value, rest := "", []string{}
	for i := 0; i < len(args); i++ {
		name, inline, hasInline := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			rest = append(rest, args[i:]...)
			i = len(args)
		case name != "--dir" && name != "-dir":
			rest = append(rest, args[i])
		case hasInline:
			value = inline
		case i+1 < len(args):
			i++
			value = args[i]
		default:
			return "", nil, errors.New("--dir wants a directory")
		}
	}
	d, err := labDir(value)
	return d, rest, err
}

// ask sends labd a request.
func ask(d layout, r request) (json.RawMessage, error) {
	if labdPID(d) == 0 {
		return nil, fmt.Errorf("no lab is running in %s", d)
	}
	return call(d.control(), r, func(line string) { fmt.Fprintln(os.Stderr, line) })
}

func askAndPrint(d layout, r request) error {
	result, err := ask(d, r)
	if err != nil || len(result) == 0 || string(result) == "null" {
		return err
	}
	return printJSON(result)
}

func cmdStatus(args []string) error {
	d, _, err := takeDir(args)
	if err != nil {
		return err
	}
	return askAndPrint(d, request{Op: "status"})
}

func cmdNode(args []string) error {
	d, rest, err := takeDir(args)
	if err != nil {
		return err
	}
	if len(rest) < 2 || !slices.Contains([]string{"add", "stop", "start", "reboot"}, rest[0]) {
		return errors.New("usage: numalab node add|stop|start|reboot NAME [flags]")
	}
	action, name, flags := rest[0], rest[1], rest[2:]
	spec := defaultNodeSpec()
	f := flag.NewFlagSet("node "+action, flag.ContinueOnError)
	switch action {
	case "add":
		nodeFlags(f, &spec)
	case "reboot":
		// The machine stays as it is but for what the flags change.
		if spec, err = currentSpec(d, name); err != nil {
			return err
		}
		nodeFlags(f, &spec)
	}
	if err := parse(f, flags, 0); err != nil {
		return err
	}
	spec.Name = name
	if action == "add" {
		if err := spec.validate(); err != nil {
			return err
		}
		return askAndPrint(d, request{Op: "node-add", Node: &spec})
	}
	r := request{Op: "node", Name: name, Action: action}
	if action == "reboot" {
		r.Node = &spec
	}
	return askAndPrint(d, r)
}

func currentSpec(d layout, name string) (NodeSpec, error) {
	raw, err := ask(d, request{Op: "status"})
	if err != nil {
		return NodeSpec{}, err
	}
	var s summary
	if err := json.Unmarshal(raw, &s); err != nil {
		return NodeSpec{}, err
	}
	for _, n := range s.Nodes {
		if n.Name == name {
			return n.NodeSpec, nil
		}
	}
	return NodeSpec{}, fmt.Errorf("no node %q", name)
}

// cmdKubelet works on the kubelet's unit, as systemctl would.
func cmdKubelet(args []string) error {
	return programCommand(args, "unit", "kubelet", "start", "stop", "restart", "kill")
}

func cmdGPUPlugin(args []string) error {
	return programCommand(args, "program", "gpuplugin", "start", "stop")
}

func programCommand(args []string, op, what string, actions ...string) error {
	d, rest, err := takeDir(args)
	if err != nil {
		return err
	}
	if len(rest) != 2 || !slices.Contains(actions, rest[0]) {
		return fmt.Errorf("usage: numalab %s %s NODE", what, strings.Join(actions, "|"))
	}
	return askAndPrint(d, request{Op: op, Name: rest[1], Action: rest[0]})
}

func cmdAPIServer(args []string) error {
	d, rest, err := takeDir(args)
	if err != nil {
		return err
	}
	if len(rest) != 1 || rest[0] != "start" && rest[0] != "stop" {
		return errors.New("usage: numalab apiserver start|stop")
	}
	return askAndPrint(d, request{Op: "apiserver", Action: rest[0]})
}

// cmdExec becomes nsenter, in all of the node's namespaces.
func cmdExec(args []string) error {
	d, rest, err := takeDir(args)
	if err != nil {
		return err
	}
	if len(rest) < 2 {
		return errors.New("usage: numalab exec NODE -- CMD...")
	}
	node, argv := rest[0], rest[1:]
	if argv[0] == "--" {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return errors.New("exec: which command?")
	}
	if labdPID(d) == 0 {
		return fmt.Errorf("no lab is running in %s", d)
	}
	if _, err := os.Stat(d.path("nodes", node)); err != nil {
		return fmt.Errorf("no node %q", node)
	}
	c, err := dialUnix(d.node(node, "init.sock"))
	if err != nil {
		return fmt.Errorf("node %s is off", node)
	}
	pid, err := peerPID(c)
	c.Close()
	if err != nil {
		return err
	}
	return become(append([]string{"nsenter", "-t", strconv.Itoa(pid), "-m", "-u", "-i", "-n", "-p", "-r", "-w", "--"}, argv...),
		append(withoutEnv(os.Environ(), "PATH", "KUBECONFIG"), "PATH="+containerPath, "DBUS_SYSTEM_BUS_ADDRESS=unix:path="+busSocket))
}

// cmdRun becomes the program, in the control plane's network namespace alone.
func cmdRun(args []string) error {
	d, rest, err := takeDir(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return errors.New("usage: numalab run -- CMD...")
	}
	pid := labdPID(d)
	if pid == 0 {
		return fmt.Errorf("no lab is running in %s", d)
	}
	return become(append([]string{"nsenter", "-t", strconv.Itoa(pid), "-n", "--"}, rest...), os.Environ())
}

func become(argv, env []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return unix.Exec(path, argv, env)
}

func cmdLogs(args []string) error {
	d, rest, err := takeDir(args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return errors.New("usage: numalab logs NODE|NODE/cri|NODE/gpuplugin|NODE/init|etcd|kube-apiserver|kube-controller-manager|kube-scheduler|labd")
	}
	name, part, hasPart := strings.Cut(rest[0], "/")
	if !hasPart {
		part = "kubelet"
	}
	if name == "apiserver" {
		name = "kube-apiserver"
	}
	for _, path := range []string{d.log(name), d.node(name, part+".log")} {
		if f, err := os.Open(path); err == nil {
			defer f.Close()
			_, err = io.Copy(os.Stdout, f)
			return err
		}
	}
	return fmt.Errorf("no log of %q in %s", rest[0], d)
}

func cmdImages(args []string) error {
	d, _, err := takeDir(args)
	if err != nil {
		return err
	}
	var config LabConfig
	if err := readJSON(d.config(), &config); err != nil {
		return err
	}
	for _, image := range builtInImages() {
		fmt.Printf("%-34s %s\n", image.name, image.about)
	}
	for _, name := range sortedKeys(config.Images) {
		fmt.Printf("%-34s %s at %s\n", repository(name), config.Images[name], imageMount)
	}
	return nil
}

// useLabKubeconfig points kubectl at the lab when nothing else does.
func useLabKubeconfig() {
	if dir := os.Getenv("NUMALAB_DIR"); dir != "" && os.Getenv("KUBECONFIG") == "" {
		os.Setenv("KUBECONFIG", layout(dir).kubeconfig())
	}
}
