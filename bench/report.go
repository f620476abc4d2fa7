package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// writeReport writes the result as Markdown.
func (r *Result) writeReport(w io.Writer) error {
	b := bufio.NewWriter(w)
	m := r.Machine
	fmt.Fprintf(b, "# Reading execution traces, %s\n\n", r.Date)
	fmt.Fprintf(b, "%s/%s, %d cores, %s, %.0f GB of memory, %s. %d rounds, seed %d; a process is ended after %s or at %.0f MB resident.\n\n",
		m.OS, m.Arch, m.Cores, cmpOr(m.CPU, "CPU not known"), float64(m.Memory)/1e9, m.Go, r.Rounds, r.Seed, r.Limits.Timeout, float64(r.Limits.Memory)/1e6)
	fmt.Fprint(b, "Every figure is a process of its own. CPU is user and system time, memory the peak resident set including pages of the mapped file. All but gowhy-all are pinned to one core with GOMAXPROCS=1. Times are medians; a ratio is the median of the ratios of each round, with the least and the largest.\n\n")
	r.writeBars(b)
	r.writeRatios(b)
	r.writeFigures(b)
	r.writeTraces(b)
	r.writeFailures(b)
	return b.Flush()
}

func cmpOr(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (r *Result) writeBars(w io.Writer) {
	fmt.Fprint(w, "## Bars\n\n| bar | to reach | reached | at | |\n|---|---:|---:|---|---|\n")
	for _, b := range r.Bars {
		sign, got := "≥", "–"
		if b.AtMost {
			sign = "≤"
		}
		if b.Verdict != notMeasured || b.Got > 0 {
			got = figures.Number(b.Got) + " " + b.Unit
		}
		text := b.Text
		if b.Unfinished > 0 {
			text += fmt.Sprintf(" (without %d that it did not finish)", b.Unfinished)
		}
		fmt.Fprintf(w, "| %s | %s %s %s | %s | %s | %s |\n", text, sign, figures.Number(b.Want), b.Unit, got, cmpOr(b.Where, "–"), b.Verdict)
	}
	fmt.Fprintln(w)
}

// writeRatios writes a table for each measure: traces down, peers across.
func (r *Result) writeRatios(w io.Writer) {
	peers := r.contenders(func(c string) bool { return c != subject && c != allCores })
	if len(peers) == 0 {
		return
	}
	for _, measure := range []struct {
		title string
		of    func(*Ratio) Spread
	}{
		{"CPU: times gowhy's", cpuOf},
		{"Wall clock: times gowhy's", func(q *Ratio) Spread { return q.Wall }},
		{"Peak memory: times gowhy's", memoryOf},
	} {
		fmt.Fprintf(w, "## %s\n\n| trace | %s |\n|---|%s\n", measure.title, strings.Join(peers, " | "), strings.Repeat("---:|", len(peers)))
		means := make([][]float64, len(peers))
		for _, t := range r.Traces {
			fmt.Fprintf(w, "| %s |", t.Name)
			for i, p := range peers {
				cell := "–"
				if q := r.ratio(t.Name, p); q != nil && measure.of(q).Median > 0 {
					cell = q.cell(measure.of(q))
					means[i] = append(means[i], measure.of(q).Median)
				}
				fmt.Fprintf(w, " %s |", cell)
			}
			fmt.Fprintln(w)
		}
		fmt.Fprint(w, "| **geometric mean** |")
		for _, m := range means {
			fmt.Fprintf(w, " **%s** |", figures.Number(geomean(m)))
		}
		fmt.Fprint(w, "\n\n")
	}
	fmt.Fprint(w, "≥: the peer was ended by a limit, so the true ratio is larger. *: no round without other work on the machine.\n\n")
}

// cell prints a ratio with its spread.
func (q *Ratio) cell(s Spread) string {
	text := figures.Number(s.Median)
	if q.AtLeast {
		text = "≥ " + text
	} else if q.Rounds > 1 {
		text += fmt.Sprintf(" (%s–%s)", figures.Number(s.Low), figures.Number(s.High))
	}
	if q.Disturbed {
		text += " *"
	}
	return text
}

func (r *Result) writeFigures(w io.Writer) {
	fmt.Fprint(w, "## Figures of this machine\n\n| trace | contender | CPU s | least | wall s | peak MB | runs | disturbed |\n|---|---|---:|---:|---:|---:|---:|---:|\n")
	for _, f := range r.Figures {
		if f.Runs == 0 {
			continue
		}
		name := f.Contender
		if f.Failure != "" {
			name += " (ended)"
		}
		fmt.Fprintf(w, "| %s | %s | %.3f | %.3f | %.3f | %.0f | %d | %d |\n", f.Trace, name, f.CPU, f.MinCPU, f.Wall, f.RSS/1e6, f.Runs, f.Disturbed)
	}
	fmt.Fprintln(w)
}

func (r *Result) writeTraces(w io.Writer) {
	fmt.Fprint(w, "## Traces\n\n| trace | MB | events | gowhy ns/event | program |\n|---|---:|---:|---:|---|\n")
	for _, t := range r.Traces {
		perEvent := "–"
		if f := r.find(t.Name, subject); f != nil && t.Events > 0 {
			perEvent = figures.Number(f.CPU * 1e9 / float64(t.Events))
		}
		fmt.Fprintf(w, "| %s | %.1f | %d | %s | %s |\n", t.Name, float64(t.Bytes)/1e6, t.Events, perEvent, t.Doc)
	}
	fmt.Fprint(w, "\n## Contenders\n\n")
	for _, c := range catalogue {
		if slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Contender == c.name }) {
			fmt.Fprintf(w, "- **%s**: %s\n", c.name, c.doc)
		}
	}
	fmt.Fprintln(w)
}

func (r *Result) writeFailures(w io.Writer) {
	var lines []string
	for _, run := range r.Runs {
		if run.Failure != "" {
			lines = append(lines, fmt.Sprintf("- %s on %s: %s, after %.1f s of CPU and at most %.0f MB\n",
				run.Contender, run.Trace, run.Failure, run.CPU, float64(run.RSS)/1e6))
		}
	}
	if len(lines) == 0 {
		return
	}
	slices.Sort(lines)
	fmt.Fprintf(w, "## Did not finish\n\n%s", strings.Join(slices.Compact(lines), ""))
}

// contenders lists the names in the figures that pass keep, in catalogue order.
func (r *Result) contenders(keep func(string) bool) []string {
	var names []string
	for _, c := range catalogue {
		has := slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Contender == c.name && f.Runs > 0 })
		if has && keep(c.name) {
			names = append(names, c.name)
		}
	}
	return names
}
