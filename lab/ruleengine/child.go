package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A child is this program once more, in another mode. It ends when its standard
// input does, so also when this one is killed.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ready string // what it said behind "ready"
	ended chan struct{}
	err   error // how it ended, after ended
}

// start starts a child. One that will be ready says so in its first line.
func start(args []string, ready bool) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(program, append(args, "-until-eof")...), ended: make(chan struct{})}
	c.cmd.Stderr = os.Stderr
	c.cmd.Env = slices.DeleteFunc(os.Environ(), isDebug)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the terminal is for this one, which ends the others in order
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if ready {
		line, _ := bufio.NewReader(out).ReadString('\n') // without one, it has ended
		c.ready = strings.TrimSpace(strings.TrimPrefix(line, "ready"))
	}
	go c.watch()
	if ready && c.ready == "" {
		return nil, errors.Join(fmt.Errorf("%s did not become ready", strings.Join(args[:2], " ")), c.stop())
	}
	return c, nil
}

func (c *child) watch() {
	c.err = c.cmd.Wait()
	close(c.ended)
}

// isDebug tells the variable that makes a runtime print what it does: that was
// asked of this process alone.
func isDebug(variable string) bool { return strings.HasPrefix(variable, "GODEBUG=") }

// wait waits until it has ended by itself.
func (c *child) wait() error {
	<-c.ended
	c.stdin.Close()
	return c.err
}

// stop ends it.
func (c *child) stop() error {
	c.stdin.Close()
	late := time.AfterFunc(20*time.Second, func() { _ = c.cmd.Process.Kill() }) // it may have ended just now
	defer late.Stop()
	<-c.ended
	return c.err
}
