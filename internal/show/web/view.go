package web

import (
	"encoding/json"
	"io"
	"iter"
	"net/url"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/internal/draw/export"
	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/compare"
)

// A View is one run that is open. Nobody changes it, or what it holds, once it
// was handed to a [Server]: requests are answered at the same time.
type View struct {
	Name      string
	Model     *model.Model         // frozen
	Diagnosis *diagnosis.Diagnosis // fresh: Finding.Groups and Stacks are set
	Timeline  *timeline.Timeline   // nil without a trace
	Members   []Member             // what was recorded; Get is filled by the server
	Tools     []Tool               // other viewers; Path is filled by the server
	// Fetch opens a member as it was recorded; nil when none can be had.
	Fetch func(member string) (io.ReadCloser, error)
	// Slices are single runs of the trace, for exports; nil without a trace.
	Slices iter.Seq[export.Slice]

	page     *page    // that it is part of; set by who opens it
	mutators mutators // see mmuCurve
}

// A Result is a saved result of verify, tune, capacity or compare.
type Result struct {
	Trial
	// JSON is what the command wrote with --json, decoded and encoded again: its
	// reader has checked it.
	JSON json.RawMessage
	// Saved is what it is compared with others by; empty for a comparison.
	Saved compare.SavedResult
}

// A statusError is an error whose answer has a status of HTTP of its own.
type statusError struct {
	status int
	error
}

func (e *statusError) Unwrap() error { return e.error }

func refuse(status int, hint, format string, args ...any) error {
	return &statusError{status, problem.New(problem.Failure, hint, format, args...)}
}

// misuse returns the error for a question that cannot be meant.
func misuse(format string, args ...any) error {
	return problem.New(problem.Misuse, "", format, args...)
}

// missing returns a question about what is not there.
func missing(what, hint string) error { return problem.New(problem.Absence, hint, "%s", what) }

// noTrace returns the answer of everything that only a trace can tell.
func (v *View) noTrace() error {
	return missing("this run has no execution trace", diagnosis.HowToGet(&v.Model.Run, model.Trace))
}

// integer reads a parameter, def when it is absent. A number outside of min and
// max is a mistake of the page, and is said to be one.
func integer(q url.Values, name string, def, min, max int64) (int64, error) {
	s := q.Get(name)
	if s == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < min || n > max {
		return 0, misuse("%s=%s is no whole number between %d and %d", name, short(s), min, max)
	}
	return n, nil
}

// A window is a piece of the run; that of no length is all of it.
type window struct{ from, to time.Duration }

func (w window) whole() bool { return w.to <= w.from }

// meets reports whether anything of a stretch is in the window.
func (w window) meets(from, to time.Duration) bool {
	return w.whole() || to >= w.from && from <= w.to
}

// windowParam reads the window of a question, from= and to=. Without both it is all
// of the run, which ends at end.
func windowParam(q url.Values, end time.Duration) (w window, err error) {
	if !q.Has("from") && !q.Has("to") {
		return w, nil
	}
	from, err := integer(q, "from", 0, 0, maxTime)
	if err != nil {
		return w, err
	}
	to, err := integer(q, "to", int64(end), 0, maxTime)
	if err != nil {
		return w, err
	}
	if to <= from {
		return w, misuse("the window from %d to %d has no length", from, to)
	}
	return window{time.Duration(from), time.Duration(to)}, nil
}

// maxTime is a time in nanoseconds beyond any run, with which can be reckoned.
const maxTime = 1 << 62

func (v *View) duration() time.Duration { return v.Model.Run.Duration }

// maxName is how much of a name is sent: a recording may hold one of any length.
const maxName = 4 << 10

// name cuts a name of the recording to what is sent. It is sent raw otherwise:
// JSON escapes it, and the page shows it as text.
func name(s string) string {
	if len(s) <= maxName {
		return s
	}
	cut := maxName
	for cut > maxName-4 && s[cut]&0xc0 == 0x80 { // not inside a character
		cut--
	}
	return s[:cut] + "…"
}

// short is for messages.
func short(s string) string {
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return strconv.Quote(s)
}
