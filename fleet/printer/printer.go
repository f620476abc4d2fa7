// Package printer writes answers of a server of the fleet as text, 80 columns wide.
//
// It hides how a table fits. What names hold never reaches the terminal raw.
package printer

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

// A column is a heading and its width; the first column takes what is left.
type column struct {
	head  string
	width int
}

const width = 80

// table writes rows under their headings: the first column to the left, others to the
// right.
func table(w io.Writer, columns []column, rows [][]string) {
	first := width
	for _, c := range columns[1:] {
		first -= c.width + 2
	}
	line := func(cells []string) {
		text := layout.Pad(layout.Shorten(cells[0], first), first)
		for i, cell := range cells[1:] {
			cell = layout.Shorten(cell, columns[i+1].width)
			text += "  " + strings.Repeat(" ", max(0, columns[i+1].width-len([]rune(cell)))) + cell
		}
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
	heads := make([]string, len(columns))
	for i, c := range columns {
		heads[i] = c.head
	}
	line(heads)
	for _, row := range rows {
		line(row)
	}
}

// Services writes which services use most.
func Services(w io.Writer, a *api.Services) {
	if len(a.Services) == 0 {
		fmt.Fprintln(w, "No service sent anything in this time.")
		missing(w, a.Missing)
		return
	}
	var rows [][]string
	var all float64
	for _, s := range a.Services {
		if s.Cores != nil {
			all += *s.Cores
		}
	}
	for _, s := range a.Services {
		cores, part := "–", "–" // no CPU profile came
		if s.Cores != nil {
			cores, part = figures.Cores(*s.Cores), share(*s.Cores, all)
		}
		rows = append(rows, []string{
			layout.Safe(named(s.Name, s.Version)), figures.Int(s.Running), cores, part,
			rate(s, store.AllocSpace), age(s.Last.Sub(s.First)),
		})
	}
	table(w, []column{{"service and version", 0}, {"processes", 9}, {"cores", 12}, {"share", 6}, {"allocates", 11}, {"for", 6}}, rows)
	if a.Omitted > 0 {
		fmt.Fprintf(w, "and %s\n", figures.Plural(a.Omitted, "more", "more"))
	}
	for _, s := range a.Services {
		if s.Saturated {
			saturated(w, named(s.Name, s.Version))
		}
	}
	missing(w, a.Missing)
}

// saturated says of what a sum is only the largest number there is.
func saturated(w io.Writer, name string) {
	fmt.Fprintf(w, "out of range: sums of %s, which sent values that cannot be\n", layout.Shorten(layout.Safe(name), 24))
}

func named(service, version string) string {
	if version == "" {
		return service
	}
	return service + " " + version
}

func share(part, all float64) string {
	if all <= 0 || part == 0 {
		return "–"
	}
	return figures.Percent(part / all)
}

// rate is bytes a second of a type that counts, over the time that the service sent.
func rate(s api.Service, t store.Type) string {
	d := s.Last.Sub(s.First).Seconds()
	if n, ok := s.Totals[t]; ok && d > 0 {
		return figures.Bytes(float64(n)/d) + "/s"
	}
	return "–"
}

func age(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d d", int(d.Hours()/24))
	case d >= time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d min", int(d.Minutes()))
}

// missing names what did not answer.
func missing(w io.Writer, m store.Missing) {
	for _, part := range m {
		fmt.Fprintf(w, "partial: %s could not be asked\n", layout.Safe(part))
	}
}

// Top writes the functions that have most.
func Top(w io.Writer, a *api.Top, t string) {
	if len(a.Functions) == 0 {
		fmt.Fprintln(w, "Nothing of this type was sent in this time.")
		missing(w, a.Missing)
		return
	}
	var rows [][]string
	for _, f := range a.Functions {
		rows = append(rows, []string{layout.Safe(f.Name), value(f.Self, t), share(float64(f.Self), float64(a.Total)), value(f.Total, t)})
	}
	rows = append(rows, []string{"(other functions)", value(a.Other, t), share(float64(a.Other), float64(a.Total)), ""})
	table(w, []column{{"function", 0}, {"self", 11}, {"share", 6}, {"with callees", 12}}, rows)
	if a.Saturated {
		saturated(w, "a program")
	}
	missing(w, a.Missing)
}

// value returns a number in the unit of a type.
func value(n int64, t string) string {
	switch {
	case strings.Contains(t, "space"):
		return figures.Bytes(n)
	case t == "cpu", strings.Contains(t, "delay"), strings.Contains(t, "nanoseconds"):
		return figures.Seconds(float64(n) / 1e9)
	}
	return figures.Int(n)
}

// Versions writes which versions changed what a service costs.
func Versions(w io.Writer, a *api.Versions) {
	said := 0
	for i := range a.Changes {
		if c := &a.Changes[i]; c.Verdict == api.Worse || c.Verdict == api.Better {
			change(w, c)
			said++
		}
	}
	for i := range a.Steps {
		f := &a.Steps[i]
		fmt.Fprintf(w, "worse: %s since %s, without a deploy\n", layout.Shorten(layout.Safe(f.Service), 24), f.First.Format("2006-01-02 15:04 MST"))
		fmt.Fprintf(w, "  cost   %s more\n", figures.Cores(f.Cost))
		if f.Function != "" {
			fmt.Fprintf(w, "  where  %s\n", layout.Shorten(layout.Safe(f.Function), width-9))
		}
		fmt.Fprintf(w, "  more   $ gowhy fleet findings --service %s\n\n", layout.Safe(shell.Word(f.Service)))
	}
	same, undecided := 0, map[string]int{}
	for i := range a.Changes {
		switch c := &a.Changes[i]; c.Verdict {
		case api.Undecided:
			undecided[c.Why]++
		case api.Worse, api.Better:
		default:
			same++
		}
	}
	switch {
	case len(a.Changes) == 0:
		fmt.Fprintln(w, "No service has two versions in this time.")
	case same > 0:
		fmt.Fprintf(w, "%s without a detectable change\n", figures.Plural(same, "deploy", "deploys"))
	}
	for _, why := range slices.Sorted(maps.Keys(undecided)) {
		fmt.Fprintf(w, "%s not decided: %s\n", figures.Plural(undecided[why], "deploy", "deploys"), layout.Safe(why))
	}
	if a.Omitted > 0 {
		fmt.Fprintf(w, "and %s\n", figures.Plural(a.Omitted, "more deploy", "more deploys"))
	}
	if len(a.Changes) > 0 {
		missing(w, a.Changes[0].Missing)
	}
}

func change(w io.Writer, c *api.Change) {
	short := func(name string) string { return layout.Shorten(layout.Safe(name), 24) }
	fmt.Fprintf(w, "%s: %s since %s (before: %s)\n", c.Verdict, short(c.Service), short(c.Head), short(c.Base))
	fmt.Fprintf(w, "  cost   %s, previously %s\n", cost(*c.Is, c.Unit), cost(*c.Was, c.Unit))
	fmt.Fprintf(w, "  times  %s, 95%% interval %s to %s\n", figures.Number(*c.Ratio), figures.Number(*c.Low), figures.Number(*c.High))
	how := "processes of both"
	if c.Paired {
		how = "hosts that ran both"
	}
	fmt.Fprintf(w, "  from   %s and %s %s, since %s\n", figures.Int(c.BaseProcesses), figures.Int(c.HeadProcesses), how, c.Since.Format("2006-01-02 15:04 MST"))
	if c.Function != "" {
		fmt.Fprintf(w, "  where  %s\n", layout.Shorten(layout.Safe(c.Function), width-9))
	}
	for _, a := range c.Also {
		fmt.Fprintf(w, "  also   %s %s times, %s, previously %s\n", typeName(a.Type), figures.Number(a.Ratio), amount(a.Is, a.Unit), amount(a.Was, a.Unit))
	}
	for _, cause := range c.Causes {
		wrapped(w, "  cause  ", causeText(cause))
	}
	wrapped(w, "  cause  ", c.NoCause)
	if c.Unit == "cores" {
		fmt.Fprintln(w, "  but    no operations were counted, and more traffic would look the same")
	}
	fmt.Fprintf(w, "  prove  $ gowhy verify --base %s --head %s -- {binary}   # where its main is, its arguments behind\n\n",
		layout.Safe(shell.Word(c.Base)), layout.Safe(shell.Word(c.Head)))
}

func cost(x float64, unit string) string {
	if unit == "cores" {
		return figures.Cores(x)
	}
	return figures.Seconds(x) + " per operation"
}
