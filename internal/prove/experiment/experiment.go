// Package experiment decides by measurement: whether a change helps, which
// setting is best, how much a program can bear.
//
// It hides the statistics and the order of runs: which arm goes next, when
// there are enough rounds, which rounds do not count because the machine was
// busy, how sure a verdict is when it was looked at several times and through
// several metrics. Its functions are [Verify], [Tune] and [Capacity]; they are
// given functions that run the program once and do not know how.
//
// experiment starts no process, reads no file and never prints. The verdict of
// a trial is computed from its rounds alone: a saved one gives the same.
package experiment

import (
	"context"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A Runner runs one arm once, from start to end, and says what was measured.
type Runner func(ctx context.Context) (Sample, error)

// A Sample is what one run measured.
type Sample struct {
	// Values are by metric; one that was not measured is absent.
	Values map[diagnosis.Metric]float64 `json:"values"`
	// Ops is how many operations the run did; 0 when it is not known, and the
	// whole run is then one.
	Ops        float64       `json:"ops,omitempty"`
	Begin      time.Time     `json:"begin"`
	Elapsed    time.Duration `json:"elapsed_ns"`
	Conditions Conditions    `json:"conditions"`
	// Warnings are what was odd in words for the user, like a load generator at
	// its limit.
	Warnings []string `json:"warnings,omitempty"`
}

// Conditions are how busy the machine was during a run. Shares are of all
// CPUs' time, 0 to 1, and NaN-free: what was not measured is negative.
type Conditions struct {
	Others   float64 `json:"others"`   // used by processes that belong to neither the program nor its load nor gowhy
	Steal    float64 `json:"steal"`    // taken by the hypervisor
	Pressure float64 `json:"pressure"` // of the time, in which a task of anybody waited for a CPU (PSI "some")
	RunQueue float64 `json:"runqueue"` // seconds that the program's threads were ready and waited, for each second of CPU
}
