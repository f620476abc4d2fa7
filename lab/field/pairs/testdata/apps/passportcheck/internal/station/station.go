// Package station checks passports at a row of readers.
package station

import (
	"errors"
	"sync"
	"sync/atomic"

	"passportcheck/internal/passport"
	"passportcheck/internal/queue"
)

// ErrClosing is the answer to those who still wait at the end.
var ErrClosing = errors.New("station: closing")

// Result of a check.
type Result struct {
	Number string
	Seal   string
	Valid  bool
	Err    error
}

type job struct {
	doc  *passport.Document
	done chan Result
}

// Row is a row of readers with one queue.
type Row struct {
	jobs *queue.Queue[*job]
	wg   sync.WaitGroup

	Valid atomic.Int64
}

// Open starts readers readers.
func Open(readers int, v2 bool) *Row {
	limit := 0
	if v2 {
		limit = 4 * readers
	}
	r := &Row{jobs: queue.New[*job](limit)}
	for range readers {
		r.wg.Go(r.serve)
	}
	return r
}

// Check waits for the check of a document.
func (r *Row) Check(d *passport.Document) (Result, error) {
	j := &job{doc: d, done: make(chan Result, 1)}
	if err := r.jobs.Put(j); err != nil {
		return Result{}, err
	}
	res := <-j.done
	return res, res.Err
}

func (r *Row) serve() {
	for {
		j, ok := r.jobs.Take()
		if !ok {
			return
		}
		j.done <- r.check(j.doc)
	}
}

func (r *Row) check(d *passport.Document) Result {
	no, err := d.Number()
	if err != nil {
		return Result{Err: err}
	}
	seal, ok := d.ReadChip().Verify()
	if ok {
		r.Valid.Add(1)
	}
	return Result{Number: no, Seal: seal, Valid: ok}
}

// Close ends the row.
func (r *Row) Close() {
	for _, j := range r.jobs.Close() {
		j.done <- Result{Err: ErrClosing}
	}
	r.wg.Wait()
}
