// Package dispatch passes orders to lockers.
package dispatch

import "runtime"

// Lockers can be opened and closed.
type Lockers interface {
	Open(n int)
	Close(n int)
}

// A Dispatcher passes orders on.
type Dispatcher struct {
	lockers        Lockers
	eager          bool
	paid, returned chan int
	handled        int
}

// New makes a dispatcher.
func New(l Lockers, eager bool) *Dispatcher {
	return &Dispatcher{lockers: l, eager: eager, paid: make(chan int, 16), returned: make(chan int, 16)}
}

// Paid says that a parcel was paid for.
func (d *Dispatcher) Paid(n int) { d.paid <- n }

// Returned says that a locker is empty.
func (d *Dispatcher) Returned(n int) { d.returned <- n }

// Run handles orders until it is done, and counts them.
func (d *Dispatcher) Run(done <-chan struct{}) int {
	for {
		if d.eager {
			if d.look(done) {
				return d.handled
			}
			continue
		}
		select {
		case n := <-d.paid:
			d.open(n)
		case n := <-d.returned:
			d.close(n)
		case <-done:
			return d.handled
		}
	}
}

// look handles what is there now.
func (d *Dispatcher) look(done <-chan struct{}) (over bool) {
	select {
	case n := <-d.paid:
		d.open(n)
	case n := <-d.returned:
		d.close(n)
	case <-done:
		return true
	default:
		runtime.Gosched()
	}
	return false
}

func (d *Dispatcher) open(n int)  { d.lockers.Open(n); d.handled++ }
func (d *Dispatcher) close(n int) { d.lockers.Close(n); d.handled++ }
