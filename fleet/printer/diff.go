package printer

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
)

// Diff writes what two sides cost, by type, where the differences are, and which causes
// came and went.
func Diff(w io.Writer, a *api.Diff) {
	var rows [][]string
	for i := range a.Changes {
		c := &a.Changes[i]
		row := []string{typeName(c.Type), "–", "–", "–", "–", string(c.Verdict)}
		if c.Why == "" && c.Ratio != nil && c.Was != nil && c.Is != nil {
			row = []string{typeName(c.Type), amount(*c.Was, c.Unit), amount(*c.Is, c.Unit), figures.Number(*c.Ratio),
				figures.Number(*c.Low) + " to " + figures.Number(*c.High), string(c.Verdict)}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		fmt.Fprintln(w, "Both sides sent no type in common.")
	} else {
		table(w, []column{{"cost", 0}, {"was", 12}, {"is", 12}, {"times", 6}, {"95% interval", 14}, {"", 14}}, rows)
		fmt.Fprintln(w, of(a.Changes[0].Unit))
	}
	whys := map[string]bool{}
	for i := range a.Changes {
		if why := a.Changes[i].Why; why != "" && !whys[why] {
			whys[why] = true
			for _, part := range layout.Lines("undecided: "+layout.Safe(why), width) {
				fmt.Fprintln(w, layout.Shorten(part, width))
			}
		}
		where(w, &a.Changes[i])
	}
	causes(w, "new", a.New)
	if a.NoCause != "" {
		fmt.Fprintln(w)
		wrapped(w, "cause: ", a.NoCause)
	}
	causes(w, "gone", a.Gone)
	missing(w, a.Missing)
}

// of says what one of the costs is of.
func of(unit string) string {
	if strings.HasSuffix(unit, "/operation") {
		return "for an operation; medians of processes"
	}
	return "for a second; medians of processes. More traffic would look the same, for no\noperations were counted."
}

// worthwhile is the least part of a change that a function is listed for.
const worthwhile = 0.02

// where lists the functions of a change that is sure.
func where(w io.Writer, c *api.Change) {
	if len(c.Functions) == 0 {
		return
	}
	var rows [][]string
	for i, f := range c.Functions {
		if i > 0 && math.Abs(f.Delta) < worthwhile*math.Abs(*c.Is-*c.Was) {
			break
		}
		rows = append(rows, []string{layout.Safe(f.Name), amount(f.Was, c.Unit), amount(f.Is, c.Unit), signed(f.Delta, c.Unit)})
	}
	fmt.Fprintln(w)
	table(w, []column{{typeName(c.Type) + " of a function's own lines", 0}, {"was", 13}, {"is", 13}, {"more", 14}}, rows)
}

func causes(w io.Writer, head string, list []api.Cause) {
	for i, c := range list {
		if i == 0 {
			fmt.Fprintln(w)
		}
		wrapped(w, head+": ", causeText(c))
	}
}

// wrapped writes a text, where there is one, in as many lines as it needs.
func wrapped(w io.Writer, head, text string) {
	if text == "" {
		return
	}
	for _, part := range layout.Lines(layout.Safe(text), width-len(head)) {
		fmt.Fprintln(w, head+layout.Shorten(part, width-len(head)))
		head = strings.Repeat(" ", len(head))
	}
}

func causeText(c api.Cause) string {
	text := layout.Safe(c.Title)
	if c.Function != "" {
		text += " (" + layout.Safe(c.Function) + ")"
	}
	return text
}

func typeName(t string) string {
	switch store.Type(t) {
	case store.CPU:
		return "CPU"
	case store.AllocSpace:
		return "bytes"
	case store.AllocObjects:
		return "objects"
	case store.MutexDelay:
		return "locks"
	case store.BlockDelay:
		return "waits"
	}
	return layout.Safe(t)
}

// amount returns a cost in the unit of a change.
func amount(x float64, unit string) string {
	switch {
	case unit == "cores":
		return figures.Cores(x)
	case strings.HasPrefix(unit, "bytes"):
		return figures.Bytes(x)
	case strings.HasPrefix(unit, "objects"):
		return figures.Number(x)
	}
	return figures.Seconds(x)
}

func signed(x float64, unit string) string {
	if x < 0 {
		return "−" + amount(-x, unit)
	}
	return "+" + amount(x, unit)
}
