package trialreport

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/whatif"
)

func someWhatIf() *WhatIf {
	return &WhatIf{
		Base: whatif.Baseline{Traced: 100 * time.Millisecond, Replayed: 102 * time.Millisecond, Off: 0.02, Ends: true, Procs: 2, Events: 1000, Outside: 0.4},
		Results: []whatif.Result{
			{Edits: []string{"--lock main.\x1b[31mevil:7=0"}, Kind: whatif.LockEdit, Elapsed: 51 * time.Millisecond, Ratio: 0.5, CPURatio: 1, Procs: 2, Use: 1.9,
				Notes: []string{"a note with \x1b[2J in it"}, Lives: []whatif.Life{{Group: "main.\x1b]0;x\a", Count: 4, Mean: time.Millisecond, Ratio: 0.5}}},
			{Edits: []string{"--procs 1"}, Kind: whatif.Procs, Elapsed: 204 * time.Millisecond, Ratio: 2, CPURatio: 1, Procs: 1, Use: 1},
		},
		Bands: &whatif.Bands{Pairs: []whatif.Pair{
			{Kind: whatif.LockEdit, Predicted: 0.5, Measured: 0.5}, {Kind: whatif.LockEdit, Predicted: 0.5, Measured: 0.9},
			{Kind: whatif.GCCost, Predicted: 0.5, Measured: 0.5},
		}},
	}
}

func TestWhatIfText(t *testing.T) {
	for _, menu := range []bool{true, false} {
		r := someWhatIf()
		r.Menu = menu
		var b bytes.Buffer
		if err := WhatIfText(&b, r, layout.Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, want := range []string{"elapsed −50.0%", "2.0% off", "40.0% of the time", "Of 2 predictions of lock edits, 50.0% were within 20%", "of procs edits"} {
			if want == "of procs edits" {
				if strings.Contains(text, want) || strings.Contains(text, "gc edits") {
					t.Errorf("bands of kinds that are not shown:\n%s", text)
				}
				continue
			}
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if strings.ContainsAny(text, "\x1b\a") {
			t.Errorf("names reach the terminal raw: %q", text)
		}
	}
}

// An edit is copied from where it stands: whole, however narrow the terminal is.
func TestWhatIfEditsWhole(t *testing.T) {
	r := someWhatIf()
	r.Menu = true
	edit := "--lock example.com/a/long/path/to/a/package.(*Type).method:1234=0.5"
	r.Results[0].Edits = []string{edit}
	var b bytes.Buffer
	if err := WhatIfText(&b, r, layout.Options{Width: 60}); err != nil || !strings.Contains(b.String(), "\n      "+edit+"\n") {
		t.Errorf("%v, no line of its own with %q in\n%s", err, edit, b.String())
	}
	if !strings.Contains(b.String(), "  --procs 1\n") {
		t.Errorf("what has room is not in its row:\n%s", b.String())
	}
}

// Throughput rises by what the time of the same work falls.
func TestFaster(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		ends  bool
		want  string
	}{{0.5, true, "elapsed −50.0%"}, {0.5, false, "throughput ×2"}, {2, false, "throughput −50.0%"}, {1.001, true, "no change"}} {
		if got := faster(c.ratio, c.ends); got != c.want {
			t.Errorf("faster(%v, %v) = %s, want %s", c.ratio, c.ends, got, c.want)
		}
	}
}

func TestWhatIfNotMeasured(t *testing.T) {
	r := someWhatIf()
	r.Bands, r.Results, r.Menu = &whatif.Bands{}, nil, true
	var b bytes.Buffer
	if err := WhatIfText(&b, r, layout.Options{}); err != nil || !strings.Contains(b.String(), "not yet measured") || !strings.Contains(b.String(), "nothing to try") {
		t.Errorf("WhatIfText(): %v, want that it is not yet measured and that there is nothing to try in\n%s", err, &b)
	}
}

func TestWhatIfJSON(t *testing.T) {
	var b bytes.Buffer
	if err := WhatIfJSON(&b, someWhatIf()); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Kind    string
		Replay  struct{ Off float64 }
		Results []struct {
			Ratio float64
			Edits []string
		}
		Bands []struct{ Pairs int }
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Kind != "gowhy whatif" || doc.Replay.Off != 0.02 || len(doc.Results) != 2 || doc.Results[1].Ratio != 2 || len(doc.Bands) != 2 {
		t.Errorf("%+v, want a replay that is off by 0.02, two results, the second of ratio 2, and two bands", doc)
	}
}
