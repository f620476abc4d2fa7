// Package parse reads the numbers that customers type into forms.
package parse

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// ErrEmpty is a field that nobody filled.
var ErrEmpty = errors.New("field is empty")

// A Traced error knows where it was made.
type Traced struct {
	Err    error
	Frames []string
}

func (t *Traced) Error() string { return t.Err.Error() }

// Unwrap is the error itself.
func (t *Traced) Unwrap() error { return t.Err }

func traced(err error) error {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	t := &Traced{Err: err}
	for {
		f, more := frames.Next()
		t.Frames = append(t.Frames, fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line))
		if !more {
			return t
		}
	}
}

// A Reader reads fields.
type Reader struct{ Trace bool }

func (r *Reader) fail(err error) error {
	if r.Trace {
		return traced(err)
	}
	return err
}

// Amount reads a sum of money in cents.
func (r *Reader) Amount(field string) (int, error) {
	field = strings.TrimSpace(field)
	if field == "" {
		return 0, r.fail(ErrEmpty)
	}
	whole, part, _ := strings.Cut(field, ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return 0, r.fail(err)
	}
	cents := 0
	if part != "" {
		if cents, err = strconv.Atoi(part); err != nil {
			return 0, r.fail(err)
		}
	}
	return n*100 + cents, nil
}

// Form adds up the fields of a form; those without a number count nothing.
func (r *Reader) Form(fields []string) (sum, empty int) {
	for _, f := range fields {
		n, err := r.Amount(f)
		if errors.Is(err, ErrEmpty) {
			empty++
		} else if err == nil {
			sum += n
		}
	}
	return sum, empty
}
