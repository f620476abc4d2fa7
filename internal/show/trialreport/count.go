package trialreport

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/prove/count"
)

// shownSelf is the share of CPU, or of bytes, from which a loop has its sentence.
const shownSelf = 0.05

// CountText writes what was counted for a terminal: what grows faster than its input, each
// hot function with its loops, and what to know about the figures.
func CountText(w io.Writer, r *count.Report, o layout.Options) error {
	t := newTexter(o)
	t.countVerdict(r)
	n := 0
	for i := range r.Functions {
		f := &r.Functions[i]
		if sentences := countSentences(r, f); len(sentences) > 0 {
			n++
			t.Line("")
			t.Line(fmt.Sprintf("%2d  %s  %s", n, t.Paint(layout.Bold, layout.Safe(f.Name)), t.Paint(layout.Dim, layout.Safe(fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)))))
			for _, s := range sentences {
				t.Para(4, "", s.text, s.style)
			}
		}
	}
	if len(r.Notes) > 0 {
		t.Line("")
		for _, n := range r.Notes {
			t.Para(2, "", "! "+capitalize(n)+".", layout.Yellow)
		}
	}
	if r.Again != "" {
		t.Line("")
		t.Line("next:   " + layout.Safe(r.Again))
	}
	return t.Flush(w)
}

// countVerdict writes the first line: what grows, or what was counted.
func (t *texter) countVerdict(r *count.Report) {
	var grows []string
	for i := range r.Functions {
		f := &r.Functions[i]
		for j := range f.Pieces {
			if fasterAt(f, j) {
				grows = append(grows, fmt.Sprintf("%s as %s", layout.Safe(f.Name), power(f.Pieces[j].Growth)))
				break
			}
		}
	}
	switch {
	case len(grows) > 0:
		t.Para(0, "", "grows faster than "+r.Knob+": "+strings.Join(grows, ", "), layout.Red)
	case r.Knob != "" && len(r.Functions) > 0:
		t.Para(0, "", "nothing that was counted grows faster than "+r.Knob, layout.Bold)
	case len(r.Functions) == 0:
		t.Para(0, "", "nothing hot could be counted: its CPU time is in what the go command does not count", layout.Bold)
	default:
		t.Para(0, "", "counted: "+shell.Words(r.Command), layout.Bold)
	}
	var again []string
	for i := range r.Functions {
		if repeats(&r.Functions[i]) {
			again = append(again, layout.Safe(r.Functions[i].Name))
		}
	}
	if len(again) > 0 {
		t.Para(0, "", "called with the same again: "+strings.Join(again, ", "), layout.Yellow)
	}
}

// fasterAt reports whether a piece of a hot function is where growth begins: what is
// around it does not grow that fast.
func fasterAt(f *count.Function, i int) bool {
	p := &f.Pieces[i]
	if p.Growth == nil || !p.Growth.Faster || max(p.Cum, f.CumBytes) < 2*shownSelf {
		return false
	}
	return p.Outer < 0 || f.Pieces[p.Outer].Growth == nil || !f.Pieces[p.Outer].Growth.Faster
}

const (
	// repeated is the part of the calls from which what a function answers is worth keeping: of fewer the
	// keeping may cost as much.
	repeated = 0.5
	// someCalls are the fewest of which a part says something.
	someCalls = 20
)

// repeats reports whether a function is called with the same again and again.
func repeats(f *count.Function) bool {
	c := f.Repeats
	return c != nil && c.Calls >= someCalls && 1-ratio(c.Different, c.Calls) >= repeated && f.Cum >= 2*shownSelf
}

// repeatsText says how many calls ask for what was answered before.
func repeatsText(f *count.Function) string {
	c := f.Repeats
	of, with := "its", "their arguments are "+amount(c.Different)+" different ones"
	if c.Calls >= count.MostSeen {
		of = "the first"
	}
	if c.Different == 1 {
		with = "their arguments are all the same"
	}
	return fmt.Sprintf("%s of %s %s calls ask for what was answered before: %s. Where nothing else decides the answer, "+
		"to keep it saves up to %s of the CPU.", amount(c.Calls-c.Different), of, amount(c.Calls), with, figures.Percent((1-ratio(c.Different, c.Calls))*f.Cum))
}

func power(g *count.Growth) string { return fmt.Sprintf("n^%.2f", g.Exponent) }

// A sentence is a paragraph of a function.
type sentence struct {
	text  string
	style layout.Style
}

// countSentences returns the paragraphs of a function; none where nothing of it is hot.
func countSentences(r *count.Report, f *count.Function) (list []sentence) {
	for i := range f.Pieces {
		p := &f.Pieces[i]
		faster := fasterAt(f, i)
		sampled := r.CPU > 0
		if !faster && p.Self < shownSelf && p.Bytes < 2*shownSelf && (sampled || i > 0 && p.Rounds[r.Base] < p.Entries[r.Base]*2) {
			continue
		}
		list = append(list, sentence{pieceText(r, f, i, len(list) == 0), layout.Plain})
		if text := sizesText(r, f, i); text != "" {
			style := layout.Plain
			if faster {
				style = layout.Red
			}
			list = append(list, sentence{text, style})
		}
		if p.Squares && r.Knob == "" {
			list = append(list, sentence{squaresText(f, i), layout.Yellow})
		}
	}
	if repeats(f) {
		list = append(list, sentence{repeatsText(f), layout.Yellow})
	}
	return list
}

// pieceText says how often a loop runs for each call, or the function itself, and what it costs.
func pieceText(r *count.Report, f *count.Function, i int, begin bool) string {
	p := &f.Pieces[i]
	calls := f.Calls[r.Base]
	var chain []*count.Piece
	for at := i; at > 0; at = f.Pieces[at].Outer {
		chain = append(chain, &f.Pieces[at])
	}
	slices.Reverse(chain)
	var parts []string
	for n, l := range chain {
		rounds, from, verb := figures.Number(ratio(l.Rounds[r.Base], l.Entries[r.Base])), "each of these", ""
		if n == 0 {
			rounds, from, verb = figures.Number(ratio(l.Rounds[r.Base], calls)), "each call", "makes "
		}
		if rounds += " rounds"; rounds == "1 rounds" {
			rounds = "1 round"
		}
		parts = append(parts, fmt.Sprintf("%s %s%s of the loop at line %d", from, verb, rounds, l.Line))
	}
	text := strings.Join(parts, ", ")
	if begin {
		text = strings.TrimSuffix(calledText(r, f)+"; "+text, "; ")
	}
	if len(chain) > 0 && (calls > 1 || len(chain) > 1) {
		text += ": " + amount(p.Rounds[r.Base]) + " in all"
	}
	if p.PerRound != nil {
		text += fmt.Sprintf(", %s each", figures.Seconds(*p.PerRound*1e-9))
	}
	if p.Self > 0 {
		text += fmt.Sprintf(", %s of the CPU", figures.Percent(p.Self))
	}
	if p.Bytes >= shownSelf {
		text += fmt.Sprintf(", %s of the bytes", figures.Percent(p.Bytes))
	}
	return capitalize(text) + "." + earlyText(r, p)
}

// calledText says how often a function is called, and how often in a round of the loop around.
func calledText(r *count.Report, f *count.Function) string {
	text := "called " + times(f.Calls[r.Base])
	if w := f.Within; w != nil {
		text += fmt.Sprintf(", %s for each round of %s (%s:%d)", figures.Number(w.Each), layout.Safe(w.Function), path.Base(w.File), w.Line)
	}
	return text
}

const (
	// searched is how many rounds make a search of a loop that can be left early.
	searched = 8
	// seldom is the part of searches below which the reader wants to know that they find nothing.
	seldom = 0.1
)

// earlyText says of a loop that could end early that it seldom does.
func earlyText(r *count.Report, p *count.Piece) string {
	if p.Leaves == 0 || !p.Bounded || ratio(p.Rounds[r.Base], p.Entries[r.Base]) < searched {
		return ""
	}
	switch part := ratio(p.Early[r.Base], p.Entries[r.Base]); {
	case part == 0:
		return " It never ends early."
	case part < seldom:
		return fmt.Sprintf(" It ends early in %s of the cases.", figures.Percent(part))
	}
	return ""
}

// sizesText says how a count grew with the sizes.
func sizesText(r *count.Report, f *count.Function, i int) string {
	p := &f.Pieces[i]
	if r.Knob == "" || p.Growth == nil {
		return ""
	}
	what := "rounds grow"
	if i == 0 {
		what = "calls grow"
	}
	text := fmt.Sprintf("With %s its %s as %s", r.Knob, what, power(p.Growth))
	if g := p.Growth; g.Low == nil {
		text += " (two sizes tell no interval)"
	} else if *g.High-*g.Low >= 0.01 { // else both ends read like the exponent
		text += fmt.Sprintf(" (95%% interval %.2f to %.2f, R² %.3f)", *g.Low, *g.High, g.R2)
	}
	if i > 0 && f.Growth != nil {
		text += ", its calls as " + power(f.Growth)
	}
	if !fasterAt(f, i) {
		return text + "."
	}
	var sizes, counts []string
	for n, run := range r.Runs {
		if run.Size > 0 {
			sizes = append(sizes, figures.Number(run.Size))
			counts = append(counts, amount(p.Rounds[n]))
		}
	}
	text += fmt.Sprintf(" (%s: %s). It grows faster than its input", strings.Join(sizes, " → "), strings.Join(counts, " → "))
	if i == 0 && f.Caller != nil {
		text += fmt.Sprintf(": most calls come from %s (%s:%d)", layout.Safe(f.Caller.Function), path.Base(f.Caller.File), f.Caller.Line)
	}
	return text + "."
}

// squaresText says that one run looks as if the work grew with the square of the input.
func squaresText(f *count.Function, i int) string {
	where := "calls it"
	if f.Pieces[i].Depth > 1 {
		where = "is around it"
	}
	return "It makes half as many rounds as the loop that " + where + ", as where each walks through what those before it left: then the work grows with the square of their number."
}

// amount writes a count: all digits up to a million, three of larger ones.
func amount(n uint64) string {
	switch {
	case n >= 999_500_000:
		return figures.Number(float64(n)/1e9) + " billion"
	case n >= 1_000_000:
		return figures.Number(float64(n)/1e6) + " million"
	}
	return figures.Int(n)
}

func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return amount(n) + " times"
}

func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// CountJSON writes a count as JSON: kind "gowhy count", schema, and the report.
func CountJSON(w io.Writer, r *count.Report) error {
	doc := struct {
		Kind   string `json:"kind"`
		Schema int    `json:"schema"`
		*count.Report
	}{"gowhy count", 1, r}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}
