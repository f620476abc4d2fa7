package trialreport

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/prove/count"
)

func pointer(v float64) *float64 { return &v }

// someCount has a search that grows, a loop in a loop, and names that a terminal would obey.
func someCount(knob bool) *count.Report {
	r := &count.Report{Command: []string{"./app", "-n", "4000"}, CPU: 1e9, Runs: []count.Execution{{}}, Again: "gowhy count --vary -n=1000,2000,4000 -- ./app -n 4000"}
	of := func(n ...uint64) []uint64 { return n[len(n)-1:] }
	linear, square := (*count.Growth)(nil), (*count.Growth)(nil)
	if knob {
		of = func(n ...uint64) []uint64 { return n }
		r.Knob, r.Again, r.Base = "-n", "", 2
		r.Runs = []count.Execution{{Setting: "-n=1000", Size: 1000}, {Setting: "-n=2000", Size: 2000}, {Setting: "-n=4000", Size: 4000}}
		linear = &count.Growth{Exponent: 1, Low: pointer(1), High: pointer(1), R2: 1}
		square = &count.Growth{Exponent: 1.9995, Low: pointer(1.998), High: pointer(2.001), R2: 1, Faster: true}
	}
	find := count.Function{Name: "main.(*store).find", File: "/src/store.go", Line: 29, Self: 0.62, Cum: 0.62, Calls: of(1000, 2000, 4000), Growth: linear,
		Caller: &count.Place{Function: "main.fill", File: "/src/fill.go", Line: 12},
		Within: &count.InnerLoop{Place: count.Place{Function: "main.main", File: "/src/main.go", Line: 5}, Rounds: 10, Each: 400}}
	find.Pieces = []count.Piece{
		{Line: 29, Last: 36, Outer: -1, Entries: find.Calls, Rounds: find.Calls, Self: 0.01, Cum: 0.62},
		{Line: 31, Last: 34, Depth: 1, Entries: find.Calls, Rounds: of(499_500, 1_999_000, 7_998_000), Early: of(0, 0, 0), Leaves: 1, Bounded: true,
			Self: 0.61, Cum: 0.61, PerRound: pointer(3.1), Growth: square, Squares: true},
	}
	mix := count.Function{Name: "main.\x1b[31mmix", File: "/src/mix\x1b.go", Line: 5, Self: 0.3, Cum: 0.9, Calls: of(1, 1, 1)}
	mix.Pieces = []count.Piece{
		{Line: 5, Last: 20, Outer: -1, Entries: mix.Calls, Rounds: mix.Calls, Cum: 0.9},
		{Line: 6, Last: 19, Depth: 1, Entries: mix.Calls, Rounds: of(10, 20, 40), Early: of(0, 0, 0), Bounded: true, Cum: 0.9, Growth: linear},
		{Line: 8, Last: 18, Depth: 2, Outer: 1, Entries: of(10, 20, 40), Rounds: of(10_000, 40_000, 160_000), Early: of(1, 1, 1), Leaves: 2, Bounded: true, Self: 0.3, Cum: 0.3,
			Lines: []count.LineCost{{Line: 10, Runs: 400, Self: 0.29, Each: pointer(725_000)}}, Growth: square},
	}
	mix.Repeats = &count.Repeats{Calls: 40, Different: 1}
	find.Repeats = &count.Repeats{Calls: 4000, Different: 3999}
	derive := count.Function{Name: "main.derive", File: "/src/derive.go", Line: 9, Self: 0.01, Cum: 0.5, Calls: of(count.MostSeen, count.MostSeen, count.MostSeen),
		Repeats: &count.Repeats{Calls: count.MostSeen, Different: 2000}}
	derive.Pieces = []count.Piece{{Line: 9, Last: 11, Outer: -1, Entries: derive.Calls, Rounds: derive.Calls, Self: 0.01, Cum: 0.5}}
	few := count.Function{Name: "main.few", File: "/src/derive.go", Line: 20, Cum: 0.5, Calls: of(19, 19, 19), Repeats: &count.Repeats{Calls: 19, Different: 1}}
	r.Functions = []count.Function{find, mix, derive, few}
	r.Notes = []string{"the source of x.go is not what was recorded"}
	return r
}

func TestCountText(t *testing.T) {
	for name, r := range map[string]*count.Report{"count.txt": someCount(false), "count-sizes.txt": someCount(true),
		"count-nothing.txt": {Command: []string{"./app"}, CPU: 1e9, Runs: []count.Execution{{}}}} {
		var b bytes.Buffer
		if err := CountText(&b, r, layout.Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
		if bytes.Contains(b.Bytes(), []byte("\x1b")) {
			t.Errorf("%s: a name reaches the terminal raw", name)
		}
	}
}

func TestCountJSON(t *testing.T) {
	var b bytes.Buffer
	if err := CountJSON(&b, someCount(true)); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Kind      string
		Schema    int
		Knob      string
		Functions []struct {
			Calls  []uint64
			Pieces []struct {
				Rounds []uint64
				Growth struct{ Faster bool }
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if p := doc.Functions[0].Pieces[1]; doc.Kind != "gowhy count" || doc.Schema != 1 || doc.Knob != "-n" || p.Rounds[2] != 7_998_000 || !p.Growth.Faster || doc.Functions[0].Calls[1] != 2000 {
		t.Errorf("kind %q, schema %d, knob %q, calls %v, rounds %v, faster %v, "+
			"want gowhy count, 1, -n, 2000 second, 7998000 third, true",
			doc.Kind, doc.Schema, doc.Knob, doc.Functions[0].Calls, p.Rounds, p.Growth.Faster)
	}
}
