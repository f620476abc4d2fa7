// Package audit writes lines about actions.
package audit

import (
	"io"
	"os"
	"path/filepath"

	"auditlines/internal/actions"
)

// A Log writes lines.
type Log struct {
	out     io.Writer
	once    bool
	machine string
	line    []byte
	n       int
}

// New makes a log, which finds out about the machine once or for each line.
func New(w io.Writer, once bool) (*Log, error) {
	l := &Log{out: w, once: once}
	var err error
	l.machine, err = describe()
	return l, err
}

// describe is the name of the machine and of the program.
func describe() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	if target, err := filepath.EvalSymlinks(program); err == nil {
		program = target
	}
	return host + "/" + filepath.Base(program), nil
}

// Write writes a line about an action.
func (l *Log) Write(a actions.Action) error {
	machine := l.machine
	if !l.once {
		var err error
		if machine, err = describe(); err != nil {
			return err
		}
	}
	b := append(l.line[:0], machine...)
	for _, part := range []string{a.Who, a.What, a.Object} {
		b = append(append(b, '\t'), part...)
	}
	l.line = append(b, '\n')
	n, err := l.out.Write(l.line)
	l.n += n
	return err
}

// Bytes is how much was written.
func (l *Log) Bytes() int { return l.n }
