package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func writeUnitFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func load(t *testing.T, files map[string]string) (*unitFile, string) {
	t.Helper()
	root := writeUnitFiles(t, files)
	u, err := loadUnit(root, "kubelet.service")
	if err != nil {
		t.Fatal(err)
	}
	return u, root
}

func TestKubeadmUnit(t *testing.T) {
	u, root := load(t, map[string]string{
		"etc/systemd/system/kubelet.service":                   kubeletUnit,
		"etc/systemd/system/kubelet.service.d/10-kubeadm.conf": kubeletDropIn,
		"var/lib/kubelet/kubeadm-flags.env":                    "KUBELET_KUBEADM_ARGS=\"--node-ip=10.0.0.1 --v=2\"\n",
		"etc/default/kubelet":                                  "# a comment\nKUBELET_EXTRA_ARGS=--config-dir=/etc/kubernetes/kubelet.conf.d\n",
	})
	if u.restart != "always" || u.restartSec != time.Second || len(u.execStart) != 1 {
		t.Fatalf("restart %s after %s, %d commands", u.restart, u.restartSec, len(u.execStart))
	}
	env, err := u.environ(root)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(u.execStart[0].expand(env), " ")
	want := "/usr/bin/kubelet --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml --node-ip=10.0.0.1 --v=2 --config-dir=/etc/kubernetes/kubelet.conf.d"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDropInsApplyByNameAndStrongerDirectoriesHideWeaker(t *testing.T) {
	u, _ := load(t, map[string]string{
		"usr/lib/systemd/system/kubelet.service":                "[Service]\nExecStart=/bin/weak\n",
		"etc/systemd/system/kubelet.service":                    "[Service]\nExecStart=/bin/strong\nRestart=no\n",
		"usr/lib/systemd/system/kubelet.service.d/50-a.conf":    "[Service]\nExecStart=\nExecStart=/bin/hidden\n",
		"etc/systemd/system/kubelet.service.d/50-a.conf":        "[Service]\nRestart=on-failure\n",
		"etc/systemd/system/kubelet.service.d/60-b.conf":        "[Service]\nRestart=always\n",
		"etc/systemd/system/kubelet.service.d/70-ignored.conf~": "[Service]\nRestart=no\n",
	})
	if u.execStart[0].argv[0] != "/bin/strong" || u.restart != "always" || len(u.dropIns) != 2 {
		t.Errorf("ExecStart %v, Restart %s, drop-ins %v", u.execStart, u.restart, u.dropIns)
	}
}

func TestExecStartPre(t *testing.T) {
	u, _ := load(t, map[string]string{"etc/systemd/system/kubelet.service": `[Service]
ExecStartPre=-/bin/sh -c 'test -e "/a b" && \
  # not a comment's end
  echo $$HOME ${WHO}%%'
ExecStartPre=/bin/true
ExecStart=/bin/true
RestartSec=1min 500ms
`})
	if len(u.execStartPre) != 2 || !u.execStartPre[0].ignoreFailure || u.execStartPre[1].ignoreFailure {
		t.Fatalf("%+v", u.execStartPre)
	}
	got := u.execStartPre[0].expand(map[string]string{"WHO": "me"})
	want := []string{"/bin/sh", "-c", `test -e "/a b" &&  echo $HOME me%`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if u.restartSec != 60500*time.Millisecond {
		t.Errorf("RestartSec %s", u.restartSec)
	}
}

func TestExpandKnowsSystemdsThreeForms(t *testing.T) {
	env := map[string]string{"ARGS": "--a --b=c d", "ONE": "x y"}
	for word, want := range map[string][]string{
		"$ARGS": {"--a", "--b=c", "d"}, "${ONE}": {"x y"}, "pre${ONE}": {"prex y"}, "$NONE": nil, "$$ARGS": {"$ARGS"}, "a$ARGS": {"a$ARGS"},
	} {
		got := execLine{argv: []string{"/bin/x", word}}.expand(env)[1:]
		if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
}

func TestEnvironmentFileMayBeMissingWithDash(t *testing.T) {
	u, root := load(t, map[string]string{"etc/systemd/system/kubelet.service": "[Service]\nEnvironment=A=1 \"B=two words\"\nEnvironmentFile=-/none\nExecStart=/bin/true\n"})
	env, err := u.environ(root)
	if err != nil || env["A"] != "1" || env["B"] != "two words" {
		t.Errorf("%v %v", env, err)
	}
	u.environmentFiles = []string{"/none"}
	if _, err := u.environ(root); err == nil {
		t.Error("a missing EnvironmentFile without dash must be an error")
	}
}

func TestUnitWithoutExecStartIsRefused(t *testing.T) {
	root := writeUnitFiles(t, map[string]string{"etc/systemd/system/kubelet.service": "[Service]\nExecStart=/bin/true\nExecStart=\n"})
	if _, err := loadUnit(root, "kubelet.service"); err == nil {
		t.Error("want an error")
	}
	if u, err := loadUnit(root, "other.service"); u != nil || err != nil {
		t.Errorf("a unit without file: %v %v", u, err)
	}
}

func TestStampSeesNewDropIn(t *testing.T) {
	u, root := load(t, map[string]string{"etc/systemd/system/kubelet.service": "[Service]\nExecStart=/bin/true\n"})
	dir := filepath.Join(root, "etc/systemd/system/kubelet.service.d")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/20-x.conf", []byte("[Service]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if fragment, dropIns := findUnit(root, "kubelet.service"); unitStamp(fragment, dropIns) == u.stamp {
		t.Error("the stamp did not change")
	}
}

func TestUnitTimeSpans(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"7":        7 * time.Second,
		"1min 5s":  65 * time.Second,
		"infinity": 365 * 24 * time.Hour,
		"":         90 * time.Second, // a drop-in that resets it
	} {
		u, _ := load(t, map[string]string{
			"etc/systemd/system/kubelet.service":             "[Service]\nExecStart=/bin/k\nTimeoutStopSec=3\n",
			"etc/systemd/system/kubelet.service.d/10-x.conf": "[Service]\nTimeoutStopSec=" + value + "\n",
		})
		if u.timeoutStop != want {
			t.Errorf("%q is %s, want %s", value, u.timeoutStop, want)
		}
	}
}
