package record

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// wallProgram builds the program that says how long it slept.
func wallProgram(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe := filepath.Join(t.TempDir(), "wall")
	if out, err := exec.Command("go", "build", "-o", exe, "./testdata/wall").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return exe
}

// sleptPart returns which part of the time of main's goroutines they sleep, by a profile.
func sleptPart(m *model.Model) float64 {
	var slept, all float64
	_, nanos := m.Wall.Columns()
	for i := range m.Wall.Samples {
		s := &m.Wall.Samples[i]
		frames := m.Stacks.Frames(s.Stack)
		if len(frames) == 0 || !strings.HasPrefix(frames[len(frames)-1].Func, "main.main.func") {
			continue
		}
		all += s.Value(nanos)
		if slices.ContainsFunc(frames, func(f model.Frame) bool { return f.Func == "main.sleeps" }) {
			slept += s.Value(nanos)
		}
	}
	return slept / all
}

// TestWall records where the goroutines of a program are that cannot be asked, to its end.
func TestWall(t *testing.T) {
	exe := wallProgram(t)
	err := attempt.Repeat(t, func() error {
		var said bytes.Buffer
		out := filepath.Join(t.TempDir(), "run.gowhy")
		if _, err := Run(t.Context(), Target{Command: []string{exe, "2500ms"}}, Options{Out: out, Stdout: &said, Only: []string{"wall"}}); err != nil {
			return err
		}
		m := load(t, evidence.Options{}, out)
		if !m.Has(model.Wall) || m.Has(model.GoroutineProfile) || m.Has(model.LiveHeap) {
			return fmt.Errorf("%+v, want a wall-clock profile alone", m.Run.Coverage)
		}
		want, err := strconv.ParseFloat(strings.TrimSpace(said.String()), 64)
		if err != nil {
			return err
		}
		got := sleptPart(m)
		t.Logf("slept %.3f of the time, by the program %.3f, in %v", got, want, m.Wall.Duration)
		if math.IsNaN(got) || math.Abs(got-want) > 0.1 || m.Wall.Duration.Seconds() < 1 {
			return fmt.Errorf("slept %.3f of the time in %v, want %.3f within 0.1 and more than a second", got, m.Wall.Duration, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWallSources holds that who does not want it, or whose program answers, has none.
func TestWallSources(t *testing.T) {
	exe := wallProgram(t)
	for name, c := range map[string]struct {
		options Options
		want    bool
	}{
		"all":          {Options{}, true},
		"without":      {Options{Without: []string{"wall"}}, false},
		"only another": {Options{Only: []string{"goroutine"}}, false},
		"redacted":     {Options{Redact: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.options.Out = filepath.Join(t.TempDir(), "run.gowhy")
			res, err := Run(t.Context(), Target{Command: []string{exe, "1s"}}, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if has := slices.ContainsFunc(res.Members, func(m recording.Member) bool { return m.Name == recording.WallMember }); has != c.want {
				t.Fatalf("Run() = %+v, want a wall-clock profile: %v", res.Members, c.want)
			}
			if !c.want {
				return
			}
			for _, s := range load(t, evidence.Options{}, c.options.Out).Wall.Samples {
				if (s.Labels["state"] == "") != c.options.Redact {
					t.Fatalf("labels are %v, want the state unless they are left out", s.Labels)
				}
			}
		})
	}
}
