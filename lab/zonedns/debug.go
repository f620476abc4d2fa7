package main

import (
	"fmt"
	"io"
	"os"
)

// A debugger writes debug lines, when they are on. That it is an interface is
// what makes a line that is off dear, as with most logging libraries: the
// compiler cannot see that the arguments go nowhere, and puts them and their
// slice on the heap.
type debugger interface {
	// on is asked before a line's arguments are made.
	on() bool
	printf(format string, args ...any)
}

// newDebugger makes a debugger that is off, as the story's was, unless
// ZONEDNS_DEBUG is set.
func newDebugger(how string) debugger {
	var out io.Writer
	if os.Getenv("ZONEDNS_DEBUG") != "" {
		out = os.Stderr
	}
	if how == "boxed" {
		return unasked{lines{out}}
	}
	return lines{out}
}

// Lines are debug lines.
type lines struct{ out io.Writer } // nil: off

func (l lines) on() bool { return l.out != nil }

func (l lines) printf(format string, args ...any) {
	if l.out != nil {
		fmt.Fprintf(l.out, format+"\n", args...)
	}
}

// An unasked debugger stands for a program that does not ask whether its lines
// are on.
type unasked struct{ lines }

func (unasked) on() bool { return true }
