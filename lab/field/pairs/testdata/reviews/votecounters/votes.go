// Package votes counts the votes of an election at several tables.
package votes

import "sync/atomic"

// A Tally counts what one table has seen.
type Tally struct{ yes, no atomic.Int64 }

// Vote counts a vote.
func (t *Tally) Vote(yes bool) {
	if yes {
		t.yes.Add(1)
	} else {
		t.no.Add(1)
	}
}

// A Hall has tables.
type Hall interface {
	Table(n int) *Tally
	Total() (yes, no int64)
}

// Dense has its tables side by side.
type Dense []Tally

// Table is one of them.
func (d Dense) Table(n int) *Tally { return &d[n%len(d)] }

// Total is what all tables have counted.
func (d Dense) Total() (yes, no int64) {
	for i := range d {
		yes, no = yes+d[i].yes.Load(), no+d[i].no.Load()
	}
	return yes, no
}

// Wide has its tables apart.
type Wide []struct {
	Tally
	_ [112]byte
}

// Table is one of them.
func (w Wide) Table(n int) *Tally { return &w[n%len(w)].Tally }

// Total is what all tables have counted.
func (w Wide) Total() (yes, no int64) {
	for i := range w {
		yes, no = yes+w[i].yes.Load(), no+w[i].no.Load()
	}
	return yes, no
}
