package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/know/model"
)

// An Offer offers load at a rate, in operations a second, for a time.
type Offer func(ctx context.Context, rate float64, d time.Duration) (Offered, error)

// Offered is what became of it.
type Offered struct {
	Rate   float64 `json:"rate"`   // asked for
	Sent   float64 `json:"sent"`   // per second, as far as the generator could
	Done   float64 `json:"done"`   // per second
	Failed float64 `json:"failed"` // share
	// Error is the most frequent failure, in words; empty without any.
	Error string        `json:"error,omitempty"`
	P50   time.Duration `json:"p50_ns"`
	P99   time.Duration `json:"p99_ns"`
	// Backlog is operations come due and not finished, over the time of the
	// offer; what happens to it afterwards does not belong here.
	Backlog model.Series `json:"-"`
	// Generator says why the generator itself was the limit; empty when not.
	Generator  string     `json:"generator,omitempty"`
	Conditions Conditions `json:"conditions"`
}

// A Limit is what ended a rate.
type Limit string

// The limits.
const (
	ByBacklog   Limit = "backlog"   // work came faster than it was done
	ByLatency   Limit = "latency"   // the 99th percentile left its bound
	ByErrors    Limit = "errors"    // more operations failed than are borne
	ByGenerator Limit = "generator" // the load could not be offered
)

// A CapacitySearch is what Capacity is to do.
type CapacitySearch struct {
	// Offer must leave the program as it was before: each call starts from rest.
	Offer     Offer
	From      float64       // first rate
	Most      float64       // never offer more; 0 means no limit
	Step      time.Duration // how long each rate is offered
	Tolerance float64       // of the bracket, ratio-1; 0 means 0.05
	P99       time.Duration // bound of the latency; 0 none
	Failed    float64       // share of failures that is borne
	Busy      Gate          // which steps say nothing; the zero Gate means DefaultGate
}

// A Step is one rate, offered once.
type Step struct {
	Offered
	// Limit is why the rate is not sustained; empty when it is.
	Limit Limit `json:"limit,omitempty"`
	// Growth is the slope of the backlog after the first quarter of the step,
	// operations a second for each second, with its 95% interval; nil when
	// there were too few points.
	Growth *Interval `json:"growth,omitempty"`
	// Dropped says why the step was not counted.
	Dropped string `json:"dropped,omitempty"`
}

// A CapacityResult is the greatest rate that is sustained: Low was, twice, and
// High was not, twice. Where there is no High, Low was offered once. It is saved
// as JSON.
type CapacityResult struct {
	Schema int `json:"schema"`
	// URL and Command are what load was offered to; whoever offered it fills
	// them in.
	URL     string   `json:"url,omitempty"`
	Command []string `json:"command,omitempty"`

	Low  float64 `json:"low"`  // 0 when no rate was sustained
	High float64 `json:"high"` // 0 when every rate was sustained, and when the generator was the limit
	// Limit is what happened at High; empty when nothing did up to Most.
	Limit     Limit         `json:"limit,omitempty"`
	Why       string        `json:"why"` // of the limit, in words
	Tolerance float64       `json:"tolerance"`
	Steps     []Step        `json:"steps"`
	Dropped   int           `json:"dropped"`
	Took      time.Duration `json:"took_ns"`
	Warnings  []string      `json:"warnings,omitempty"`
}

// CapacitySchema is the version of the JSON of a CapacityResult and a CapacityTable.
const CapacitySchema = 1

// Encode writes the result as JSON, with a first field that says what it is.
func (r *CapacityResult) Encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Kind string `json:"kind"`
		*CapacityResult
	}{"gowhy capacity", r})
}

// At returns the last step at a rate that counted and was or was not sustained; nil
// when there is none.
func (r *CapacityResult) At(rate float64, sustained bool) *Step {
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if s := &r.Steps[i]; s.Rate == rate && s.Dropped == "" && (s.Limit == "") == sustained {
			return s
		}
	}
	return nil
}

const (
	defaultTolerance = 0.05
	defaultStep      = 10 * time.Second
	// leastGrowth is the slope of the backlog, as a share of the rate, that
	// means anything. The interval of the slope takes the points for
	// independent, which those of a queue near its limit are not, so that it
	// excludes zero for a queue that only fluctuates; 0.5% less done than
	// offered is a tenth of the usual tolerance.
	leastGrowth = 0.005
	// settling is the share of a step at its start that says nothing: the queue
	// fills to its level.
	settling = 0.25
	// maxSteps bounds a search; from 1 to a million in doublings, and a bracket
	// of 1%, takes 30, each looked at twice at most on its way.
	maxSteps = 80
	// maxBusySteps is how many steps may be offered again because the machine
	// was busy, and maxBusyAgain how many of them in a row.
	maxBusySteps = 8
	maxBusyAgain = 2
	// leastShare is how far below the first rate a sustained one is looked for.
	leastShare = 1.0 / 1024
	// leastOps is how few operations a step may have: fewer show no backlog.
	leastOps = 10
)

// Limit says why the rate was not sustained, empty when it was, and how fast
// the backlog grew.
func (s *CapacitySearch) judge(o *Offered) (Limit, *Interval) {
	growth, grows := o.growth()
	switch {
	case o.Generator != "":
		return ByGenerator, growth
	case o.Failed > s.Failed:
		return ByErrors, growth
	case grows:
		return ByBacklog, growth
	case s.P99 > 0 && o.P99 > s.P99:
		return ByLatency, growth
	}
	return "", growth
}

// growth returns the slope of the backlog, and whether it is one that no program
// could go on with.
func (o *Offered) growth() (*Interval, bool) {
	settled := o.Backlog
	if n := len(settled); n > 0 {
		from := settled[0].At + time.Duration(settling*float64(settled[n-1].At-settled[0].At))
		for len(settled) > 0 && settled[0].At < from {
			settled = settled[1:]
		}
	}
	slope, low, high, ok := settled.Slope()
	if !ok {
		// What was done tells less of a short step: the queue's filling is in it.
		return nil, o.Done < 0.9*o.Rate
	}
	grows := low > 0 && slope > leastGrowth*o.Rate
	// A queue that is full from the first moment on has no slope any more.
	return &Interval{slope, low, high}, grows || o.Done < o.Rate/2
}

// Capacity raises the rate by doubling until it is not sustained, then halves
// the bracket on the log scale until it is as narrow as the tolerance.
//
// A rate counts as not sustained when that was seen twice, of three times at
// most: once may be a neighbour on the machine. The lower end of the final
// bracket is offered once more as well; when it is not sustained after all, the
// search goes on below it.
//
// progress is called before every step. When ctx is cancelled, the result has what there is
// and the error is the context's.
func Capacity(ctx context.Context, s CapacitySearch, progress func(step int, rate float64, bracket [2]float64)) (*CapacityResult, error) {
	if s.Offer == nil || !(s.From > 0) || math.IsInf(s.From, 0) || s.Most != 0 && s.Most < s.From {
		return nil, errors.New("a search of capacity needs a first rate above 0 and not above the greatest")
	}
	if s.Tolerance <= 0 {
		s.Tolerance = defaultTolerance
	}
	if s.Step <= 0 {
		s.Step = defaultStep
	}
	if s.Busy == (Gate{}) {
		s.Busy = DefaultGate
	}
	if progress == nil {
		progress = func(int, float64, [2]float64) {}
	}
	c := &climber{CapacitySearch: s, progress: progress, out: &CapacityResult{Schema: CapacitySchema, Tolerance: s.Tolerance}}
	begin := time.Now()
	err := c.climb(ctx)
	c.out.Took = time.Since(begin)
	c.conclude()
	return c.out, err
}

// A climber is a search of capacity under way.
type climber struct {
	CapacitySearch
	progress  func(step int, rate float64, bracket [2]float64)
	out       *CapacityResult
	sustained []float64 // rates, rising
}

// errStop ends a search that cannot go on; the result says why.
var errStop = errors.New("no further")

func (c *climber) climb(ctx context.Context) error {
	err := c.raise(ctx)
	for err == nil && c.out.High > 0 && c.out.Low > 0 {
		if c.out.High/c.out.Low > 1+c.Tolerance {
			err = c.try(ctx, math.Sqrt(c.out.Low*c.out.High))
			continue
		}
		confirmed, again := false, error(nil)
		if confirmed, again = c.confirm(ctx); confirmed || again != nil {
			err = again
			break
		}
	}
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// raise finds a bracket: upwards from the first rate, or downwards when that is
// too much already.
func (c *climber) raise(ctx context.Context) error {
	for rate := c.From; c.out.High == 0; rate *= 2 {
		last := c.Most > 0 && rate >= c.Most
		if last {
			rate = c.Most
		}
		if err := c.try(ctx, rate); err != nil {
			return err
		}
		if last && c.out.High == 0 {
			return errStop
		}
	}
	return c.fall(ctx)
}

// fall looks for a rate that is sustained below the bracket's upper end.
func (c *climber) fall(ctx context.Context) error {
	for c.out.Low == 0 {
		rate := c.out.High / 2
		if rate < c.From*leastShare || rate*c.Step.Seconds() < leastOps {
			return errStop
		}
		if err := c.try(ctx, rate); err != nil {
			return err
		}
	}
	return nil
}

// try moves one end of the bracket to a rate.
func (c *climber) try(ctx context.Context, rate float64) error {
	limit, err := c.decide(ctx, rate, 0)
	if err != nil {
		return err
	}
	switch limit {
	case "":
		c.out.Low = rate
		c.sustained = append(c.sustained, rate)
	case ByGenerator:
		c.out.High, c.out.Limit = 0, limit
		return errStop
	default:
		c.out.High, c.out.Limit = rate, limit
	}
	return nil
}

// confirm offers the lower end again. When it is not sustained after all, the
// bracket moves down.
func (c *climber) confirm(ctx context.Context) (bool, error) {
	limit, err := c.decide(ctx, c.out.Low, 1)
	switch {
	case err != nil:
		return false, err
	case limit == "":
		return true, nil
	case limit == ByGenerator:
		return true, nil // it could be offered before
	}
	c.out.High, c.out.Limit, c.out.Low = c.out.Low, limit, 0
	c.sustained = c.sustained[:len(c.sustained)-1]
	if n := len(c.sustained); n > 0 {
		c.out.Low = c.sustained[n-1]
		return false, nil
	}
	return false, c.fall(ctx)
}

// decide offers a rate until it was sustained once more than it failed before,
// or failed twice: sustained counts as many of the former there were already.
func (c *climber) decide(ctx context.Context, rate float64, sustained int) (Limit, error) {
	failed := 0
	for {
		limit, err := c.step(ctx, rate)
		switch {
		case err != nil:
			return "", err
		case limit == "":
			if failed == 0 || sustained == 1 {
				return "", nil
			}
			sustained++
		default:
			if failed++; failed == 2 {
				return limit, nil
			}
		}
	}
}

// step offers a rate, again while the machine is busy with something else.
func (c *climber) step(ctx context.Context, rate float64) (Limit, error) {
	for again := 0; ; again++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if len(c.out.Steps) >= maxSteps {
			c.warn(fmt.Sprintf("given up after %d steps: the program does not do the same twice", maxSteps))
			return "", errStop
		}
		c.progress(len(c.out.Steps), rate, [2]float64{c.out.Low, c.out.High})
		o, err := c.Offer(ctx, rate, c.Step)
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return "", err
		}
		o.Rate = rate
		s := Step{Offered: o}
		s.Limit, s.Growth = c.judge(&o)
		if why := c.Busy.busy(o.Conditions); why != "" && s.Limit != "" && again < maxBusyAgain && c.out.Dropped < maxBusySteps {
			// A busy machine can only make a rate fail that would be sustained.
			s.Dropped = why
			c.out.Dropped++
		}
		c.out.Steps = append(c.out.Steps, s)
		if s.Dropped == "" {
			return s.Limit, nil
		}
		if c.out.Dropped == maxBusySteps {
			c.warn("the machine was busy with other programs again and again: from then on every step counts, and the " +
				"capacity may be more than it seems")
		}
	}
}

func (c *climber) warn(text string) { c.out.Warnings = append(c.out.Warnings, text) }

// conclude says what the limit was.
func (c *climber) conclude() {
	r := c.out
	switch r.Limit {
	case "":
		r.Why = "no rate that was offered was too much"
	case ByGenerator:
		for i := range r.Steps {
			if g := r.Steps[i].Generator; g != "" {
				r.Why = "the generator of the load was the limit, not the program: " + g
			}
		}
	default:
		if s := r.At(r.High, false); s != nil {
			r.Why = c.explain(s)
		}
	}
}

func (c *climber) explain(s *Step) string {
	switch s.Limit {
	case ByErrors:
		why := figures.Percent(s.Failed) + " of the operations failed"
		if s.Error != "" {
			why += ": " + s.Error
		}
		return why
	case ByLatency:
		return fmt.Sprintf("the 99th percentile of latency was %s, its bound is %s", figures.Duration(s.P99), figures.Duration(c.P99))
	}
	if s.Growth == nil {
		return fmt.Sprintf("only %s of %s a second were done", figures.Number(s.Done), figures.Number(s.Rate))
	}
	if s.Growth.Low <= 0 {
		return fmt.Sprintf("only %s of %s a second were done, and the backlog was full from the start", figures.Number(s.Done), figures.Number(s.Rate))
	}
	return fmt.Sprintf("the backlog grew by %s operations each second (95%%: %s to %s)",
		figures.Number(s.Growth.Value), figures.Number(s.Growth.Low), figures.Number(s.Growth.High))
}
