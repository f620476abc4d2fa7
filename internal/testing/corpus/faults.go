package corpus

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"golang.org/x/exp/trace"
)

// errNameless says that a recording has a fault of the runtime: a coroutine that ends right when a generation
// begins has no state there, for the runtime has let go of it before it writes the switch to the next.
var errNameless = errors.New("a recording is unfit: the runtime did not say which goroutine ended first in a generation")

// nameless reports whether a trace has that fault. It looks at what each thread writes first in each generation.
func nameless(b []byte) bool {
	list, err := batches(b)
	if err != nil {
		return false // an older format, which has no coroutines
	}
	seen := map[[2]uint64]bool{}
	for _, x := range list {
		key := [2]uint64{x.gen, x.m}
		if x.timed && !seen[key] && endsNameless(b[x.events:x.to], x.m) {
			return true
		}
		seen[key] = seen[key] || x.timed
	}
	return false
}

// endsNameless reports whether a thread's first event that is no state ends a goroutine of which none is told.
func endsNameless(events []byte, thread uint64) bool {
	for len(events) > 0 {
		n := 0
		switch Type(events[0]) {
		case GoStatus: // time, goroutine, thread, state
			n = 4
		case StatusStack: // and a stack
			n = 5
		case ProcStatus: // time, P, state
			n = 3
		default:
			return Type(events[0]) == GoSwitchEnd
		}
		var args [5]uint64
		events = events[1:]
		for i := range n {
			v, size := binary.Uvarint(events)
			if size <= 0 {
				return false
			}
			args[i], events = v, events[size:]
		}
		if n > 3 && args[2] == thread && args[3] == Running {
			return false
		}
	}
	return false
}

// errMadeTwice says that a recording has another fault of the runtime, seen of Go 1.22: a thread of C that calls Go makes a
// goroutine that is there already, and the reference reader goes no further.
var errMadeTwice = errors.New("a recording is unfit: the runtime made a goroutine twice, for a thread of C")

// madeTwice reports whether a trace has that fault.
func madeTwice(b []byte) bool {
	r, err := trace.NewReader(bytes.NewReader(b))
	for err == nil {
		_, err = r.ReadEvent()
	}
	return err != io.EOF && strings.Contains(err.Error(), "tried to create goroutine")
}
