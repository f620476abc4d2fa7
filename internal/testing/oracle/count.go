package oracle

import (
	"errors"
	"io"

	"golang.org/x/exp/trace"
)

// Kinds is one more than the largest kind of event.
const Kinds = int(trace.EventExperimental) + 1

// A Tally is what the bare loop counts. Where the reader splits one event in
// several, as for a coroutine switch, each counts.
type Tally struct {
	Events int64
	Kinds  [Kinds]int64 // by trace.EventKind
}

// Count reads all events and does nothing with them: the least that any
// analysis on golang.org/x/exp/trace costs. At an error the tally so far comes
// with it.
func Count(r io.Reader) (Tally, error) {
	var t Tally
	tr, err := trace.NewReader(r)
	if err != nil {
		return t, err
	}
	for {
		ev, err := tr.ReadEvent()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		t.Events++
		t.Kinds[ev.Kind()]++
	}
}

// eachEvent calls f for each event. The event is valid during the call only: one
// for all saves an allocation each.
func eachEvent(r io.Reader, f func(*trace.Event) error) error {
	tr, err := trace.NewReader(r)
	if err != nil {
		return err
	}
	var ev trace.Event
	for {
		ev, err = tr.ReadEvent()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(&ev); err != nil {
			return err
		}
	}
}
