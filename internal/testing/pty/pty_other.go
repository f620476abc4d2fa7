//go:build !linux

package pty

import (
	"errors"
	"os/exec"
)

// Open opens no terminal here.
func Open(int, int) (*Terminal, error) { return nil, errors.ErrUnsupported }

// Resize changes the size of none.
func (*Terminal) Resize(int, int) error { return errors.ErrUnsupported }

// Start starts nothing.
func (*Terminal) Start(*exec.Cmd) error { return errors.ErrUnsupported }
