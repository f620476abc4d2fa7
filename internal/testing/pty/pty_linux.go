package pty

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Open opens a terminal of a width in columns and a height in lines.
func Open(width, height int) (*Terminal, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	t := &Terminal{Master: master}
	n := 0
	err = t.control(func(fd int) (err error) {
		if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
			n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		}
		return err
	})
	if err == nil {
		t.slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err == nil {
		err = t.Resize(width, height)
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// control leaves the file as the runtime opened it, so that closing it ends reads; the
// file's Fd would make it block.
func (t *Terminal) control(do func(fd int) error) error {
	c, err := t.Master.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := c.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// Resize changes the size, of which the program learns by SIGWINCH.
func (t *Terminal) Resize(width, height int) error {
	return t.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)})
	})
}

// Start starts a program with this as its controlling terminal.
func (t *Terminal) Start(c *exec.Cmd) error {
	c.Stdin, c.Stdout, c.Stderr = t.slave, t.slave, t.slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return c.Start()
}
