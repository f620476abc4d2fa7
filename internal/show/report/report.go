// Package report shows a saved diagnosis, and the ledger of a model, to
// people and to programs.
//
// It hides what of a diagnosis it writes in which order and at which length, and the columns
// of each account. A format is one function, in [Formats]; [Ledger] prints the accounts.
//
// report never computes a cause and never reads evidence: a fresh diagnosis
// and a saved one give the same bytes.
package report

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A Format writes a diagnosis.
type Format func(io.Writer, *diagnosis.Diagnosis, layout.Options) error

// Formats are the formats of a diagnosis by name.
var Formats = map[string]Format{
	"text":     Text,
	"json":     JSON,
	"markdown": Markdown,
	"sarif":    SARIF,
}

// FormatNames returns the names of [Formats] in order.
func FormatNames() []string { return slices.Sorted(maps.Keys(Formats)) }

// JSON writes the diagnosis in its versioned JSON form.
func JSON(w io.Writer, d *diagnosis.Diagnosis, _ layout.Options) error { return d.Encode(w) }

// nextCommands lists the commands that a reader would run now, with the reason.
func nextCommands(d *diagnosis.Diagnosis) [][2]string {
	files, one := fileArguments(d), fileArguments(d)
	for _, r := range d.Runs { // an account is of one recording
		if r.Shown {
			one = shell.Word(r.File)
		}
	}
	var next [][2]string
	if len(d.Findings) > 0 {
		next = append(next, [2]string{"gowhy explain " + shell.Word(d.Findings[0].Rule), "how it is recognised, and what it is not"})
	}
	if d.Trace != nil || d.CPU != nil || len(d.Findings) > 0 {
		next = append(next, [2]string{"gowhy view " + files, "see it in the browser"})
	}
	switch {
	case d.Trace != nil:
		next = append(next, [2]string{"gowhy ledger " + one, "where every second of every goroutine went"})
	case d.CPU != nil:
		next = append(next, [2]string{"gowhy ledger " + one, "where every second of CPU time went"})
	}
	if len(d.Findings) == 0 && d.Verdict != diagnosis.Healthy {
		next = append(next, [2]string{underLoad(d), "record it under load"})
	}
	return next
}

// underLoad records the program again, as what was not checked says; the help where that
// does not know the program.
func underLoad(d *diagnosis.Diagnosis) string {
	for _, u := range d.Unchecked {
		if strings.HasPrefix(u.How, "gowhy record -d ") {
			how, _, _ := strings.Cut(u.How, "   #")
			return how
		}
	}
	return "gowhy record --help"
}
