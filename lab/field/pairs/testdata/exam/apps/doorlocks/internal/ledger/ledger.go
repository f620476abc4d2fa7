// Package ledger adds up what is noted of doors.
package ledger

import "doorlocks/internal/journal"

// An entry is noted, then its writer is told its number.
type entry struct {
	sum    journal.Sum
	number chan<- int
}

// A Ledger has one clerk.
type Ledger struct {
	in   chan entry
	done chan journal.Sum
}

// Open opens a ledger.
func Open() *Ledger {
	l := &Ledger{in: make(chan entry, 64), done: make(chan journal.Sum)}
	go l.clerk()
	return l
}

// Note notes what is known of a door, and returns the number of the entry.
func (l *Ledger) Note(s journal.Sum) int {
	number := make(chan int, 1)
	l.in <- entry{s, number}
	return <-number
}

// Close returns the sum of all.
func (l *Ledger) Close() journal.Sum {
	close(l.in)
	return <-l.done
}

func (l *Ledger) clerk() {
	var total journal.Sum
	n := 0
	for e := range l.in {
		total = total.Plus(e.sum)
		n++
		e.number <- n
	}
	l.done <- total
}
