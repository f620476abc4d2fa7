package cli

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/subject"
)

// subjectFlags say how a program is run that verify and tune measure, and where
// the result goes.
type subjectFlags struct {
	load, ready string
	ops         float64
	seed        uint64
	timeLimit   time.Duration
	out         string
	asJSON      bool
}

// flags declares them; result is what -o saves, asJSON what --json does.
func (f *subjectFlags) flags(cmd *cobra.Command, result, asJSON string) {
	flags := cmd.Flags()
	flags.StringVar(&f.load, "load", "", "run this `CMD` against the program: a load generator that ends")
	flags.StringVar(&f.ready, "ready", "", "wait for `WHAT` before the load: a URL, HOST:PORT or log:TEXT")
	flags.Float64Var(&f.ops, "ops", 0, "how many operations a run does, `N`, when nothing tells")
	flags.Uint64Var(&f.seed, "seed", 0, "of the random order, a `NUMBER` (default any)")
	flags.DurationVar(&f.timeLimit, "time-limit", 10*time.Minute, "end a run that takes longer than this `TIME`")
	flags.StringVarP(&f.out, "output", "o", "", "save the "+result+" with all its runs as JSON in this `FILE`")
	flags.BoolVar(&f.asJSON, "json", false, asJSON)
}

func (f *subjectFlags) check() error {
	switch {
	case f.ops < 0:
		return misused("--ops 1000", "--ops %g is negative", f.ops)
	case f.timeLimit <= 0:
		return misused("--time-limit 10m", "--time-limit %v is no time", f.timeLimit)
	}
	return nil
}

// mostSeed makes seeds that are easily typed again.
const mostSeed = 999_999

// order is the seed of the random order.
func (f *subjectFlags) order() uint64 { return cmp.Or(f.seed, 1+rand.Uint64N(mostSeed)) }

// spec is how the program is run, which is still to be named.
func (f *subjectFlags) spec(say *statusLine) (subject.Spec, error) {
	s := subject.Spec{Ready: f.ready, Ops: f.ops, Time: f.timeLimit, Log: say.log}
	var err error
	if f.load != "" {
		s.Load, err = subject.Split(f.load)
	}
	return s, err
}
