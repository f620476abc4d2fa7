// Package load offers load: operations of a [Protocol], at a rate or in a closed
// loop, each latency counted from when the operation was due.
//
// It hides how load is offered on time: planned arrivals, a pool of connections
// that grows, sleeping to the microsecond, and how it is noticed that the
// generator itself was the limit. [Offer] gives what it measured as a
// [loadresult.Result].
//
// It connects to its target and nothing else: it follows no redirect and asks no proxy, and
// it floods no name server but one of this machine.
package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// Options are what Offer is to do. Protocol is needed, and Rate, Stages or
// Closed.
type Options struct {
	Protocol Protocol

	// Rate is how many operations are begun a second, for Duration. Stages, when
	// there are any, say it piece by piece instead.
	Rate     float64
	Duration time.Duration
	Stages   []Stage
	// Count ends the load after this number of operations, if it does not end before; 0 does
	// not. Those of the warm-up do not count.
	Count int64
	// Poisson lets operations arrive as independent users would, at random
	// distances; else they arrive evenly. Seed makes them arrive the same again.
	Poisson bool
	Seed    uint64
	// Closed begins an operation when another has ended, on each of the
	// Connections: the rate is the program's own. A stall of the program then
	// stops the load too, and latencies look better than users see them.
	Closed bool

	// Warmup goes before all that: load at the first rate that is not counted.
	Warmup time.Duration
	// Timeout is how long an operation waits for its answer once it was sent;
	// 0 means 10 s.
	Timeout time.Duration
	// Connections is the largest number open at a time: more are opened while operations wait
	// and none is free. 0 means what the protocol's Limits say.
	Connections int
	// Depth is how many operations are under way on a connection at most; with
	// more than 1 all connections are opened at once. 0 means what the protocol's
	// Limits say, and 1 in a closed loop.
	Depth int

	// Progress is called with how far it is some times a second; nil is not.
	Progress func(Progress)

	sleep func(context.Context, time.Duration) // for tests
}

// A Stage is a piece of a plan in which the rate goes evenly from one to
// another.
type Stage struct {
	From, To float64 // operations a second
	For      time.Duration
}

// Progress is how far an offered load is.
type Progress struct {
	At, Of  time.Duration // since the start, of the plan; negative At is warm-up; Of is 0 when it is not known
	Sent    int64         // operations begun
	Done    int64         // finished, failed ones included
	Failed  int64
	Backlog int64         // come due and not finished
	Rate    float64       // finished a second, lately
	P99     time.Duration // lately; 0 when nothing finished
}

const (
	defaultTimeout = 10 * time.Second
	maxConnections = 65_000 // about as many as one address has ports
	maxRate        = 10e6   // operations a second; beyond any generator
)

// check fills in what was left out and refuses what cannot be.
func (o *Options) check() error {
	if o.Protocol == nil {
		return errors.New("no protocol to offer load with")
	}
	o.fill()
	most := o.Protocol.Limits().Depth
	switch {
	case o.Timeout < 0 || o.Warmup < 0 || o.Count < 0 || o.Duration < 0:
		return errors.New("times and counts of a load cannot be negative")
	case o.Connections < 1 || o.Connections > maxConnections:
		return fmt.Errorf("%d connections cannot be opened: 1 to %d", o.Connections, maxConnections)
	case o.Depth < 1 || o.Depth > most:
		return fmt.Errorf("%v can have 1 to %d operations under way on a connection, not %d", o.Protocol, most, o.Depth)
	case o.Closed && o.Duration == 0 && o.Count == 0:
		return errors.New("a closed loop needs a duration or a number of operations")
	case o.Closed:
		return nil
	}
	return o.checkStages()
}

func (o *Options) fill() {
	limits := o.Protocol.Limits()
	if o.Connections == 0 {
		o.Connections = limits.Connections
	}
	if o.Depth == 0 {
		o.Depth = limits.Depth
		if o.Closed {
			o.Depth = 1
		}
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if len(o.Stages) == 0 && o.Rate > 0 {
		d := o.Duration
		if d == 0 {
			d = time.Duration(min(math.Ceil(float64(o.Count)/o.Rate*1e9), math.MaxInt64/2))
		}
		o.Stages = []Stage{{o.Rate, o.Rate, d}}
	}
}

func (o *Options) checkStages() error {
	sum := 0.0
	for _, s := range o.Stages {
		if !(s.From >= 0 && s.From <= maxRate && s.To >= 0 && s.To <= maxRate) || s.For <= 0 {
			return fmt.Errorf("%g to %g operations a second for %v cannot be offered", s.From, s.To, s.For)
		}
		sum += (s.From + s.To) / 2 * s.For.Seconds()
	}
	if !(sum > 0.5) {
		return errors.New("the rate and the duration plan not a single operation")
	}
	return nil
}

// Offer offers load and measures what becomes of it. When ctx is cancelled it
// ends at once, and the result has what there is beside the context's error.
// The error is otherwise of the options, or of the first connection when none
// could be made because the protocol refuses its own settings.
func Offer(ctx context.Context, o Options) (*loadresult.Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return newRun(o).offer(ctx)
}

// words say how operations are planned.
func (o *Options) words() string {
	if o.Closed {
		return fmt.Sprintf("closed loop of %s", loadresult.Number(float64(o.Connections*o.Depth)))
	}
	how := "evenly"
	if o.Poisson {
		how = "at random (Poisson)"
	}
	return "open loop, arriving " + how + ", " + StagesText(o.Stages)
}

// ParseRate reads a rate as people write it: "500" a second, "100..5000" for
// one that rises evenly, "100,200,400" for steps of the same length; d is for
// all of them together.
func ParseRate(text string, d time.Duration) ([]Stage, error) {
	parts := strings.Split(text, ",")
	if len(parts) > maxStages {
		return nil, fmt.Errorf("more than %d steps", maxStages)
	}
	var stages []Stage
	most := 0.0
	for i, part := range parts {
		from, to, ramp := strings.Cut(part, "..")
		if !ramp {
			to = from
		}
		a, err1 := strconv.ParseFloat(strings.TrimSpace(from), 64)
		b, err2 := strconv.ParseFloat(strings.TrimSpace(to), 64)
		if err1 != nil || err2 != nil || !(a >= 0 && a <= maxRate && b >= 0 && b <= maxRate) {
			return nil, fmt.Errorf("%q is no rate: operations a second, or like 100..5000, up to %.0f", part, maxRate)
		}
		most = max(most, a, b)
		n := time.Duration(len(parts))
		stages = append(stages, Stage{a, b, d*time.Duration(i+1)/n - d*time.Duration(i)/n})
	}
	if most == 0 {
		return nil, fmt.Errorf("%q: the rate must be above 0", text)
	}
	return stages, nil
}

const maxStages = 1000

// StagesText writes a plan as ParseRate reads it.
func StagesText(stages []Stage) string {
	var parts []string
	for i, s := range stages {
		if i == 8 {
			parts = append(parts, "…")
			break
		}
		text := loadresult.Number(s.From)
		if s.To != s.From {
			text += ".." + loadresult.Number(s.To)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",") + "/s"
}
