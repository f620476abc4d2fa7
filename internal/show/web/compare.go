package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/prove/compare"
)

// compare answers GET api/compare: two runs of the page, a saved result, or two.
func (v *View) compare(q url.Values) (any, error) {
	switch {
	case q.Has("trial") && q.Has("with"):
		return v.savedResults(q)
	case q.Has("trial"):
		return v.savedResult(q)
	}
	a, err := v.run(q, "a")
	if err != nil {
		return nil, err
	}
	b, err := v.run(q, "b")
	if err != nil {
		return nil, err
	}
	if a == b {
		return nil, problem.New(problem.Misuse, "choose another one for A or B", "a run compared with itself has not changed")
	}
	c, err := compare.Runs(a.side(), b.side())
	if errors.Is(err, compare.ErrUnlike) {
		return nil, problem.New(problem.Misuse, "two recordings, two profiles of one kind, or two outputs of go test -bench can be", "these two cannot be compared: %w", err)
	}
	return comparison(c, err)
}

// comparison returns what was compared, as the page gets it.
func comparison(c *compare.Comparison, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := c.Encode(&text); err != nil {
		return nil, err
	}
	return &Compare{Comparison: json.RawMessage(clipJSON(text.Bytes()))}, nil
}

func (v *View) side() compare.Reading {
	return compare.Reading{Name: name(v.Name), Model: v.Model, Diagnosis: v.Diagnosis, Command: shell.Words(v.Model.Run.Command)}
}

// savedResults compares two saved results of one kind.
func (v *View) savedResults(q url.Values) (any, error) {
	a, err := v.result(q, "trial")
	if err != nil {
		return nil, err
	}
	b, err := v.result(q, "with")
	if err != nil {
		return nil, err
	}
	const hint = "two results of gowhy verify can be, or two of gowhy tune, or two of gowhy capacity"
	switch {
	case sameIndex(q.Get("trial"), q.Get("with")):
		return nil, problem.New(problem.Misuse, "choose another one for A or B", "a result compared with itself has not changed")
	case a.Kind != b.Kind:
		return nil, problem.New(problem.Misuse, hint, "these two cannot be compared: A is a result of gowhy %s, B of gowhy %s", kindWord(a), kindWord(b))
	case a.Kind == "comparison":
		return nil, problem.New(problem.Misuse, hint, "two comparisons cannot be compared")
	}
	c, err := compare.Results(a.Saved, b.Saved)
	if errors.Is(err, compare.ErrUnlike) {
		return nil, problem.New(problem.Misuse, hint, "these two cannot be compared: %s", name(err.Error()))
	}
	return comparison(c, err)
}

// sameIndex reports whether two numbers that were read are one; none is the first.
func sameIndex(a, b string) bool {
	x, _ := strconv.Atoi(a)
	y, _ := strconv.Atoi(b)
	return x == y
}

// kindWord returns the command that made a result.
func kindWord(r *Result) string {
	if r.Kind == "comparison" {
		return "compare"
	}
	return r.Kind
}

// savedResult returns a result as the command that made it wrote it.
func (v *View) savedResult(q url.Values) (any, error) {
	r, err := v.result(q, "trial")
	if err != nil {
		return nil, err
	}
	switch c := new(Compare); r.Kind {
	case "verify":
		c.Trial = r.JSON
		return c, nil
	case "tune":
		c.Tune = r.JSON
		return c, nil
	case "capacity":
		c.Capacity = r.JSON
		return c, nil
	case "comparison":
		c.Comparison = r.JSON
		return c, nil
	}
	return nil, misuse("a result of kind %s cannot be shown", short(r.Kind))
}
