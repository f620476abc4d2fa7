package evidence

import (
	"bytes"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A gcEntry is a gctrace line in a log.
type gcEntry struct {
	model.GCLine               // At is the collection's end by the program's clock
	began        time.Duration // by the program's clock
	stamp        time.Time     // what the log says of when the line was written; may be zero
}

// parseGC reads what the runtime prints at the end of a collection with
// GODEBUG=gctrace=1, from "gc " on. The form is that of mgc.go:
//
//	gc 1 @0.012s 2%: 0.018+1.3+0.076 ms clock, 0.054+0.35/1.0/3.0+0.23 ms cpu, 4->4->3 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 4 P (forced)
//
// Stacks and globals came with Go 1.18, a word on goroutine leaks before the
// colon with Go 1.26.
func parseGC(line []byte) (gcEntry, bool) {
	c := cursor{rest: line, ok: true}
	var e gcEntry
	c.lit("gc ")
	e.Cycle = int(c.integer())
	c.lit(" @")
	e.began = c.amount(time.Second)
	c.lit("s ")
	e.Share = float64(c.integer()) / 100
	c.lit("%")
	c.skip(" (checking for goroutine leaks)")
	c.lit(": ")
	e.SweepTerm = c.millis("+")
	e.Mark = c.millis("+")
	e.MarkTerm = c.millis(" ms clock, ")
	e.CPUSweepTerm = c.millis("+")
	e.CPUAssist = c.millis("/")
	e.CPUBackground = c.millis("/")
	e.CPUIdle = c.millis("+")
	e.CPUMarkTerm = c.millis(" ms cpu, ")
	e.Before = c.megabytes("->")
	e.After = c.megabytes("->")
	e.Live = c.megabytes(" MB, ")
	e.Goal = c.megabytes(" MB goal, ")
	n := c.integer()
	if c.skip(" MB stacks, ") {
		e.StackScan = megabytes(n)
		e.Globals = c.megabytes(" MB globals, ")
		n = c.integer()
	}
	c.lit(" P")
	e.Procs = int(n)
	e.Forced = c.skip(" (forced)")
	e.At = e.began + e.SweepTerm + e.Mark + e.MarkTerm
	if !c.ok && isElided(line) {
		return elidedGC(line)
	}
	return e, c.ok && e.Cycle > 0 && e.Procs > 0 && e.At >= 0
}

// isElided reports whether somebody who pasted a line left some of it out.
func isElided(line []byte) bool {
	return bytes.Contains(line, []byte("...")) || bytes.Contains(line, []byte("…"))
}

// elidedGC reads what is left of a line that somebody shortened: which collection it is,
// when it began, and the heap around it.
func elidedGC(line []byte) (gcEntry, bool) {
	e := gcEntry{GCLine: model.GCLine{Elided: true}}
	c := cursor{rest: line, ok: true}
	c.lit("gc ")
	e.Cycle = int(c.integer())
	c.lit(" @")
	e.began = c.amount(time.Second)
	c.lit("s")
	if c.skip(" ") {
		if share := c; len(share.rest) > 0 && share.rest[0] != '.' {
			e.Share = float64(share.integer()) / 100
		}
	}
	e.At = e.began
	if !c.ok {
		return e, false
	}
	for _, part := range bytes.FieldsFunc(c.rest, func(r rune) bool { return r == ',' || r == '…' }) {
		part = bytes.Trim(part, " .:")
		h := cursor{rest: part, ok: true}
		switch {
		case bytes.Contains(part, []byte("->")):
			if i := bytes.LastIndexByte(bytes.TrimSuffix(part, []byte(" MB")), ' '); i >= 0 {
				h.rest = part[i+1:]
			}
			e.Before, e.After, e.Live = h.megabytes("->"), h.megabytes("->"), h.megabytes(" MB")
			if !h.ok {
				return e, false
			}
		case bytes.HasSuffix(part, []byte(" MB goal")):
			e.Goal = h.megabytes(" MB goal")
		case bytes.HasSuffix(part, []byte(" P")):
			e.Procs = int(h.integer())
		case bytes.HasSuffix(part, []byte("(forced)")):
			e.Forced = true
		}
	}
	return e, e.Cycle > 0 && e.Live > 0 && e.At >= 0
}

// origin returns when the program's clock began, by the stamps of a log. A line
// can be written late, never early: the earliest guess is the best.
func gcOrigin(entries []gcEntry) (t time.Time) {
	for i := range entries {
		t = earliest(t, entries[i].stamp, entries[i].At)
	}
	return t
}

// earliest returns the earlier of t and stamp - at, of which either may be unknown.
func earliest(t, stamp time.Time, at time.Duration) time.Time {
	if stamp.IsZero() {
		return t
	}
	if g := stamp.Add(-at); t.IsZero() || g.Before(t) {
		return g
	}
	return t
}

// Collections of a log are those of a trace when they begin in the same rhythm.
const (
	// minMatched is the fewest that make a rhythm.
	minMatched = 3
	// matchSlack is by how much a begin may differ: the log is in whole
	// milliseconds, and the trace notes the begin after the world was stopped.
	matchSlack = 3 * time.Millisecond
	// maxMatched bounds the work: nobody's collections keep one rhythm for so long
	// by chance, and logs of one rhythm throughout are made to be slow to match.
	maxMatched = 256
)

// matchCycles returns where on the trace's clock the log's clock began, when
// the collections of the trace are found among those of the log in exactly one
// place.
func matchCycles(cycles []model.Cycle, log []gcEntry) (origin time.Duration, ok bool) {
	var begins []time.Duration
	for _, c := range cycles {
		if c.Begin >= 0 {
			begins = append(begins, c.Begin)
		}
	}
	slices.Sort(begins)
	begins = begins[:min(len(begins), maxMatched)]
	places, longest := 0, minMatched
	for first := range log {
		n := min(len(begins), len(log)-first) // the log may end before the trace does
		if n < longest || places > 1 {
			break
		}
		if o, fits := rhythm(begins[:n], log[first:first+n]); fits {
			origin, longest = o, n
			places++
		}
	}
	return origin, places == 1
}

// rhythm reports whether cycles and lines begin with the same distances, and
// returns the mean shift between their clocks.
func rhythm(begins []time.Duration, log []gcEntry) (shift time.Duration, ok bool) {
	first := begins[0] - log[0].began
	var sum time.Duration
	for i, b := range begins {
		d := b - log[i].began - first
		if d.Abs() > matchSlack+log[i].SweepTerm {
			return 0, false
		}
		sum += d
	}
	return first + sum/time.Duration(len(begins)), true
}
