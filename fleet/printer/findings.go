package printer

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// Findings writes which causes the rules found, those that are there now first.
func Findings(w io.Writer, a *api.Findings) {
	for i := range a.Findings {
		finding(w, &a.Findings[i], a.Currency)
	}
	switch {
	case a.Judged == nil:
		fmt.Fprintln(w, "Nothing was judged in this time. The rules look at five minutes at a time, once\nthese are over.")
	case len(a.Findings) == 0:
		fmt.Fprintln(w, "No cause was found in two spans of five minutes.")
	}
	if a.Omitted > 0 {
		fmt.Fprintf(w, "and %s\n", figures.Plural(a.Omitted, "more finding", "more findings"))
	}
	silent(w, a)
	missing(w, a.Missing)
}

// silent says what the silence on a service means.
func silent(w io.Writer, a *api.Findings) {
	by := map[string][]string{}
	for service, v := range a.Verdicts {
		if slices.ContainsFunc(a.Findings, func(f api.Finding) bool { return f.Service == service && f.State == api.Open }) {
			continue // what grows over hours is in no verdict on five minutes
		}
		by[v.Verdict] = append(by[v.Verdict], service)
	}
	for _, verdict := range slices.Sorted(maps.Keys(by)) {
		says, ok := silence[verdict]
		if !ok {
			continue
		}
		var names []string
		for _, service := range slices.Sorted(slices.Values(by[verdict])) {
			names = append(names, layout.Shorten(layout.Safe(service), 40))
		}
		for _, part := range layout.Lines(strings.Join(names, ", ")+": "+says, width) {
			fmt.Fprintln(w, part)
		}
	}
}

// silence is what a verdict without a finding means.
var silence = map[string]string{
	"healthy":    "looked at, and well.",
	"unclear":    "nothing is known to be wrong; not enough was looked at to call it well.",
	"idle":       "hardly ran.",
	"not-loaded": "ran far below what a machine has.",
	"partial":    "no cause in the profiles, which alone cannot show that a program is well; record a process for that.",
	"too-thin":   "no cause in the profiles, which alone cannot show that a program is well; record a process for that.",
	"failed":     "could not be judged; the server's log says why.",
}

func finding(w io.Writer, f *api.Finding, currency string) {
	fmt.Fprintln(w, layout.Shorten(layout.Shorten(layout.Safe(f.Service), 40)+": "+layout.Safe(f.Title), width))
	line := func(head, text string) {
		for i, part := range layout.Lines(layout.Safe(text), width-10) {
			if i > 0 {
				head = ""
			}
			fmt.Fprintf(w, "  %-6s  %s\n", head, layout.Shorten(part, width-10))
		}
	}
	if f.Function != "" {
		fmt.Fprintf(w, "  %-6s  %s\n", "where", layout.Shorten(layout.Safe(place(f)), width-10))
	}
	line("cost", costs(f, currency))
	if f.Gain != "" {
		line("gain", f.Gain+", of each process, "+sure(f))
	} else if f.Confidence != "" { // of a growth there is no gain to tell
		line("sure", sure(f))
	}
	since := f.First.Format("2006-01-02 15:04 MST")
	if f.Earlier {
		since += " or before"
	}
	if v := f.Versions[0]; v != "" {
		since += ", " + layout.Shorten(layout.Safe(v), 24)
	}
	if f.State == api.Gone {
		since += "; gone since " + f.Last.Format("2006-01-02 15:04 MST")
	}
	if f.Spans > 1 {
		since += "; seen in " + figures.Plural(f.Spans, "span", "spans")
	}
	line("since", since)
	line("do", f.Remedy)
	fmt.Fprintf(w, "  %-6s  $ %s\n", "more", layout.Safe(f.Command))
	if r := f.Recording; r != nil {
		if r.Held != "" {
			line("held", "over "+r.Held)
		}
		line("shown", "by a recording of "+r.Start.UTC().Format("2006-01-02 15:04 UTC"))
		fmt.Fprintf(w, "  %-6s  $ %s\n", "more", layout.Safe(r.Command))
	}
	fmt.Fprintln(w)
}

func sure(f *api.Finding) string {
	return strings.TrimSuffix(f.Confidence+" confidence: "+strings.Join(f.Reasons, "; "), ": ")
}

func place(f *api.Finding) string {
	if f.File == "" {
		return f.Function
	}
	file := f.File[strings.LastIndexByte(f.File, '/')+1:]
	return fmt.Sprintf("%s  %s:%d", f.Function, file, f.Line)
}

func costs(f *api.Finding, currency string) string {
	text := fact.Unit(f.Unit).Format(f.Cost)
	if f.What != "" {
		text += " (" + f.What + ")"
	}
	of := "a mean one of "
	if f.Whole {
		of = "all "
	}
	text += ", " + of + figures.Plural(int(f.Instances), "process", "processes")
	if f.Money != nil {
		text += fmt.Sprintf(", %.0f %s a month", *f.Money, currency)
	}
	return text
}
