package cli

import (
	"cmp"
	"io"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/prove/trial"
)

// resultFlags say where a result goes and in which form.
type resultFlags struct {
	out    string
	asJSON bool
}

// flags declares them; out is what -o does, asJSON what --json does.
func (f *resultFlags) flags(cmd *cobra.Command, out, asJSON string) {
	cmd.Flags().StringVarP(&f.out, "output", "o", "", out)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, asJSON)
}

// result writes a result as JSON to a file, if there is one, and shows it.
func (c *command) result(f *resultFlags, encode func(io.Writer) error, text func(io.Writer, layout.Options) error) error {
	inJSON := func(w io.Writer, _ layout.Options) error { return encode(w) }
	if f.out != "" {
		if err := c.output(f.out, inJSON); err != nil || f.out == "-" {
			return err
		}
	}
	if f.asJSON {
		return c.output("", inJSON)
	}
	return c.output("", text)
}

// workFlags are the flags of verify and tune that do not say how the program is
// run: those are a [trial.Work].
type workFlags struct {
	seed uint64
	resultFlags
}

// flags declares both; result is what -o saves, asJSON what --json does.
func (f *workFlags) flags(cmd *cobra.Command, w *trial.Work, result, asJSON string) {
	flags := cmd.Flags()
	flags.StringVar(&w.Load, "load", "", "run this `CMD` against the program: a load generator that ends")
	flags.StringVar(&w.Ready, "ready", "", "wait for `WHAT` before the load: a URL, HOST:PORT or log:TEXT")
	flags.Float64Var(&w.Ops, "ops", 0, "`N` operations of each run, if its output does not tell")
	flags.Uint64Var(&f.seed, "seed", 0, "seed `N` of the random order (default any)")
	flags.DurationVar(&w.Time, "time-limit", 10*time.Minute, "end a run that takes longer than this `TIME`")
	f.resultFlags.flags(cmd, "save the "+result+" with all its runs as JSON in this `FILE`", asJSON)
}

func (f *workFlags) check(w *trial.Work) error {
	switch {
	case w.Ops < 0:
		return usageError("--ops 1000", "--ops %g is negative", w.Ops)
	case w.Time <= 0:
		return usageError("--time-limit 10m", "--time-limit %v is no time", w.Time)
	}
	return nil
}

// mostSeed makes seeds that are easily typed again.
const mostSeed = 999_999

// order returns the seed of the random order.
func (f *workFlags) order() uint64 { return cmp.Or(f.seed, 1+rand.Uint64N(mostSeed)) }

// atDash returns the arguments before and after --.
func atDash(cmd *cobra.Command, args []string) (files, command []string) {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}
