package intake

import (
	"math"
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/compare"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// Of a trial its counted rounds do not stand beside the timed ones, dropped ones
// nowhere, and a pair without one of its arms is none.
func TestRoundsOf(t *testing.T) {
	round := func(pair int, arm string, counted bool, dropped string, cpu, calls float64) experiment.Round {
		r := experiment.Round{Pair: pair, Arm: arm, Count: counted, Dropped: dropped, Sample: experiment.Sample{Values: armValues{}}}
		for m, v := range map[diagnosis.Metric]float64{diagnosis.CPUPerOp: cpu, diagnosis.Syscalls: calls} {
			if v > 0 {
				r.Values[m] = v
			}
		}
		return r
	}
	tr := &experiment.Trial{Primary: diagnosis.CPUPerOp, Effects: []experiment.Effect{{Metric: diagnosis.CPUPerOp, Ratio: 0.5}, {Metric: diagnosis.Syscalls, Exact: true}},
		About: experiment.About{A: experiment.Arm{Command: []string{"/x/old/srv", "-n", "1 2"}, Env: []string{"GOGC=50"}}, B: experiment.Arm{Command: []string{"/y/srv"}}, Load: "vegeta",
			Diagnosed: true, Gone: []experiment.Claim{{Rule: "leak", Title: "A leak"}}, Came: []experiment.Claim{{Rule: "spin"}}},
		Rounds: []experiment.Round{
			round(0, "A", true, "", 9, 9), round(0, "B", true, "", 9, 9),
			round(2, "B", false, "", 3, 0), round(2, "A", false, "", 4, 0),
			round(1, "A", false, "", 1, 0), round(1, "B", false, "", 2, 0),
			round(3, "A", false, "busy", 7, 0), round(3, "B", false, "", 7, 0),
			round(1, "A", true, "", 8, 5), round(1, "B", true, "", 8, 6),
		}}
	r := roundsOf("t.json", tr)
	if got := r.Pairs[diagnosis.CPUPerOp]; !slices.Equal(got, [][2]float64{{4, 3}, {1, 2}}) {
		t.Errorf("timed: %v", got)
	}
	if got := r.Pairs[diagnosis.Syscalls]; !slices.Equal(got, [][2]float64{{5, 6}}) {
		t.Errorf("counted: %v", got)
	}
	if want := "GOGC=50 srv -n '1 2' against srv, load vegeta"; r.Subject != want {
		t.Errorf("%s, want %s", r.Subject, want)
	}
	if want := []compare.Claim{{Rule: "leak", Title: "A leak", State: compare.Gone}, {Rule: "spin", State: compare.New}}; !slices.Equal(r.Claims, want) || !r.Diagnosed || !r.Found[diagnosis.Syscalls].Exact {
		t.Errorf("claims %+v, diagnosed %v, system calls exact %v, want %+v, true, true",
			r.Claims, r.Diagnosed, r.Found[diagnosis.Syscalls].Exact, want)
	}
}

func TestSavedOf(t *testing.T) {
	tuned := &experiment.Tuned{Command: []string{"/x/srv", "{n}"}, Curves: []experiment.Curve{{
		Knob: experiment.Knob{Name: "n", Bytes: true}, Goal: experiment.Goal{Metric: diagnosis.OpsPerSec, Max: true}, Others: experiment.Setting{"b": 2, "a": 0.5}, Chosen: 1,
		Points: []experiment.Point{
			{Value: 1, Ratio: 1.2, Goal: experiment.Interval{Value: 8, Low: math.Inf(-1), High: 9}, Kept: true},
			{Value: 2, Ratio: 1, Goal: experiment.Interval{Value: 9, Low: 8, High: math.Inf(1)}},
			{Value: 4, Failed: "it crashed"},
		}}, {Knob: experiment.Knob{Name: "m"}, Chosen: -1}}}
	s := savedOf("tuned.json", tuned).Search
	l := s.Lines[0]
	value := func(p *float64) any {
		if p == nil {
			return nil
		}
		return *p
	}
	if s.Subject != "srv {n}" || l.Others != "a=0.5 b=2" || !l.More || !l.Bytes || len(l.Points) != 3 {
		t.Errorf("%q, others %q, more %v, bytes %v, %d points, want srv {n}, a=0.5 b=2, true, true, 3",
			s.Subject, l.Others, l.More, l.Bytes, len(l.Points))
	}
	if value(l.Chosen) != 2.0 || s.Lines[1].Chosen != nil {
		t.Errorf("chosen %v, then %v, want 2, then nil", value(l.Chosen), value(s.Lines[1].Chosen))
	}
	if p := l.Points; *p[0].Goal != 8 || p[0].Low != nil || *p[0].High != 9 || *p[0].ToBest != 1.2 || p[1].High != nil || p[2].Goal != nil || p[2].Failed == "" {
		t.Errorf("goal %v in %v to %v, by the best %v, then up to %v, then goal %v, failed %q, "+
			"want 8 in nil to 9, 1.2, nil, nil, a reason",
			value(p[0].Goal), value(p[0].Low), value(p[0].High), value(p[0].ToBest), value(p[1].High), value(p[2].Goal),
			p[2].Failed)
	}
	c := savedOf("c.json", &experiment.CapacityResult{Low: 10, High: 11, Limit: experiment.ByLatency, Command: []string{"/x/srv"},
		Steps: []experiment.Step{{Offered: experiment.Offered{Rate: 10, Done: 9, P99: 5}}, {Dropped: "busy"}}}).Capacity
	if c.Subject != "srv" || c.Low != 10 || c.Limit != "latency" || len(c.Steps) != 1 || c.Steps[0].P99 != 5 || c.Table {
		t.Errorf("%q from %v on, limit %q, steps %+v, table %v, want srv, 10, latency, one with P99 5, false",
			c.Subject, c.Low, c.Limit, c.Steps, c.Table)
	}
	table := savedOf("t.json", &experiment.CapacityTable{Axes: []string{"processes", "conns"}, Cells: []experiment.Cell{
		{Setting: experiment.Setting{"conns": 5, "processes": 2, "a": 1}, Rate: 7}, {Setting: experiment.Setting{"conns": 5}, Failed: "it crashed"}}}).Capacity
	if !table.Table || table.Cells[0] != (compare.Cell{Setting: "processes=2 conns=5 a=1", Rate: 7}) || !math.IsNaN(table.Cells[1].Rate) {
		t.Errorf("table %v, cells %+v, want true, 7 at processes=2 conns=5 a=1, then NaN", table.Table, table.Cells)
	}
	if s := savedOf("x", &compare.Comparison{}); s != (compare.SavedResult{}) {
		t.Errorf("savedOf() of a comparison = %+v, want nothing", s)
	}
}
