package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/gowhy/gowhy/lab/internal/casetest"
)

// calm is the story's load for a third of a second, with deadlines that pass
// meanwhile: timers cost when they fire.
var calm = []string{"-messages", "5000", "-timeout", "100ms"}

func flags(more ...string) []string { return append(calm[:len(calm):len(calm)], more...) }

// TestOrder asks for each cure of the story, in its order, whether it is one.
// The goroutine pool is not.
func TestOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program some hundred times")
	}
	program, gowhy := casetest.Build(t), casetest.BuildGowhy(t)
	for _, step := range []struct {
		name       string
		was, is    []string
		conclusion string
	}{
		{"cancel", flags("-procs", "8"), flags("-procs", "8", "-cancel"), "confirmed"},
		{"fewer Ps", flags("-cancel", "-procs", "8"), flags("-cancel", "-procs", "1"), "confirmed"},
		{"pool", flags("-cancel", "-procs", "2"), flags("-cancel", "-procs", "2", "-pool", "1000"), "rejected"},
	} {
		t.Run(step.name, func(t *testing.T) {
			// Neither a gain nor a loss of less than a tenth is of interest. On a
			// busy machine a trial may not be able to tell, and is asked for more.
			for _, pairs := range []string{"40", "80"} {
				trial := gowhy.Verify(t, program.Command(step.was...), program.Command(step.is...),
					"--primary", "cpu/op", "--ops", "5000", "--no-count", "--margin", "10%", "--pairs", pairs)
				t.Logf("%s after %d pairs: %s", trial.Conclusion, trial.Pairs, trial.Why)
				if trial.Conclusion == step.conclusion {
					return
				}
				if trial.Conclusion != "undecided" {
					break
				}
			}
			t.Errorf("not %s", step.conclusion)
		})
	}
}

// TestTimers: the first illness is named, and gone when it is healed.
func TestTimers(t *testing.T) {
	program, gowhy := casetest.Build(t), casetest.BuildGowhy(t)
	record := func(more ...string) []string {
		trace, mem := filepath.Join(t.TempDir(), "trace.out"), filepath.Join(t.TempDir(), "allocs.pb.gz")
		program.Run(t, flags(append(more, "-messages", "20000", "-trace", trace, "-memprofile", mem)...)...)
		return []string{trace, mem}
	}
	f := gowhy.Diagnose(t, record()...).Find("leakedtimers")
	if f == nil {
		t.Fatal("not found")
	}
	if !f.PointsAt(casetest.Wants(t, "main.go", "leakedtimers")) {
		t.Errorf("points at %v", f.Where)
	}
	if d := gowhy.Diagnose(t, record("-cancel")...); d.Find("leakedtimers") != nil {
		t.Error("found in the healed program")
	}
}

// Whatever the flags, every message reaches every plugin once, and the plugins
// see the same.
func TestSameResults(t *testing.T) {
	var first results
	for i, c := range []consumer{
		{messages: 3000, timeout: time.Second},
		{messages: 3000, timeout: time.Second, cancel: true},
		{messages: 3000, timeout: time.Second, cancel: true, pool: 7},
		{messages: 3000, timeout: time.Second, rate: 20_000},
	} {
		got, err := c.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = got
		}
		if got != first || got.counted != 3000 || got.passed == 0 {
			t.Errorf("%+v: %+v, want %+v", c, got, first)
		}
	}
}

// A broker that delivers nothing lets the read end with its deadline.
func TestDeadline(t *testing.T) {
	c := consumer{timeout: time.Millisecond}
	if _, err := c.read(t.Context(), &broker{}); err != context.DeadlineExceeded {
		t.Errorf("%v", err)
	}
}
