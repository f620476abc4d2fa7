// Package join brings views and clicks together.
package join

import (
	"encoding/json"
	"fmt"
	"time"

	"adattribution/internal/bus"
)

// An Operator keeps views for as long as they may be clicked.
type Operator struct {
	clock  *Clock
	within int64
	emit   func(view bus.Event, clicked bool)

	views   map[string]*bus.Event
	byTime  []queued // the keys of views in the order of their time
	swept   int64
	joined  int
	orphans int
}

type queued struct {
	at int64
	id string
}

// NewOperator returns an operator that emits each view, and each view that is clicked.
func NewOperator(c *Clock, within time.Duration, emit func(view bus.Event, clicked bool)) *Operator {
	return &Operator{clock: c, within: within.Milliseconds(), emit: emit, views: map[string]*bus.Event{}}
}

// Process takes a record of a partition.
func (o *Operator) Process(p int, value []byte, now time.Time) error {
	e := new(bus.Event)
	if err := json.Unmarshal(value, e); err != nil {
		return fmt.Errorf("partition %d: %w", p, err)
	}
	o.clock.Observe(p, e.At, now)
	switch e.Kind {
	case "view":
		o.addView(e)
	case "click":
		o.match(e)
	default:
		return fmt.Errorf("partition %d: an event of kind %q", p, e.Kind)
	}
	if mark := o.clock.Watermark(now); mark > o.swept+1000 {
		o.sweep(mark)
	}
	return nil
}

func (o *Operator) addView(e *bus.Event) {
	o.views[e.ID] = e
	o.byTime = append(o.byTime, queued{e.At, e.ID})
	o.emit(*e, false)
}

func (o *Operator) match(click *bus.Event) {
	view := o.views[click.ID]
	if view == nil || click.At-view.At > o.within {
		o.orphans++
		return
	}
	o.joined++
	o.emit(*view, true)
}

// sweep drops the views that cannot be clicked any more.
func (o *Operator) sweep(mark int64) {
	o.swept = mark
	n := 0
	for n < len(o.byTime) && o.byTime[n].at+o.within < mark {
		delete(o.views, o.byTime[n].id)
		n++
	}
	left := copy(o.byTime, o.byTime[n:])
	clear(o.byTime[left:])
	o.byTime = o.byTime[:left]
}

// Joined is how many clicks found their view.
func (o *Operator) Joined() int { return o.joined }

// Orphans is how many did not.
func (o *Operator) Orphans() int { return o.orphans }
