package printer

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
)

// Runs writes which recordings are kept, each with its first cause on a line of its own.
func Runs(w io.Writer, a *api.Recordings) {
	if len(a.Runs) == 0 {
		fmt.Fprintln(w, "No recording is kept of this.\nhint: gowhy-fleet runs push FILE --service NAME")
		return
	}
	for _, r := range a.Runs {
		id := layout.Safe(r.ID)
		head := []string{id[:min(len(id), api.ShortID)], r.Start.UTC().Format("2006-01-02 15:04 UTC"), layout.Safe(named(r.Service, r.Version)),
			figures.Duration(r.Duration), figures.Bytes(float64(r.Bytes))}
		if r.Event != "" && r.Killed == nil {
			head = append(head, "by itself: "+layout.Safe(r.Event))
		}
		fmt.Fprintln(w, layout.Shorten(strings.Join(head, "  "), width))
		fmt.Fprintln(w, layout.Shorten("    "+layout.Safe(cause(r.Diagnosis)), width))
		if r.Killed != nil {
			for _, part := range layout.Lines(killed(r.Killed), width-len("    ")) {
				fmt.Fprintln(w, "    "+part)
			}
		}
		for _, h := range r.Diagnosis.Held {
			fmt.Fprintln(w, held(&h))
		}
		if r.Why != "" {
			fmt.Fprintln(w, layout.Shorten("    an agent recorded it: "+layout.Safe(r.Why), width))
		}
	}
	if a.Omitted > 0 {
		fmt.Fprintf(w, "and %s\n", figures.Plural(a.Omitted, "more", "more"))
	}
	fmt.Fprintln(w, "hint: gowhy-fleet runs get ID -o FILE")
}

// killed says when and by what a program was killed, and how old the evidence was.
func killed(k *api.Killed) string {
	text := "killed at " + k.At.UTC().Format("15:04:05 UTC")
	if k.Limit > 0 {
		text += " by the memory limit, " + layout.Safe(k.Of) + " (" + figures.Bytes(k.Limit) + ")"
	} else {
		text += ", for the machine had no memory left"
	}
	if k.Age != nil {
		text += "; evidence from " + figures.Duration(*k.Age) + " before"
	}
	return text
}

// held says how much a holder holds, by how much more than before, and over what.
func held(h *api.Held) string {
	text := "    held: " + figures.Bytes(h.Bytes)
	if h.Grew != nil && *h.Grew > 0 {
		text += ", +" + figures.Bytes(*h.Grew)
	}
	text += "  "
	return text + layout.Shorten(layout.Safe(h.Way), width-utf8.RuneCountInString(text))
}

// whyNot are the reasons of agents.
var whyNot = map[string]string{
	api.Pause: "it recorded another a short time ago",
	"host":    "its share of the host's CPU time is used up",
	"program": "that would take more than its share of the CPU time of the program",
	"bytes":   "the bytes of this day are used up",
	"disk":    "its disk is full",
	"failed":  "it tried in vain a short time ago; its log says why",
}

// Wish writes how a request to record stands.
func Wish(w io.Writer, a *api.Wish) {
	of := layout.Shorten(layout.Safe(named(a.Service, a.Version)), 60)
	text := "The next agent that sees " + of + " and asks records it, within a minute or two."
	switch {
	case !a.Agents:
		text = "No agent offers a process of " + of + ": none that asked in the last ten minutes sees one. " +
			"Start gowhy agent on its host, and see that its program has this name " +
			"(GOWHY_SERVICE or OTEL_SERVICE_NAME in its environment, else its file's). " +
			"An agent that offers one within an hour records it."
	case a.Not != "":
		why, ok := whyNot[a.Not]
		if !ok {
			why = layout.Shorten(layout.Safe(a.Not), 60)
		}
		text = "An agent sees " + of + " and could not record it when it asked last: " + why + ". It does within an hour, when it may."
	}
	for _, part := range layout.Lines(text, width) {
		fmt.Fprintln(w, part)
	}
	hint := "gowhy-fleet runs"
	if !a.Agents {
		hint = "gowhy agent --server URL"
	}
	fmt.Fprintln(w, "hint: "+hint)
}

// cause returns the first thing that a diagnosis found.
func cause(d api.Diagnosis) string {
	switch {
	case d.State == api.Waiting:
		return "is diagnosed later"
	case d.State == api.Failed:
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
