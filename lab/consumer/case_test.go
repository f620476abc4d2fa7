package main

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/attempt"
	"github.com/gowhy/gowhy/lab/internal/casetest"
)

// calm is the story's load for a third of a second, with deadlines that pass
// meanwhile: timers cost when they fire.
var calm = []string{"-messages", "5000", "-timeout", "100ms"}

func flags(more ...string) []string { return append(calm[:len(calm):len(calm)], more...) }

// TestOrder asks for each cure of the story, in its order, whether it is one.
// The goroutine pool is not.
func TestOrder(t *testing.T) {
	attempt.Only(t, "measures the program some hundred times")
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

// Whatever the flags, every message reaches every plugin once, and the plugins
// see the same.
func TestSameResults(t *testing.T) {
	var first results
	for i, c := range []consumer{
		{messages: 3000, timeout: time.Second},
		{messages: 3000, timeout: time.Second, cancel: every{share: 1}},
		{messages: 3000, timeout: time.Second, cancel: every{share: 1}, pool: 7},
		{messages: 3000, timeout: time.Second, cancel: every{share: 0.3}},
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
			t.Errorf("read by %+v = %+v, want %+v, 3000 counted, some passed", c, got, first)
		}
	}
}

// A share of the events is spread evenly over them.
func TestEvery(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  int // of 1000
	}{{0, 0}, {0.25, 250}, {0.5, 500}, {0.75, 750}, {1, 1000}} {
		e, got := every{share: c.share}, 0
		for range 1000 {
			if e.next() {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%v of 1000 are %d, want %d", c.share, got, c.want)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []consumer{{pool: -1}, {cancel: every{share: 1.5}}, {cancel: every{share: -1}}, {cancel: every{share: math.NaN()}}} {
		if _, err := c.run(t.Context()); err == nil {
			t.Errorf("%+v is no error", c)
		}
	}
}

// A broker that delivers nothing lets the read end with its deadline.
func TestDeadline(t *testing.T) {
	c := consumer{timeout: time.Millisecond}
	if _, err := c.read(t.Context(), &broker{}); err != context.DeadlineExceeded {
		t.Errorf("read() of a mute broker: error %v, want %v", err, context.DeadlineExceeded)
	}
}
