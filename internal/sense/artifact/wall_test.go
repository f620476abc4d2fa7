package artifact

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// waiting returns a group that waits in main.f, below what parks it.
func waiting(count int, labels ...goroutines.Label) goroutines.Group {
	g := goroutines.Group{Start: symbols.Place{Func: "main.serve"}, Count: count, State: goroutines.Waiting, Reason: "select", Oldest: time.Hour,
		Stack: []symbols.Place{{Func: "runtime.gopark"}, {Func: "main.f", File: "f.go", Line: 7}, {Func: "runtime.goexit"}}}
	if labels != nil {
		g.Parts = []goroutines.Part{{Labels: labels, Count: count - 1, Oldest: time.Hour}, {Count: 1}}
	}
	return g
}

// sums returns the values of a profile by their stacks, innermost first, and labels.
func sums(p *profile.Profile) map[string][]int64 {
	all := map[string][]int64{}
	for _, s := range p.Sample {
		key := ""
		for _, l := range s.Location {
			key += l.Line[0].Function.Name + " "
		}
		for _, k := range slices.Sorted(maps.Keys(s.Label)) {
			key += k + "=" + s.Label[k][0] + " "
		}
		all[key] = s.Value
	}
	return all
}

// TestWall adds looks up, each for another time.
func TestWall(t *testing.T) {
	route := goroutines.Label{Key: "route", Value: "/orders"}
	runs := goroutines.Group{Start: symbols.Place{Func: "main.serve"}, Count: 2, State: goroutines.Running}
	runtimes := goroutines.Group{Start: symbols.Place{Func: "runtime.bgsweep"}, System: true, Count: 1}
	moved := goroutines.Group{Start: symbols.Place{Func: "main.serve"}, Count: 1, State: goroutines.Waiting, Reason: "select"}
	begun := time.Unix(7, 0)
	var w Wall
	if p := w.Profile(); p != nil {
		t.Errorf("Profile() of no looks = %v, want none", p)
	}
	w.Add(&goroutines.Snapshot{Time: begun, Groups: []goroutines.Group{waiting(3), runs, runtimes, {Count: 3}}}, 20*time.Millisecond)
	w.Add(&goroutines.Snapshot{Time: begun.Add(time.Second), Groups: []goroutines.Group{waiting(3, route), moved}}, 100*time.Millisecond)
	var packed bytes.Buffer
	if err := w.Profile().Write(&packed); err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(packed.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]int64{
		"runtime.gopark main.f state=select ":               {4, 160e6}, // 3 and 1 without labels
		"runtime.gopark main.f route=/orders state=select ": {2, 200e6},
		"main.serve state=running ":                         {2, 40e6},
		"runtime.gopark main.serve state=select ":           {1, 100e6},
	}
	if got := sums(p); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("Add() = %v, want %v", got, want)
	}
	if p.DurationNanos != 120e6 || p.Period != 60e6 || p.TimeNanos != begun.Add(-20*time.Millisecond).UnixNano() || p.PeriodType.Type != "wall" {
		t.Errorf("Profile() covers %d ns from %d in steps of %d %s, want 120 ms in steps of 60", p.DurationNanos, p.TimeNanos, p.Period, p.PeriodType.Type)
	}
}

// TestWallBounds holds that a program with a label or a stack for each request fills no memory,
// and that no time is lost by that.
func TestWallBounds(t *testing.T) {
	for name, c := range map[string]struct {
		group func(n string) goroutines.Group
		most  int
	}{
		"labels": {func(n string) goroutines.Group { return waiting(2, goroutines.Label{Key: "id", Value: n}) }, maxLabelled + 1},
		"stacks": {func(n string) goroutines.Group {
			g := waiting(2)
			g.Stack[1].Func = "main.f" + n
			return g
		}, maxWallSamples + 1},
	} {
		t.Run(name, func(t *testing.T) {
			var w Wall
			s := &goroutines.Snapshot{Time: time.Unix(7, 0)}
			for n := range maxWallSamples + 10 {
				s.Groups = append(s.Groups, c.group(strconv.Itoa(n)))
			}
			w.Add(s, time.Millisecond)
			total := int64(0)
			for _, s := range w.Profile().Sample {
				total += s.Value[0]
			}
			if n := len(w.Profile().Sample); n > c.most || total != int64(2*len(s.Groups)) {
				t.Errorf("Add() = %d samples of %d goroutines, want %d and %d", n, total, c.most, 2*len(s.Groups))
			}
		})
	}
}
