// Package ledger books passages in the order in which they come.
package ledger

import (
	"errors"
	"time"
)

type Entry struct {
	Gantry int
	Plate  string
	Proof  [32]byte
	Cents  int64
}

// Backend is the replicated ledger of the operator.
type Backend interface {
	Commit(entries []Entry) (seq int64, err error)
}

type Sim struct{ Trip, Each time.Duration }

func (s Sim) Commit(entries []Entry) (int64, error) {
	time.Sleep(s.Trip + time.Duration(len(entries))*s.Each)
	return int64(len(entries)), nil
}

var ErrClosed = errors.New("ledger: closed")

type pending struct {
	e    Entry
	done chan error
}

// Book keeps the order of entries: they pass through one goroutine.
type Book struct {
	in    chan pending
	end   chan struct{}
	b     Backend
	group int
}

func Open(b Backend, group int) *Book {
	k := &Book{in: make(chan pending, 128), end: make(chan struct{}), b: b, group: max(group, 1)}
	go k.run()
	return k
}

// Append books an entry and returns when it is safe.
func (k *Book) Append(e Entry) error {
	p := pending{e: e, done: make(chan error, 1)}
	k.in <- p
	return <-p.done
}

func (k *Book) Close() {
	close(k.in)
	<-k.end
}

func (k *Book) run() {
	defer close(k.end)
	batch := make([]pending, 0, k.group)
	entries := make([]Entry, 0, k.group)
	for p := range k.in {
		batch = append(batch[:0], p)
	more:
		for len(batch) < k.group {
			select {
			case q, ok := <-k.in:
				if !ok {
					break more
				}
				batch = append(batch, q)
			default:
				break more
			}
		}
		entries = entries[:0]
		for _, q := range batch {
			entries = append(entries, q.e)
		}
		_, err := k.b.Commit(entries)
		for _, q := range batch {
			q.done <- err
		}
	}
}
