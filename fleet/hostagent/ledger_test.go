package hostagent

import (
	"testing"
	"time"
)

// TestLedger holds what of a host, a program and a day recordings may take.
func TestLedger(t *testing.T) {
	const mib = 1 << 20
	busy := &recordable{process: process{1, 1}, service: "shop", version: "v1", cores: 1, cpu: time.Hour}
	idle := &recordable{process: process{2, 1}, service: "cron", cores: 0.0001, cpu: 500 * time.Millisecond}
	cheap := cost{host: 100 * time.Millisecond, program: 10 * time.Millisecond, bytes: mib}
	for _, c := range []struct {
		name string
		do   func(l *ledger, now func(after time.Duration) time.Time)
		want string // of the host
		busy bool   // may be recorded
		idle bool
	}{
		{"at the begin", func(*ledger, func(time.Duration) time.Time) {}, overPause, true, false},
		{"after the pause", func(l *ledger, now func(time.Duration) time.Time) { now(leastPause) }, "", true, false},
		{"a small host saves for it", func(l *ledger, now func(time.Duration) time.Time) { l.rate /= 2; now(leastPause) }, overHost, true, false},
		{"and has it later", func(l *ledger, now func(time.Duration) time.Time) { l.rate /= 2; now(2 * leastPause) }, "", true, false},
		{"a recording that was dear", func(l *ledger, now func(time.Duration) time.Time) {
			l.took(now(time.Hour), busy, cost{host: 30 * time.Second, bytes: mib}, time.Second)
			now(leastPause)
		}, overHost, true, false},
		{"is saved for again", func(l *ledger, now func(time.Duration) time.Time) {
			l.took(now(time.Hour), busy, cost{host: 30 * time.Second, bytes: mib}, time.Second)
			now(4 * time.Hour) // 12 s of debt, and 18 s are the most that is saved
		}, "", true, false},
		{"just after one", func(l *ledger, now func(time.Duration) time.Time) {
			l.took(now(time.Hour), busy, cheap, 5*time.Second)
			now(leastPause - 1)
		}, overPause, true, false},
		{"a program that suffered", func(l *ledger, now func(time.Duration) time.Time) {
			l.took(now(time.Hour), busy, cost{host: 1, program: 40 * time.Second, bytes: mib}, 5*time.Second)
			now(time.Hour)
		}, "", false, false},
		{"and ran on", func(l *ledger, now func(time.Duration) time.Time) {
			l.took(now(time.Hour), busy, cost{host: 1, program: 40 * time.Second, bytes: mib}, 5*time.Second)
			busy.cpu = 2 * time.Hour
			now(time.Hour)
		}, "", true, false},
		{"a day's bytes", func(l *ledger, now func(time.Duration) time.Time) {
			for range 3 {
				l.took(now(time.Hour), busy, cost{host: 1, bytes: 30 * mib}, 0)
			}
			now(time.Hour)
		}, overBytes, true, false},
		{"a day later", func(l *ledger, now func(time.Duration) time.Time) {
			for range 3 {
				l.took(now(time.Hour), busy, cost{host: 1, bytes: 30 * mib}, 0)
			}
			now(day - 2*time.Hour)
		}, "", true, false},
		{"one that failed teaches nothing", func(l *ledger, now func(time.Duration) time.Time) {
			l.took(now(time.Hour), busy, cost{host: time.Millisecond}, 0)
			now(leastPause)
		}, "", true, false},
		{"programs that ended", func(l *ledger, now func(time.Duration) time.Time) {
			l.took(now(time.Hour), busy, cost{host: 1, program: time.Hour, bytes: mib}, 5*time.Second)
			l.keep(nil)
			now(time.Hour)
		}, "", true, false},
		{"an idle program that ran for long", func(l *ledger, now func(time.Duration) time.Time) { idle.cpu = 5 * time.Second; now(time.Hour) }, "", true, true},
	} {
		busy.cpu, idle.cpu = time.Hour, 500*time.Millisecond
		clock := noon
		l := newLedger(&Options{Budget: 0.005, RecordingShare: 0.01, RecordingBytes: 100 * mib}, 2, clock)
		c.do(l, func(after time.Duration) time.Time {
			clock = clock.Add(after)
			l.host(clock) // as it is asked again and again
			return clock
		})
		if got := l.host(clock); got != c.want {
			t.Errorf("%s: the host: %q, want %q", c.name, got, c.want)
		}
		for p, want := range map[*recordable]bool{busy: c.busy, idle: c.idle} {
			if got := l.program(p, usualLength); got != want {
				t.Errorf("%s: %s may be recorded: %v, want %v", c.name, p.service, got, want)
			}
		}
	}
}
