// Package drafts holds what customers are writing until it becomes a ticket.
package drafts

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// A Draft is what a customer is writing.
type Draft struct {
	Customer string
	Began    time.Time

	desk *Desk
	mu   sync.Mutex
	text []byte
	done bool
}

// Write adds to the draft.
func (d *Draft) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.text = append(d.text, p...)
	return len(p), nil
}

// Text returns what was written until now.
func (d *Draft) Text() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text
}

// Commit says that the draft has become a ticket, or was given up.
func (d *Draft) Commit() {
	d.mu.Lock()
	d.done = true
	d.mu.Unlock()
	d.desk.forget(d)
}

// rescue writes the draft down if it is still open.
func (d *Draft) rescue(w io.Writer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.done {
		fmt.Fprintf(w, "draft of %s, %s: %q\n", d.Customer, d.Began.Format(time.RFC3339), d.text)
	}
}

// A Desk opens drafts, and writes those down that are open when its service ends.
type Desk struct {
	ctx     context.Context
	journal io.Writer
	room    int

	mu   sync.Mutex
	open map[*Draft]struct{} // nil if each draft has a hook of its own
}

// NewDesk returns a desk of a service that ends with ctx.
func NewDesk(ctx context.Context, rescue string, journal io.Writer) (*Desk, error) {
	d := &Desk{ctx: ctx, journal: journal, room: 24 << 10}
	switch rescue {
	case "hooks":
	case "registry":
		d.open = map[*Draft]struct{}{}
		context.AfterFunc(ctx, d.rescueAll)
	default:
		return nil, fmt.Errorf("drafts: unknown way to rescue drafts: %s", rescue)
	}
	return d, nil
}

// Open begins a draft.
func (d *Desk) Open(customer string) *Draft {
	draft := &Draft{Customer: customer, Began: time.Now(), desk: d, text: make([]byte, 0, d.room)}
	if d.open == nil {
		context.AfterFunc(d.ctx, func() { draft.rescue(d.journal) })
		return draft
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[draft] = struct{}{}
	return draft
}

func (d *Desk) forget(draft *Draft) {
	if d.open == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, draft)
}

func (d *Desk) rescueAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for draft := range d.open {
		draft.rescue(d.journal)
	}
}
