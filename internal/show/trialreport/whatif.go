package trialreport

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/whatif"
)

// A WhatIf is what `gowhy whatif` found: the replay of the trace as it is, and
// those with edits.
type WhatIf struct {
	Base    whatif.Baseline
	Results []whatif.Result
	// Menu tells that the results are the usual changes, each alone.
	Menu  bool
	Bands *whatif.Bands
	// CoresFrom says where the number of cores is known from.
	CoresFrom string
}

// WhatIfText writes a what-if for a terminal: what comes of it, how far the
// replay is from the trace, and how far predictions were off.
func WhatIfText(w io.Writer, r *WhatIf, o layout.Options) error {
	t := newTexter(o)
	if r.Menu {
		t.whatIfMenu(r)
	} else {
		for i := range r.Results {
			t.whatIfResult(r, &r.Results[i])
		}
	}
	t.whatIfNotes(r)
	return t.Flush(w)
}

// faster says what a ratio of elapsed times means for the reader: time of a
// program that ends, throughput of one that does not.
func faster(ratio float64, ends bool) string {
	const little = 0.005
	switch {
	case ratio > 1-little && ratio < 1+little:
		return "no change"
	case !ends:
		return "throughput " + figures.Change(1/ratio)
	}
	return "elapsed " + figures.Change(ratio)
}

func (t *texter) whatIfResult(r *WhatIf, res *whatif.Result) {
	t.Line(t.Paint(layout.Bold, "predicted: "+faster(res.Ratio, r.Base.Ends)) + "  " + layout.Safe(strings.Join(res.Edits, " ")))
	t.Line("")
	verb := "takes"
	if !r.Base.Ends {
		verb = "does the work of this window in"
	}
	t.Para(2, "", fmt.Sprintf("The replay %s %s instead of %s (×%s). CPU time %s, %s of %s in use.", verb,
		figures.Duration(res.Elapsed), figures.Duration(r.Base.Replayed), figures.Number(res.Ratio), figures.Change(res.CPURatio), figures.Number(res.Use), figures.Plural(res.Procs, "P")), layout.Plain)
	for _, l := range res.Lives[:min(len(res.Lives), livesShown)] {
		if l.Count < 2 || l.Group == "" {
			continue
		}
		t.Para(2, "", fmt.Sprintf("%s: %s goroutines that live %s on average (×%s).", l.Group, figures.Int(l.Count), figures.Duration(l.Mean), figures.Number(l.Ratio)), layout.Plain)
	}
	for _, n := range res.Notes {
		t.Para(2, "", "! "+n+".", layout.Yellow)
	}
}

// livesShown is how many groups are shown with their lives.
const livesShown = 3

func (t *texter) whatIfMenu(r *WhatIf) {
	if len(r.Results) == 0 {
		t.Line("nothing to try: no lock is waited for, and no group has work of its own")
		return
	}
	best := &r.Results[0]
	if best.Ratio > worthWhile {
		t.Line(t.Paint(layout.Bold, "no usual change brings more than 2%"))
	} else {
		t.Para(0, "", fmt.Sprintf("largest predicted gain: %s: %s", strings.Join(best.Edits, " "), faster(best.Ratio, r.Base.Ends)), layout.Bold)
	}
	t.Line("")
	t.Line(t.Paint(layout.Dim, fmt.Sprintf("  %-18s %8s  %6s  %s", "PREDICTED", "CPU", "Ps", "CHANGE")))
	for _, res := range r.Results {
		line := fmt.Sprintf("  %-18s %8s  %6s  ", faster(res.Ratio, r.Base.Ends), cpuChange(res.CPURatio), figures.Number(res.Use)+"/"+figures.Int(res.Procs))
		edits := layout.Safe(strings.Join(res.Edits, " "))
		if utf8.RuneCountInString(line+edits) > t.Width { // whole, for it is copied from there
			t.Line(strings.TrimRight(line, " "))
			line = "      "
		}
		t.Line(line + edits)
	}
	t.whatIfLegend(r)
}

// worthWhile is the ratio of elapsed times above which nothing is recommended.
const worthWhile = 0.98

func cpuChange(ratio float64) string {
	if math.Abs(ratio-1) < 0.005 {
		return "same"
	}
	return figures.Change(ratio)
}

// whatIfLegend explains the edits that the menu has.
func (t *texter) whatIfLegend(r *WhatIf) {
	has := func(k whatif.Kind) bool {
		return slices.ContainsFunc(r.Results, func(res whatif.Result) bool { return res.Kind == k })
	}
	var words []string
	if has(whatif.LockEdit) {
		words = append(words, "--lock SITE=0: nobody waits for that lock, its work remains; =0.5: it is held half as long.")
	}
	if has(whatif.Scale) {
		words = append(words, "--scale NAME=0.5: the group or function works half as long.")
	}
	if has(whatif.GCCost) {
		words = append(words, "--gc 0.5: collecting costs half.")
	}
	if len(words) > 0 {
		t.Line("")
		t.Para(2, "", strings.Join(words, " "), layout.Dim)
	}
}

// whatIfNotes tell how far all of this can be trusted.
func (t *texter) whatIfNotes(r *WhatIf) {
	b := &r.Base
	t.Title("How far to trust it")
	t.Para(2, "", fmt.Sprintf("Replay of the trace as it is: %s, the trace: %s, %s off.", figures.Duration(b.Replayed), figures.Duration(b.Traced), figures.Percent(b.Off)), layout.Plain)
	for _, line := range r.bandLines() {
		t.Para(2, "", capitalize(line)+".", layout.Plain)
	}
	if b.Outside >= 0.2 {
		t.Para(2, "", figures.Percent(b.Outside)+" of the time would remain if all work took nothing: waits for timers, the network and system calls stay as they were.", layout.Yellow)
	}
	if b.Cut {
		t.Para(2, "", fmt.Sprintf("Only a piece of the trace was read: %s events.", figures.Int(b.Events)), layout.Yellow)
	}
	if b.Cores > 0 {
		t.Para(2, "", fmt.Sprintf("Cores: %d (%s).", b.Cores, r.CoresFrom), layout.Plain)
	} else {
		t.Para(2, "", "How many cores the machine has is not known: every P is taken to have one. --cores N says it.", layout.Plain)
	}
	if b.TracedLocks {
		t.Para(2, "", "Locks are granted in the order of the trace: granting them anew came less near to it.", layout.Plain)
	}
	t.Para(2, "", "A prediction is not a measurement: `gowhy verify` makes one.", layout.Plain)
}

// bandLines tell the measured errors of the kinds of edits that are shown.
func (r *WhatIf) bandLines() []string {
	var lines []string
	for _, k := range r.Bands.Kinds() {
		if slices.ContainsFunc(r.Results, func(res whatif.Result) bool { return res.Kind == k }) {
			lines = append(lines, r.Bands.Band(k).String())
		}
	}
	if len(lines) == 0 {
		lines = append(lines, r.Bands.Band("").String())
	}
	return lines
}

// WhatIfJSON writes a what-if as JSON: kind "gowhy whatif", schema, replay (of
// the unchanged trace), results, bands. Times are integers in nanoseconds.
func WhatIfJSON(w io.Writer, r *WhatIf) error {
	doc := struct {
		Kind    string          `json:"kind"`
		Schema  int             `json:"schema"`
		Replay  whatif.Baseline `json:"replay"`
		Results []whatif.Result `json:"results"`
		Bands   []whatif.Band   `json:"bands"`
	}{"gowhy whatif", 1, r.Base, append([]whatif.Result{}, r.Results...), []whatif.Band{}}
	for _, k := range r.Bands.Kinds() {
		doc.Bands = append(doc.Bands, r.Bands.Band(k))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}
