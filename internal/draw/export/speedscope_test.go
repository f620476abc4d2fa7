package export

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A scopeFile is what a reader of the format sees. The goldens are also held to
// speedscope's schema and opened by its own code: ui/e2e/exports.mjs.
type scopeFile struct {
	Schema   string `json:"$schema"`
	Shared   struct{ Frames []struct{ Name string } }
	Active   int `json:"activeProfileIndex"`
	Profiles []struct {
		Type, Name, Unit     string
		StartValue, EndValue int64
		Samples              [][]int
		Weights              []int64
		Events               []struct {
			Type  string
			Frame int
			At    int64
		}
	}
}

func scopeOf(t *testing.T, m *model.Model, o Options) (f scopeFile) {
	t.Helper()
	data := write(t, "speedscope", m, o)
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatalf("speedscope: %v, want JSON:\n%s", err, data)
	}
	return f
}

// The sums of the profiles are those of the model, and events take turns.
func TestSpeedscopeShape(t *testing.T) {
	m := example()
	f := scopeOf(t, m, Options{Slices: exampleRuns()})
	sums := map[string]int64{}
	for _, p := range f.Profiles {
		var sum int64
		if len(p.Samples) != len(p.Weights) {
			t.Errorf("%s: %d samples, want as many as weights: %d", p.Name, len(p.Samples), len(p.Weights))
		}
		for i, w := range p.Weights {
			sum += w
			if len(p.Samples[i]) == 0 {
				t.Errorf("%s: sample %d has no frame", p.Name, i)
			}
			for _, frame := range p.Samples[i] {
				if frame < 0 || frame >= len(f.Shared.Frames) {
					t.Fatalf("%s: no frame %d", p.Name, frame)
				}
			}
		}
		var open []int
		last := p.StartValue
		for _, e := range p.Events {
			if e.At < last || e.At > p.EndValue {
				t.Errorf("%s: an event at %d after one at %d", p.Name, e.At, last)
			}
			last = e.At
			if e.Type == "O" {
				open = append(open, e.Frame)
				continue
			}
			if len(open) == 0 || open[len(open)-1] != e.Frame {
				t.Fatalf("%s: %v is closed while %v are open, want the last of them", p.Name, e, open)
			}
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			t.Errorf("%s: %v stay open, want all closed", p.Name, open)
		}
		if p.Type == "sampled" && sum != p.EndValue {
			t.Errorf("%s: weights of %d, want %d, where it ends", p.Name, sum, p.EndValue)
		}
		sums[p.Name] = p.EndValue
	}
	total := m.Sched.Total()
	for name, want := range map[string]int64{"states": int64(total.Total()), "cpu": 40e6, "sync": int64(time.Second), "allocs": 14, "P 0": 5e6 + 7, "P 1": 4e6} {
		if sums[name] != want {
			t.Errorf("%s ends at %d, want %d", name, sums[name], want)
		}
	}
}

// A viewer that holds all of a file in memory is not given a long trace whole,
// and what it is given says so.
func TestSpeedscopeIsBounded(t *testing.T) {
	m := &model.Model{Sched: &model.Sched{}}
	asked := 0
	f := scopeOf(t, m, Options{Slices: func(yield func(Slice) bool) {
		for i := range 10 * maxStretches {
			asked++
			if !yield(Slice{Proc: i % 2, Group: "main.run", Begin: time.Duration(i), End: time.Duration(i + 1)}) {
				return
			}
		}
	}})
	if asked > maxStretches+1 {
		t.Errorf("%d runs were read, want at most %d", asked, maxStretches+1)
	}
	last := f.Profiles[len(f.Profiles)-1]
	if len(last.Events) != maxStretches || !strings.Contains(last.Name, "first 100000 stretches") {
		t.Errorf("%s has %d events, want %d and a name that says so", last.Name, len(last.Events), maxStretches)
	}
}
