package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/prove/gate"
	"github.com/gowhy/gowhy/internal/show/trialreport"
)

// defaultPolicy is the file that gate reads and --init writes.
const defaultPolicy = "gate.yaml"

// gateOptions are the flags of gate.
type gateOptions struct {
	policy, base, format, out string
	limit                     time.Duration
	init                      bool
}

func (c *command) gateCommand() *cobra.Command {
	o := &gateOptions{}
	cmd := &cobra.Command{
		Use:   "gate [RESULT.json]",
		Short: "Hold a change to the limits of a policy, for CI",
		Long: `Builds the packages that a policy names on the base revision and on the working
tree, runs their benchmarks or a command, and holds metrics to limits. Counters
like allocs/op come first: they resolve a percent on a noisy machine. Time fails
only when it is worse by more than its limit and than the machine's noise, and
significantly so. Whatever fails was measured twice.

The base is where HEAD left the default branch; on that branch HEAD while files
are modified, and HEAD~1 otherwise. Packages are relative to the policy's
directory. Both revisions run with the files of the working tree.

Exit codes: 0 passed, 4 regressed, 5 inconclusive where the policy says
"inconclusive: fail" (else that passes, with a note). A result saved with
--format json can be given instead and is shown again in any format.`,
		Example: `  gowhy gate --init                        # write gate.yaml to begin with
  gowhy gate
  gowhy gate --base v1.2.0
  gowhy gate --format json -o gate.json
  gowhy gate gate.json --format markdown -o comment.md
  gowhy gate gate.json --format github     # annotations of a pull request`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("gowhy gate gate.json", "one result at a time, %d were given; a policy goes behind -f", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.gate(cmd.Context(), args, o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.policy, "file", "f", defaultPolicy, "the policy `FILE`")
	f.StringVar(&o.base, "base", "", "compare with this `REVISION`")
	f.StringVar(&o.format, "format", "text", "`FORMAT`: "+strings.Join(trialreport.GateFormatNames(), ", "))
	f.StringVarP(&o.out, "output", "o", "", "write to this `FILE`")
	f.DurationVar(&o.limit, "time-limit", 0, "the most `TIME` for all checks (default the policy's, or 30m)")
	f.BoolVar(&o.init, "init", false, "write a policy to begin with")
	complete(cmd, "format", trialreport.GateFormatNames())
	return cmd
}

func (c *command) gate(ctx context.Context, args []string, o *gateOptions) error {
	if err := oneOf("format", o.format, trialreport.GateFormatNames()); err != nil {
		return err
	}
	if o.limit < 0 {
		return usageError("--time-limit 20m", "--time-limit %v is negative", o.limit)
	}
	if o.init {
		return c.gateInit(args, o)
	}
	if err := checkOutput(o.out); err != nil {
		return err
	}
	var r *gate.Result
	var err error
	if len(args) == 1 {
		r, err = savedGate(args[0])
	} else {
		r, err = c.runGate(ctx, o)
	}
	if err != nil {
		return err
	}
	return c.writeJudged(o.out, func(w io.Writer, l layout.Options) error { return trialreport.GateFormats[o.format](w, r, l) }, func() error {
		return verdictCode(r.Verdict == gate.Regressed, r.Verdict == gate.Inconclusive)
	})
}

// writeJudged writes a result and then returns what it means for the exit code,
// also when whoever reads it has seen enough.
func (c *command) writeJudged(out string, write func(io.Writer, layout.Options) error, code func() error) error {
	err := c.output(out, write)
	if err != nil && !isClosedPipe(err) {
		return err
	}
	return cmp.Or(code(), err)
}

// verdictCode returns the exit code of a gate.
func verdictCode(regressed, unsure bool) error {
	switch {
	case regressed:
		return &exit{code: exitRegression}
	case unsure:
		return &exit{code: exitInconclusive}
	}
	return nil
}

// gateInit writes a starting policy, and never over one that is there.
func (c *command) gateInit(args []string, o *gateOptions) error {
	if len(args) > 0 {
		return usageError("gowhy gate --init -f "+shell.Words(args[:1]), "--init takes no argument")
	}
	text, err := gate.Starter(filepath.Dir(o.policy))
	if err != nil {
		return err
	}
	f, err := os.OpenFile(o.policy, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return usageError("gowhy gate --init -f other.yaml", "%q is there already", o.policy)
	}
	if err != nil {
		return problem.New(problem.Failure, "choose another file with -f", "cannot write %q: %v", o.policy, problem.Cause(err))
	}
	if _, err = f.Write(text); err == nil {
		err = f.Close()
	} else {
		f.Close()
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "wrote %s; look at its limits, then: gowhy gate\n", layout.Safe(o.policy))
	return err
}

// savedGate reads the result of a gate.
func savedGate(file string) (*gate.Result, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, problem.New(problem.Absence, "gowhy gate --format json -o gate.json", "cannot read %q: %v", file, problem.Cause(err))
	}
	defer f.Close()
	r, err := gate.Decode(f)
	if err != nil {
		return nil, problem.New(problem.Absence, "gowhy gate --format json -o gate.json   # the policy goes behind -f", "%q: %v", file, err)
	}
	return r, nil
}

func (c *command) runGate(ctx context.Context, o *gateOptions) (*gate.Result, error) {
	p, err := readPolicy(o.policy)
	if err != nil {
		return nil, err
	}
	line := c.statusLine()
	defer line.Clear()
	return gate.Run(ctx, p, gate.Options{Dir: filepath.Dir(o.policy), Base: o.base, TimeLimit: o.limit, Progress: gateProgress(line)})
}

// gateProgress tells what a gate does: on a terminal in one line, in a log in a line
// for each thing begun, for a job that is silent for minutes looks like one that
// hangs.
func gateProgress(line *statusLine) func(gate.Progress) {
	var mu sync.Mutex
	last := ""
	return func(p gate.Progress) {
		mu.Lock()
		defer mu.Unlock()
		name := p.Name
		if strings.Trim(name, "./") == "" {
			name = "package " + name // dots alone are no name
		}
		what := fmt.Sprintf("check %d of %d, %s: %s", p.Check, p.Of, name, p.What)
		if !line.tty && what != last {
			fmt.Fprintln(line.w, layout.Safe(what))
		}
		last = what
		if p.Detail != "" {
			what += ", " + p.Detail
		}
		line.Set("%s", what)
	}
}
