package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/fleet/server"
	"github.com/gowhy/gowhy/internal/figures"
	"github.com/gowhy/gowhy/internal/layout"
	"github.com/gowhy/gowhy/internal/shell"
)

// Runs writes which recordings are kept, each with its first cause on a line of its own.
func Runs(w io.Writer, a *server.Runs) {
	if len(a.Runs) == 0 {
		fmt.Fprintln(w, "No recording is kept of this.\nhint: gowhy-fleet runs push FILE --service NAME")
		return
	}
	for _, r := range a.Runs {
		id := layout.Safe(r.ID)
		head := []string{id[:min(len(id), 12)], r.Start.UTC().Format("2006-01-02 15:04 UTC"), layout.Safe(named(r.Service, r.Version)),
			figures.Duration(r.Duration), figures.Bytes(float64(r.Bytes))}
		if r.Event != "" {
			head = append(head, "by itself: "+layout.Safe(r.Event))
		}
		fmt.Fprintln(w, layout.Shorten(strings.Join(head, "  "), width))
		fmt.Fprintln(w, layout.Shorten("    "+layout.Safe(cause(r.Diagnosis)), width))
	}
	if a.Omitted > 0 {
		fmt.Fprintf(w, "and %s\n", figures.Plural(a.Omitted, "more", "more"))
	}
	fmt.Fprintln(w, "hint: gowhy-fleet runs get ID -o FILE")
}

// Wish writes how a request to record stands.
func Wish(w io.Writer, a *sampling.Wish) {
	of := layout.Safe(named(a.Service, a.Version))
	text := of + " is recorded by the next agent that asks, within a minute or two."
	switch {
	case !a.Agents:
		text = "No agent asked lately that sees " + of + ". It is recorded when one does within an hour."
	case a.Not != "":
		text = of + " is recorded when its agent may: it had no budget when it asked last (" + layout.Safe(a.Not) + "). The request counts for an hour."
	}
	for _, part := range layout.Lines(text, width) {
		fmt.Fprintln(w, part)
	}
	fmt.Fprintln(w, "hint: gowhy-fleet runs --service "+layout.Safe(shell.Word(a.Service)))
}

// cause is the first thing that a diagnosis found.
func cause(d runs.Diagnosis) string {
	switch {
	case d.State == runs.Waiting:
		return "is diagnosed later"
	case d.State == runs.Failed:
		return "cannot be diagnosed: " + d.Why
	case len(d.Findings) == 0:
		return "nothing found (" + d.Verdict + ")"
	}
	f := d.Findings[0]
	parts := []string{f.Title}
	if f.Remark { // it only says where to look
		parts[0] = d.Verdict + ", remark: " + f.Title
	}
	if f.Where != "" {
		parts = append(parts, f.Where)
	}
	if f.Gain != "" && !f.Remark {
		parts = append(parts, f.Gain)
	}
	text := strings.Join(parts, ", ")
	if n := len(d.Findings) - 1; n > 0 {
		text += fmt.Sprintf(" (+%d)", n)
	}
	return text
}
