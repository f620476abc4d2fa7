//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// A population are processes that do nothing: this program again, each with
// the few threads that the Go runtime starts. They wait for the end of a pipe
// whose other end is ours, so that they go when we do, however that is. (The
// signal of prctl's PR_SET_PDEATHSIG would come when the thread ends that
// started them, and threads of a Go program come and go.)
type population struct {
	alive    *os.File
	children []*exec.Cmd
}

const (
	// idleVariable makes this program one of a population.
	idleVariable  = "LAB_TOP_IDLE"
	maxPopulation = 5000
)

// idle waits for the parent's end.
func idle() {
	var b [1]byte
	for {
		if n, err := syscall.Read(0, b[:]); n == 0 || err != nil && !errors.Is(err, syscall.EINTR) {
			os.Exit(0)
		}
	}
}

func populate(n int) (p *population, err error) {
	p = &population{}
	if n == 0 {
		return p, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	p.alive = theirs
	for range n {
		cmd := exec.Command(exe)
		cmd.Stdin = ours
		// None of what the environment tells us: nobody is to record them.
		cmd.Env = []string{idleVariable + "=1", "GOMAXPROCS=1"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the parent
		if err := cmd.Start(); err != nil {
			p.end()
			return nil, fmt.Errorf("process %d of %d: %w", len(p.children)+1, n, err)
		}
		p.children = append(p.children, cmd)
	}
	return p, nil
}

// end ends them all and waits until they are gone.
func (p *population) end() {
	if p.alive != nil {
		p.alive.Close()
	}
	for _, c := range p.children {
		c.Wait()
	}
}
