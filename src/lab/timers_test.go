package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTimerUnit(t *testing.T) {
	root := writeUnitFiles(t, map[string]string{
		"etc/systemd/system/guard.timer": "[Unit]\nConditionPathExists=/run/armed\nConditionPathExists=!/run/off\n" +
			"[Timer]\nUnit=kubelet.service\nOnUnitInactiveSec=60s\nAccuracySec=1s\n",
		"etc/systemd/system/plain.timer": "[Timer]\nOnActiveSec=5\n",
		"etc/systemd/system/empty.timer": "[Timer]\nUnit=kubelet.service\n",
	})
	guard, err := loadUnit(root, "guard.timer")
	if err != nil {
		t.Fatal(err)
	}
	if guard.timer.unit != "kubelet.service" || len(guard.timer.onUnitInactive) != 1 || guard.timer.onUnitInactive[0] != time.Minute {
		t.Errorf("%+v", guard.timer)
	}
	if guard.conditionsHold(root) {
		t.Error("conditions hold without /run/armed")
	}
	if err := os.MkdirAll(filepath.Join(root, "run/armed"), 0o755); err != nil {
		t.Fatal(err)
	}
	if !guard.conditionsHold(root) {
		t.Error("conditions do not hold with /run/armed")
	}
	if err := os.Mkdir(filepath.Join(root, "run/off"), 0o755); err != nil {
		t.Fatal(err)
	}
	if guard.conditionsHold(root) {
		t.Error("conditions hold with /run/off")
	}
	plain, err := loadUnit(root, "plain.timer")
	if err != nil || plain.timer.unit != "plain.service" {
		t.Errorf("%+v, %v", plain, err)
	}
	if _, err := loadUnit(root, "empty.timer"); err == nil {
		t.Error("a timer without a time is loaded")
	}
}

func TestWhenATimerElapses(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(1_000_000, 0).Add(time.Duration(seconds) * time.Second) }
	never := time.Time{}
	both := timerFile{onActive: []time.Duration{10 * time.Second}, onUnitInactive: []time.Duration{60 * time.Second}}
	inactive := timerFile{onUnitInactive: both.onUnitInactive}
	for name, c := range map[string]struct {
		timer                 timerFile
		fired, inactive, want time.Time
	}{
		"unit active":                          {inactive, never, never, never},
		"unit stopped":                         {inactive, never, at(5), at(65)},
		"stopped before the timer was started": {inactive, never, at(-100), at(-40)},
		"still stopped after a try":            {inactive, at(65), at(5), at(125)},
		"stopped again after a try":            {inactive, at(65), at(70), at(130)},
		"OnActiveSec first":                    {both, never, never, at(10)},
		"OnActiveSec once":                     {both, at(10), never, never},
		"the earlier of two":                   {both, never, at(-55), at(5)},
	} {
		if got := c.timer.next(at(0), c.fired, c.inactive); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestStartLimit(t *testing.T) {
	u := &unit{def: &unitFile{startLimitInterval: 10 * time.Second, startLimitBurst: 2}}
	begin := time.Unix(1_000_000, 0)
	for i, want := range []bool{true, true, false, false} {
		if got := u.mayStart(begin.Add(time.Duration(i) * time.Second)); got != want {
			t.Errorf("start %d: %v", i, got)
		}
	}
	u.resetFailed()
	if !u.mayStart(begin.Add(5 * time.Second)) {
		t.Error("not after reset-failed")
	}
	if !u.mayStart(begin.Add(20*time.Second)) || !u.mayStart(begin.Add(21*time.Second)) {
		t.Error("not in the next interval")
	}
	u.def.startLimitInterval = 0
	for range 10 {
		if !u.mayStart(begin) {
			t.Fatal("limited without a limit")
		}
	}
}
