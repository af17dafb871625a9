package main

import (
	"log"
	"time"
)

// tickEvery is how exact a timer is.
const tickEvery = 50 * time.Millisecond

// tick is the life of a timer: it starts its unit, which does nothing when that is active.
func (u *unit) tick(run *activation) {
	defer close(run.done)
	started, fired := time.Now(), time.Time{}
	u.setState("active", "waiting")
	run.up <- nil
	for {
		select {
		case <-run.stop:
			u.setState("inactive", "dead")
			u.mu.Lock()
			u.run = nil
			u.mu.Unlock()
			return
		case <-time.After(tickEvery):
		}
		u.mu.Lock()
		def := *u.def.timer
		u.mu.Unlock()
		target, err := u.manager.get(def.unit)
		if err != nil {
			log.Printf("%s: %v", u.name, err)
			continue
		}
		next := def.next(started, fired, target.inactiveSince())
		if next.IsZero() {
			u.setState("active", "elapsed")
			continue
		}
		u.setState("active", "waiting")
		if time.Now().Before(next) {
			continue
		}
		log.Printf("%s: starts %s", u.name, def.unit)
		fired = time.Now()
		if err := target.start(); err != nil {
			log.Printf("%s: %v", u.name, err)
		}
	}
}

// next is when the timer elapses; zero when nothing is to come. The times are those of timer_enter_waiting in
// systemd: OnActiveSec= counts once, OnUnitInactiveSec= from the unit's last deactivation or the timer's last try.
func (t timerFile) next(started, fired, inactive time.Time) time.Time {
	var next time.Time
	earlier := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for _, d := range t.onActive {
		if at := started.Add(d); fired.Before(at) {
			earlier(at)
		}
	}
	if !inactive.IsZero() {
		base := inactive
		if fired.After(base) {
			base = fired
		}
		for _, d := range t.onUnitInactive {
			earlier(base.Add(d))
		}
	}
	return next
}

// inactiveSince is when the unit was last deactivated; zero while it is active and when it never was.
func (u *unit) inactiveSince() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.active != "inactive" && u.active != "failed" {
		return time.Time{}
	}
	return u.inactive
}
