package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"

	"github.com/gowhy/gowhy/internal/compare"
	"github.com/gowhy/gowhy/internal/report"
)

// compare answers GET api/compare: two runs of the page, or a saved result.
func (v *View) compare(q url.Values) (any, error) {
	if q.Has("trial") {
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
		return nil, &Problem{What: "a run compared with itself has not changed", Hint: "choose another one for A or B"}
	}
	c, err := compare.Runs(a.side(), b.side())
	if errors.Is(err, compare.ErrUnlike) {
		return nil, &Problem{What: "these two cannot be compared: " + err.Error(), Hint: "two recordings, two profiles of one kind, or two outputs of go test -bench can be"}
	}
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := c.Encode(&text); err != nil {
		return nil, err
	}
	return &Compare{Comparison: json.RawMessage(clipJSON(text.Bytes()))}, nil
}

func (v *View) side() compare.Run {
	return compare.Run{Name: name(v.Name), Model: v.Model, Diagnosis: v.Diagnosis, Command: report.Words(v.Model.Run.Command)}
}

// savedResult is a result as the command that made it wrote it.
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
	return nil, wrong("a result of kind %s cannot be shown", short(r.Kind))
}
