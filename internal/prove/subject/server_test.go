package subject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A server that is not ready yet does not stay when nobody wants it any more, or
// when it takes too long.
func TestStartGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Spec)
		limit  time.Duration
		want   string
	}{
		"cancelled": {func(s *Spec) { s.Ready = "log:never printed" }, 150 * time.Millisecond, ""},
		"too late":  {func(s *Spec) { s.Ready, s.Startup = "log:never printed", 150*time.Millisecond }, time.Minute, "did not print"},
		"no server": {func(s *Spec) { s.Program.Command = []string{"true"} }, time.Minute, "ended before it was ready"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := server(t, 0, "/work")
			spec.Load = nil
			address := spec.Program.Command[2]
			c.change(&spec)
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			defer cancel()
			held, err := subjectOf(t, spec).Start(ctx)
			switch {
			case held != nil:
				t.Error("it is said to be ready")
			case c.want != "":
				checkProblem(t, err, c.want)
			case !errors.Is(err, context.DeadlineExceeded):
				t.Errorf("error %v", err)
			}
			noneLeft(t, address)
		})
	}
}

// A watch goes on when a server ends under it, and without any.
func TestWatch(t *testing.T) {
	spec := server(t, 0, "/work")
	spec.Load = nil
	held, err := subjectOf(t, spec).Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Stop()
	alone, over := Begin(nil), Begin([]*Server{held})
	held.Stop()
	held.Stop() // twice is once
	for _, c := range []struct {
		name  string
		watch *Watch
	}{{"alone", alone}, {"over a server", over}} {
		time.Sleep(20 * time.Millisecond) // two ticks of the machine's counters
		if c2 := c.watch.End(); c2.Others < 0 || c2.Others > 1 || c2.Steal < 0 || c2.Steal > 1 {
			t.Errorf("%s: others %v, steal %v, want 0 to 1", c.name, c2.Others, c2.Steal)
		}
	}
	if open := openSelf(t); len(open) > 0 {
		t.Errorf("still open: %q", open)
	}
}

// openSelf returns the files in /proc that this process has open.
func openSelf(t *testing.T) (list []string) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, f := range files {
		to, _ := os.Readlink("/proc/self/fd/" + f.Name())
		if strings.HasPrefix(to, "/proc/") && !strings.HasSuffix(to, "/fd") {
			list = append(list, to)
		}
	}
	return list
}

// The time of a start is told to about a hundredth, however long it takes.
func TestAskPause(t *testing.T) {
	for _, c := range []struct{ since, want time.Duration }{
		{0, askLeast}, {50 * time.Millisecond, askLeast}, {time.Second, 10 * time.Millisecond}, {time.Minute, askMost},
	} {
		if got := askPause(c.since); got != c.want {
			t.Errorf("after %v: %v, want %v", c.since, got, c.want)
		}
	}
}

// A load that another program answers says nothing of the one that was started.
func TestLoadGoesElsewhere(t *testing.T) {
	spec, other := server(t, 200, "/work"), freePort(t)
	background(t, "-listen", other)
	spec.Ready = "log:listening at "
	spec.Load[2] = "http://" + other + "/work"
	// Only a program that used no CPU at all is surely not the one that was asked, and one that a
	// busy machine stopped right behind its line has some to use.
	err := attempt.Repeat(t, func() error {
		_, err := subjectOf(t, spec).Run(t.Context())
		if err == nil {
			return errors.New("no error")
		}
		checkProblem(t, err, "the load goes to another program")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What a program leaves running out of its group's reach is told.
func TestLeavesBehind(t *testing.T) {
	apart := filepath.Join(t.TempDir(), "apart") // is there once it is out of reach
	script := fmt.Sprintf("setsid sh -c 'touch %s; exec sleep 20' & until [ -e %s ]; do sleep 0.02; done", apart, apart)
	s := subjectOf(t, Spec{Program: Program{Command: []string{"sh", "-c", script}}})
	sample := sampleOf(t, s)
	if len(sample.Warnings) != 1 || !strings.Contains(sample.Warnings[0], "left processes running") {
		t.Errorf("warnings %q", sample.Warnings)
	}
	if sample.Elapsed > 10*time.Second {
		t.Errorf("it took %v to end: what was left running was waited for", sample.Elapsed)
	}
}
