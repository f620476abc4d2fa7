package record

import (
	"bytes"
	"fmt"
	"math"
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

// wallProgram returns the program that says how long it slept.
func wallProgram(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe, err := buildWall()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// sleptPart returns which part of the time of main's goroutines they sleep, by a profile, and how
// often one of them was seen.
func sleptPart(m *model.Model) (part, seen float64) {
	var slept, all float64
	count, nanos := m.Wall.Columns()
	for i := range m.Wall.Samples {
		s := &m.Wall.Samples[i]
		frames := m.Stacks.Frames(s.Stack)
		if len(frames) == 0 || !strings.HasPrefix(frames[len(frames)-1].Func, "main.main.func") {
			continue
		}
		all += s.Value(nanos)
		seen += s.Value(count)
		if slices.ContainsFunc(frames, func(f model.Frame) bool { return f.Func == "main.sleeps" }) {
			slept += s.Value(nanos)
		}
	}
	return slept / all, seen
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
		got, seen := sleptPart(m)
		t.Logf("slept %.3f of the time, by the program %.3f, in %v", got, want, m.Wall.Duration)
		// Four times what chance makes of a share: on a busy machine they are seen more seldom.
		within := max(0.1, 4*math.Sqrt(want*(1-want)/seen))
		if math.IsNaN(got) || math.Abs(got-want) > within || m.Wall.Duration.Seconds() < 1 {
			return fmt.Errorf("slept %.3f of the time in %v, want %.3f within %.2f and more than a second", got, m.Wall.Duration, want, within)
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
		lives   string // long enough for two looks where there is a profile, on a busy machine too
		want    bool
	}{
		"all":          {Options{}, "3s", true},
		"without":      {Options{Without: []string{"wall"}}, "1s", false},
		"only another": {Options{Only: []string{"goroutine"}}, "1s", false},
		"redacted":     {Options{Redact: true}, "3s", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.options.Out = filepath.Join(t.TempDir(), "run.gowhy")
			res, err := Run(t.Context(), Target{Command: []string{exe, c.lives}}, c.options)
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
