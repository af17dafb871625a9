package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestRepositoryIgnoresTagAndDigest(t *testing.T) {
	for reference, want := range map[string]string{
		"numa.test/pause": "numa.test/pause", "numa.test/pause:1": "numa.test/pause", "host:5000/a/b:v1": "host:5000/a/b",
		"host:5000/a/b": "host:5000/a/b", "a/b:v1@sha256:00": "a/b",
	} {
		if got := repository(reference); got != want {
			t.Errorf("%s: %s, want %s", reference, got, want)
		}
	}
}

func TestCapabilities(t *testing.T) {
	number := func(name string) int { return slices.Index(capabilityNames, name) }
	for _, c := range []struct {
		add, drop  []string
		privileged bool
		want       int
	}{
		{nil, nil, false, len(defaultCapabilities)}, {nil, nil, true, len(capabilityNames)},
		{[]string{"DAC_OVERRIDE"}, []string{"ALL"}, false, 1}, {[]string{"ALL"}, []string{"SYS_ADMIN"}, false, len(capabilityNames) - 1},
		{[]string{"CAP_SYS_NICE"}, nil, false, len(defaultCapabilities) + 1},
	} {
		got, err := keptCapabilities(&runtimeapi.Capability{AddCapabilities: c.add, DropCapabilities: c.drop}, c.privileged)
		if err != nil || len(got) != c.want {
			t.Errorf("%+v: %v %v", c, got, err)
		}
	}
	got, _ := keptCapabilities(&runtimeapi.Capability{DropCapabilities: []string{"ALL"}, AddCapabilities: []string{"dac_override"}}, false)
	if !slices.Equal(got, []int{number("DAC_OVERRIDE")}) {
		t.Errorf("%v", got)
	}
	if _, err := keptCapabilities(&runtimeapi.Capability{AddCapabilities: []string{"NOPE"}}, false); err == nil {
		t.Error("want an error")
	}
}

func TestCRILogFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	l, err := openCRILog(path)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		w.WriteString("one\n" + strings.Repeat("x", 20<<10) + "\nend") //nolint:errcheck
		w.Close()
	}()
	l.copy("stdout", r)
	l.close()
	data, _ := os.ReadFile(path)
	var tags []string
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		fields := strings.SplitN(line, " ", 4)
		tags = append(tags, fields[1]+fields[2])
	}
	if got := strings.Join(tags, " "); got != "stdoutF stdoutP stdoutF stdoutF" {
		t.Errorf("%s", got)
	}
}

func TestUserOfContainer(t *testing.T) {
	for _, c := range []struct {
		image    string
		security *runtimeapi.LinuxContainerSecurityContext
		uid, gid int
	}{
		{"", nil, 0, 0}, {"1001", nil, 1001, 0}, {"1001:7", nil, 1001, 7},
		{"1001", &runtimeapi.LinuxContainerSecurityContext{RunAsUser: &runtimeapi.Int64Value{Value: 5}, RunAsGroup: &runtimeapi.Int64Value{Value: 6}}, 5, 6},
	} {
		var s containerSpec
		if err := s.setUser(c.security, c.image); err != nil || s.UID != c.uid || s.GID != c.gid {
			t.Errorf("%+v: %d %d %v", c, s.UID, s.GID, err)
		}
	}
}

func TestUnitObjectPath(t *testing.T) {
	if got := unitObjectPath("kubelet.service"); got != "/org/freedesktop/systemd1/unit/kubelet_2eservice" {
		t.Error(got)
	}
}
