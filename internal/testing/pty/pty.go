// Package pty opens pseudo-terminals, for tests and benchmarks of programs that draw on
// a terminal.
//
// It hides how the system gives one out, and how a program comes to have it as its
// own. It interprets nothing: who reads the master side gets what the program wrote.
package pty

import "os"

// A Terminal is both sides of a pseudo-terminal. Somebody must read Master, or the
// program stops when the kernel's buffer is full; what is written to it is typed.
type Terminal struct{ Master, slave *os.File }

// Close takes the terminal away: programs that still have it get SIGHUP.
func (t *Terminal) Close() {
	if t.slave != nil {
		t.slave.Close()
	}
	t.Master.Close()
}
