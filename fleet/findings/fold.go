package findings

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/judge/vote"
)

// A Finding is what the rules said of a service over many spans.
type Finding struct {
	Service     string
	Versions    []string // in the order in which they had it
	Rule, Title string
	Function    string
	File        string
	Line        int32
	First, Last time.Time // the begin and the end of the spans that have it
	Earlier     bool      // the first span that was judged has it: it may be older
	Open        bool
	Spans       int // that have it
	// Of the last span that has it, over all versions:
	Instances   int64
	Cost, Bound int64 // in millionths of Unit
	Unit        string
	Confidence  string
	Detail      Detail
	Trend       []store.Point // the cost by span

	latest *store.Finding // the row that Detail is of
}

// A List is what was found.
type List struct {
	Findings []Finding
	Judged   time.Time          // the end of the last span that was judged; zero if none was
	Verdicts map[string]Verdict // by service
	Missing  store.Missing
}

// A Verdict is what the last span of a service says.
type Verdict struct {
	Verdict string
	At      time.Time
}

// Of lists the findings of a selection: open ones first, by what they cost.
func Of(ctx context.Context, r store.Reader, s store.Selection) (*List, error) {
	rows, err := r.Findings(ctx, s)
	if err != nil {
		return nil, err
	}
	l := fold(rows.Findings)
	l.Missing = rows.Missing
	return l, nil
}

// A key tells the findings of services apart.
type key struct {
	service string
	vote.Key
}

// looked is what was judged of a service: over hours, or its spans.
type looked struct {
	service string
	hours   bool
}

// fold makes findings of rows, which are in the order of time.
func fold(rows []store.Finding) *List {
	l := &List{Verdicts: map[string]Verdict{}}
	spans := map[looked][]time.Time{} // that were judged, by their end
	begun := map[looked]time.Time{}   // the begin of the first of them
	found := map[key]*Finding{}
	var order []key
	for i := range rows {
		row := &rows[i]
		if row.Until.After(l.Judged) {
			l.Judged = row.Until
		}
		if hours := row.Rule == lookedOver; hours || row.Rule == "" {
			at := looked{row.Service, hours}
			if list := spans[at]; len(list) == 0 || !list[len(list)-1].Equal(row.Until) {
				spans[at] = append(list, row.Until)
				if len(list) == 0 {
					begun[at] = row.From
				}
			}
			if hours {
				continue
			}
			if v := l.Verdicts[row.Service]; !v.At.Equal(row.Until) || rank(row.Title) > rank(v.Verdict) {
				l.Verdicts[row.Service] = Verdict{row.Title, row.Until}
			}
			continue
		}
		k := key{row.Service, vote.Key{Rule: row.Rule, Function: row.Function}}
		f := found[k]
		if f == nil {
			f = &Finding{Service: row.Service, Rule: row.Rule, Function: row.Function, First: row.From}
			found[k], order = f, append(order, k)
		}
		f.add(row)
	}
	for _, k := range order {
		f := found[k]
		at := looked{f.Service, OverHours(f.Rule)}
		judged := spans[at]
		if f.Spans < vote.Quorum {
			continue
		}
		var last vote.Looks
		for _, until := range judged[max(0, len(judged)-vote.Voters):] {
			last.Add(slices.ContainsFunc(f.Trend, func(p store.Point) bool { return p.At.Equal(until) }))
		}
		f.Open = last.N() > 0
		f.Earlier = f.First.Equal(begun[at])
		f.Detail = detailOf(f.latest)
		l.Findings = append(l.Findings, *f)
	}
	slices.SortStableFunc(l.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.importance(), a.importance()), cmp.Compare(b.Cost, a.Cost))
	})
	return l
}

// add adds a row: to the figures of its span where a version before had that, too, and in
// place of them where they are in another unit.
func (f *Finding) add(row *store.Finding) {
	if !slices.Contains(f.Versions, row.Version) {
		f.Versions = append(f.Versions, row.Version)
	}
	another := !f.Last.Equal(row.Until)
	if !another && f.Unit == row.Unit {
		f.Cost, f.Bound, f.Instances = f.Cost+row.Cost, f.Bound+row.Bound, f.Instances+row.Instances
		f.Trend[len(f.Trend)-1].Value = f.Cost
		return
	}
	if another {
		f.Last, f.Spans, f.Trend = row.Until, f.Spans+1, append(f.Trend, store.Point{At: row.Until})
	}
	f.Title, f.File, f.Line, f.Confidence = row.Title, row.File, row.Line, row.Confidence
	f.Cost, f.Bound, f.Unit, f.Instances = row.Cost, row.Bound, row.Unit, row.Instances
	f.latest = row
	f.Trend[len(f.Trend)-1].Value = f.Cost
}

// importance orders findings: what is there comes before what is gone, and then what is
// counted in cores, which a fleet pays for.
func (f *Finding) importance() (n int) {
	switch f.Unit {
	case "cores":
		n = 2
	case "bytes per second", "bytes":
		n = 1
	}
	if f.Open {
		n += 3
	}
	return n
}

// rank returns which verdict counts where the versions of a service have several.
func rank(verdict string) int {
	return slices.Index([]string{Failed, "too-thin", "partial", "not-loaded", "idle", "unclear", "healthy", "problem", "stalled"}, verdict)
}
