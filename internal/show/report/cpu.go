package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// cpuText returns the account of CPU time in one sentence, like "1.84 cores =
// application 61%, system calls 20% (futex 9%, read 6%), not sampled 3%".
// Where it is of a part of the trace only, it says so.
func cpuText(c *diagnosis.CPU, t *diagnosis.TraceInfo) string {
	amount := figures.Duration(time.Duration(c.TotalNS))
	if c.WindowNS > 0 {
		amount = layout.Safe(fact.Cores.Format(c.Cores))
	}
	if t != nil && c.WindowNS > 0 && float64(c.WindowNS) < wholeWindow*float64(t.DurationNS) {
		amount += fmt.Sprintf(" in %s of the %s", figures.Duration(time.Duration(c.WindowNS)), figures.Duration(time.Duration(t.DurationNS)))
	}
	var parts []string
	rest := 0.0
	for _, p := range c.Parts {
		if p.Share < smallPart {
			rest += p.Share
			continue
		}
		parts = append(parts, p.Name+" "+figures.Percent(p.Share)+piecesText(p))
	}
	if rest >= smallPart {
		parts = append(parts, "the rest "+figures.Percent(rest))
	}
	return amount + " = " + strings.Join(parts, ", ")
}

const (
	// wholeWindow is the share of the trace's time from which an account of CPU
	// counts as one of all of it: profiles begin and end a little apart.
	wholeWindow = 0.9
	// smallPart is the share below which a part is not worth its words.
	smallPart = 0.005
	// smallPiece and piecesShown keep the names of calls to those that matter.
	smallPiece  = 0.02
	piecesShown = 3
)

func piecesText(p diagnosis.CPUPart) string {
	var by []string
	for _, n := range p.By {
		if n.Share >= smallPiece && len(by) < piecesShown {
			by = append(by, n.Name+" "+figures.Percent(n.Share))
		}
	}
	if len(by) == 0 {
		return ""
	}
	return " (" + strings.Join(by, ", ") + ")"
}

// sampleNames say which samples an account or a coverage is of.
var sampleNames = map[string]string{string(model.CPU): "the CPU profile", string(model.KernelCPU): "the kernel's samples"}

func sampleName(source string) string {
	if n, ok := sampleNames[source]; ok {
		return n
	}
	return source
}

// coverageText says how much of the CPU time each source saw.
func coverageText(c *diagnosis.CPU) string {
	if !c.Counted {
		if c.Source == "" {
			return ""
		}
		return "as " + sampleName(c.Source) + " shows; the process's counters would tell how much of it that is"
	}
	text := "coverage: "
	if len(c.Coverage) == 0 {
		text += "none, there are no samples"
	}
	var seen []string
	for _, s := range slices.Sorted(maps.Keys(c.Coverage)) {
		entry := sampleName(s) + " " + figures.Percent(c.Coverage[s])
		if s == c.Source && len(c.Coverage) > 1 {
			entry += " (believed)"
		}
		seen = append(seen, entry)
	}
	text += strings.Join(seen, ", ")
	if len(seen) > 0 {
		text += " of rusage"
	}
	if c.Scale > 0 && c.Scale != 1 {
		text += "; scaled by " + figures.Number(c.Scale)
	}
	return text
}

// whyText is shown where it changes what a reader believes: some samples miss
// a tenth, or disagree.
func whyText(c *diagnosis.CPU) string {
	for _, covered := range c.Coverage {
		if covered < 0.9 || covered > 1.1 {
			return c.Why
		}
	}
	return ""
}

// recordingText says what the recording took of the program.
func recordingText(r *diagnosis.Recording) string {
	if r == nil {
		return ""
	}
	text := "recording: " + figures.Duration(time.Duration(r.RecorderNS)) + " of CPU time by the recorder"
	if r.TargetCores != nil && r.BeforeCores != nil {
		text += fmt.Sprintf("; the program used %s meanwhile and %s just before", layout.Safe(fact.Cores.Format(*r.TargetCores)), layout.Safe(fact.Cores.Format(*r.BeforeCores)))
	}
	return text
}

// cpuLines returns the lines of the block about CPU time, the first one the account.
func cpuLines(d *diagnosis.Diagnosis) (lines []string) {
	if d.CPU == nil {
		return nil
	}
	for _, l := range []string{cpuText(d.CPU, d.Trace), coverageText(d.CPU), whyText(d.CPU), recordingText(d.Recording)} {
		if l != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

// cpu shows where CPU time went, in a few lines.
func (t *texter) cpu(d *diagnosis.Diagnosis) {
	const label, indent = "CPU: ", 5
	for i, text := range cpuLines(d) {
		if i == 0 {
			t.Line("")
		}
		for j, l := range layout.FigureLines(text, t.Width-indent) {
			switch {
			case i == 0 && j == 0:
				t.Line(t.Paint(layout.Bold, label) + l)
			case i == 0:
				t.Line(strings.Repeat(" ", indent) + l)
			default:
				t.Line(strings.Repeat(" ", indent) + t.Paint(layout.Dim, l))
			}
		}
	}
}

func (m *markdown) cpu(d *diagnosis.Diagnosis) {
	for i, text := range cpuLines(d) {
		if i == 0 {
			m.P("**CPU:** %s.", layout.Escape(text))
			continue
		}
		m.Item("%s", layout.Escape(text))
	}
}

// operationHead says what one operation of a benchmark costs.
func operationHead(o *diagnosis.Operation) string {
	s := o.Benchmark + ": an operation takes " + figures.Duration(time.Duration(o.CPUNS)) + " of CPU"
	if o.Objects > 0 {
		s += ", " + figures.Plural(int64(o.Objects+0.5), "object") + " of " + figures.Bytes(o.Bytes)
	}
	return s
}

// operationLine says what a line has of it.
func operationLine(o *diagnosis.Operation, l *diagnosis.OperationLine) string {
	s := fmt.Sprintf("%8s  %6s  %s", figures.Duration(time.Duration(l.CPUNS)), figures.Percent(l.CPUNS/o.CPUNS), l.Where.Function)
	if l.Where.Line > 0 {
		s += fmt.Sprintf(":%d", l.Where.Line)
	}
	if l.Bytes >= 0.5 {
		s += ", " + figures.Bytes(l.Bytes)
	}
	return s
}

// operation writes what one operation of a benchmark costs, line by line.
func (t *texter) operation(o *diagnosis.Operation) {
	if o == nil {
		return
	}
	t.Title(operationHead(o))
	for i := range o.Lines {
		t.Line("   " + layout.Shorten(layout.Safe(operationLine(o, &o.Lines[i])), t.Width-3))
	}
	if len(o.Lines) > 0 {
		t.Line("   " + t.Paint(layout.Dim, "all lines, and what each can give back: gowhy ledger FILE --by line"))
	}
}

func (m *markdown) operation(o *diagnosis.Operation) {
	if o == nil {
		return
	}
	m.P("%s.", layout.Escape(operationHead(o)))
	for i := range o.Lines {
		m.Item("%s", layout.Code(strings.TrimSpace(operationLine(o, &o.Lines[i]))))
	}
}
