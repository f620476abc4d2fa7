package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/vote"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/heap"
)

// Who holds a heap that grows: it is looked at twice. Both looks are in what is recorded of the
// program from then on, so that the rules judge them as those of any recording.

const (
	// looksApart is how long after the first look the second one is: from there on two looks
	// alone are enough for the rule that names a holder.
	looksApart = 30 * time.Second
	// lookAgain is how long two looks count, and how long a heap is left alone after them.
	lookAgain = 5 * time.Minute
	// lookRoom is how many bytes a look may use: a heap of more than about two million objects is not
	// read, which would take a second of CPU time each time.
	lookRoom = 32 << 20

	// risingCollections, risingTime and risingBytes are the least that a heap must rise for, and
	// by, to be looked at where no finding says that it grows: a recording of ten seconds mostly has
	// one collection, for under GOGC=100 a heap that grows doubles from one to the next.
	risingCollections = 3
	risingTime        = 10 * time.Second
	risingBytes       = 16 << 20
)

// keyOf returns the key of a finding. A heap that grows is one finding, before and after it was
// found out who holds it.
func keyOf(f *diagnosis.Finding) vote.Key {
	if slices.Contains(vote.GrowingHeap, f.Rule) {
		return vote.Key{Rule: vote.GrowingHeap[0]}
	}
	return vote.KeyOf(f)
}

// HeapHolders says who holds a heap that grows, or why that is not known.
type HeapHolders struct {
	// By is the holder that grew most, with the way to most of it.
	By string `json:"by,omitempty"`
	// Growth is by how many bytes a second it grew between the looks.
	Growth float64 `json:"growth_bytes_per_second,omitempty"`
	// At is when the second look was.
	At time.Time `json:"at,omitzero"`
	// Why says why there is nobody, and How a command that tells.
	Why string `json:"why,omitempty"`
	How string `json:"how,omitempty"`
}

// sentence says what there is to say behind a summary that names no holder.
func (h *HeapHolders) sentence() string {
	if h.By == "" {
		return fmt.Sprintf("Who holds it is not known: %s; `%s` looks.", h.Why, h.How)
	}
	return fmt.Sprintf("Held by %s, %s.", h.By, h.pace())
}

func (h *HeapHolders) pace() string { return "+" + figures.Bytes(h.Growth) + "/s" }

// A holding is the looks at the heap of a program.
type holding struct {
	first *model.HeapLook     // that waits for the second
	looks *artifact.HeapLooks // both, once they are there
	next  time.Time           // when the heap may be looked at
	held  *HeapHolders        // what they say; nil when that is nothing
}

// add takes a look over, or why there is none.
func (h *holding) add(pid int, look *model.HeapLook, err error, now time.Time) {
	switch {
	case err != nil || look.Partial:
		*h = holding{next: now.Add(lookAgain), held: unread(pid, err)}
	case h.first == nil:
		h.first, h.next = look, look.Time.Add(looksApart)
	default:
		look.Since(h.first)
		looks := &artifact.HeapLooks{}
		looks.Add(h.first)
		looks.Add(look)
		*h = holding{looks: looks, next: now.Add(lookAgain), held: heldBy(look)}
	}
}

// unread says that a heap is too large to be read beside all else, and nothing of one that cannot
// be read: gowhy memory says why.
func unread(pid int, err error) *HeapHolders {
	var small *heap.BudgetError
	if !errors.As(err, &small) {
		return nil
	}
	how := fmt.Sprintf("gowhy memory %d --holders -d 1m", pid)
	return &HeapHolders{Why: "its heap is too large to be read meanwhile", How: how}
}

// heldBy returns the holder that grew most since the look before; nil where none did.
func heldBy(look *model.HeapLook) *HeapHolders {
	for i := range look.Holders { // those that grew most are first
		h := &look.Holders[i]
		if h.Kind != model.HeldByRuntime && h.Growth() > 0 {
			return &HeapHolders{By: h.Words() + h.Steps(), Growth: float64(h.Growth()) / look.Over.Seconds(), At: look.Time}
		}
	}
	return nil
}

// lookAtHeap looks at the heap of one program, if there is one that grows and whose turn it is.
func (j *judge) lookAtHeap(ctx context.Context) {
	c := j.grower(time.Now())
	if c == nil {
		return
	}
	look, err := j.look(ctx, c.pid, heap.Options{Budget: lookRoom})
	j.mu.Lock()
	defer j.mu.Unlock()
	c.holding.add(c.pid, look, err, time.Now())
}

// grower returns the program whose heap is to be looked at now; nil for none. What was seen of
// others whose time is over is forgotten.
func (j *judge) grower(now time.Time) (next *judgedProgram) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.cases {
		h := &c.holding
		switch {
		case now.Before(h.next):
		case h.first == nil && !c.swells():
			*h = holding{}
		case next == nil || h.next.Before(next.holding.next):
			next = c
		}
	}
	return next
}

// swells reports whether the heap of a program is worth a look: a finding says that it grows, or its
// collections do.
func (c *judgedProgram) swells() bool {
	accuses := func(a *suspect) bool { return a.shown && slices.Contains(vote.GrowingHeap, a.finding.Rule) }
	return c.rises() || slices.ContainsFunc(c.votes, accuses)
}

// noteCollection notes what the last collection found alive.
func (c *judgedProgram) noteCollection(r *Runtime, now time.Time) {
	at := now.Sub(c.since)
	c.alive = slices.DeleteFunc(c.alive, func(p model.Point) bool { return p.At < at-keptTime })
	if r == nil || r.marked <= 0 || r.gcs == c.gcs {
		return
	}
	c.gcs = r.gcs
	c.alive = append(c.alive, model.Point{At: at, Value: float64(r.marked)})
}

// rising returns the last collections of which each found more alive than the one before.
func (c *judgedProgram) rising() model.Series {
	from := max(0, len(c.alive)-1)
	for from > 0 && c.alive[from-1].Value < c.alive[from].Value {
		from--
	}
	return c.alive[from:]
}

// rises reports whether collections alone show that the heap grows.
func (c *judgedProgram) rises() bool {
	s := c.rising()
	if len(s) < risingCollections {
		return false
	}
	first, last := s[0], s[len(s)-1]
	grew := last.Value - first.Value
	return last.At-first.At >= risingTime && grew >= risingBytes && grew >= model.LeastGrowth*first.Value
}

// heapLooks returns what goes into a recording of the program: nothing once a collection found no more
// than the one before it, as of a cache that is full.
func (c *judgedProgram) heapLooks() *artifact.HeapLooks {
	if len(c.alive) > 1 && len(c.rising()) == 1 {
		return nil
	}
	return c.holding.looks
}

// heapLine says of a program without a finding that its heap rises, and what is known of who holds it.
func (c *judgedProgram) heapLine() string {
	s := c.rising()
	line := fmt.Sprintf("its heap grew from %s to %s", figures.Bytes(s[0].Value), figures.Bytes(s[len(s)-1].Value))
	switch h := c.holding.held; {
	case h != nil && h.By != "":
		return line + ", held by " + h.By
	case h != nil:
		return line + "; who holds it: " + h.How
	case c.holding.first != nil:
		return line + "; looking for who holds it"
	}
	return line
}
