// Package problem is an error that somebody can do something about.
//
// It hides how an error is told apart from others by what the reader did, so
// that a command can exit with the right code, and a page say it in its own way,
// wherever it came from. [New] makes an [Error]; [Is] asks for its [Kind].
//
// problem prints nothing and knows neither exit codes nor statuses of HTTP.
package problem

import (
	"errors"
	"fmt"
	"io/fs"
)

// A Kind is whose fault an error is.
type Kind int

const (
	Failure   Kind = iota // something did not work
	Misuse                // it was asked for what cannot be, like two traces
	Absence               // what is needed is not there: no such file, nothing recorded
	Interrupt             // a signal ended it
)

// An Error is what is wrong, with what to do about it.
type Error struct {
	Kind Kind
	What string
	Hint string // a command to paste, or a sentence; may be empty
	Err  error  // the cause; may be nil
}

func (e *Error) Error() string { return e.What }
func (e *Error) Unwrap() error { return e.Err }

// New returns an error whose words are formatted as by [fmt.Errorf]: what %w
// stands for is the cause.
func New(kind Kind, hint, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{kind, err.Error(), hint, errors.Unwrap(err)}
}

// Cause returns an error without the operation and the path it names.
func Cause(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) {
		return file.Err
	}
	return err
}

// Is reports whether an error is, or wraps, an [Error] of a kind.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}
