package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/compare"
	"github.com/gowhy/gowhy/internal/prove/gate"
	"github.com/gowhy/gowhy/internal/show/intake"
	"github.com/gowhy/gowhy/internal/show/trialreport"
)

// compareTop is how many functions a table has when nobody asked for more.
const compareTop = 12

// compareOptions are the flags of compare.
type compareOptions struct {
	format, policy, out string
	top                 int
	gate                bool
	reading             readOptions
}

func (c *command) compareCommand() *cobra.Command {
	o := &compareOptions{}
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Say what changed between two recordings, benchmarks or results",
		Long: `Compares two of a kind: recordings, traces, profiles, goroutine dumps, heaps by
what is in use, lines of gctrace or schedtrace, results of load tests, saved
diagnoses. The first line says what changed most, and failures before it. Then
come findings, ledgers side by side, profiles and waits by function, per
operation where operations are known. Of two outputs of go test -bench it
compares medians with intervals and tests. Of two results of one kind that
verify, tune or capacity saved it says whether what they found differs by more
than their noise. What the files are is known by their content.

A difference of two single runs is no verdict; gowhy verify gives one. With
--gate the exit code is 4 when something regressed beyond its limit, and 5 when
a limit was exceeded and it is not certain.`,
		Example: `  gowhy compare old.gowhy new.gowhy
  gowhy compare old.txt new.txt            # of go test -bench . -count 10
  gowhy compare old.txt new.txt --gate     # exit code 4: regressed
  gowhy compare before.pprof after.pprof --top 30
  gowhy compare trial1.json trial2.json    # of verify, tune or capacity`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError("gowhy compare old.gowhy new.gowhy", "compare needs two files, %d %s given", len(args), wasWere(len(args)))
			}
			if args[0] == "-" && args[1] == "-" {
				return usageError("gowhy compare old.gowhy -", "only one of the two can be standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.compare(cmd.Context(), args[0], args[1], o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.gate, "gate", false, "exit with 4 when something regressed, 5 when that is not certain")
	f.StringVarP(&o.policy, "file", "f", "", "take the limits for --gate from this policy `FILE`")
	f.StringVar(&o.format, "format", "text", "`FORMAT`: "+strings.Join(trialreport.ComparisonFormatNames(), ", "))
	f.IntVar(&o.top, "top", compareTop, "show this many `ROWS` of each profile; 0 is all")
	f.StringVarP(&o.out, "output", "o", "", "write to this `FILE`")
	o.reading.flags(cmd)
	complete(cmd, "format", trialreport.ComparisonFormatNames())
	return cmd
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func (c *command) compare(ctx context.Context, a, b string, o *compareOptions) error {
	if err := oneOf("format", o.format, trialreport.ComparisonFormatNames()); err != nil {
		return err
	}
	if o.top < 0 {
		return usageError("--top 20", "--top %d is negative", o.top)
	}
	if err := checkOutput(o.out); err != nil {
		return err
	}
	limits, unsureFails, err := compareLimits(o)
	if err != nil {
		return err
	}
	result, err := c.compared(ctx, a, b, o)
	if errors.Is(err, compare.ErrUnlike) {
		const kinds = "give two files of one kind: recordings, profiles, goroutine dumps, outputs of go test -bench, results of gowhy verify"
		return problem.New(problem.Absence, kinds, "%q and %q cannot be compared: %v", a, b, err)
	}
	if err != nil {
		return err
	}
	return c.writeJudged(o.out, func(w io.Writer, l layout.Options) error {
		return trialreport.ComparisonFormats[o.format](w, result, trialreport.ComparisonOptions{Options: l, Top: o.top})
	}, func() error {
		if !o.gate {
			return nil
		}
		return c.judged(result.Judge(limits), unsureFails)
	})
}

// compareLimits returns those of the policy, or the usual ones.
func compareLimits(o *compareOptions) (limits compare.Limits, unsureFails bool, err error) {
	if o.policy == "" {
		return compare.DefaultLimits, true, nil
	}
	if !o.gate {
		return nil, false, usageError("add --gate", "-f has the limits of --gate, which is not given")
	}
	p, err := readPolicy(o.policy)
	if err != nil {
		return nil, false, err
	}
	return p.Ratios(), p.InconclusiveFails, nil
}

// judged turns a judgement into words and the exit code.
func (c *command) judged(j compare.Judgement, unsureFails bool) error {
	if j.Verdict == compare.Same {
		return nil
	}
	passes := ""
	if j.Verdict == compare.Inconclusive && !unsureFails {
		passes = ", which passes here"
	}
	fmt.Fprintf(c.Stderr, "gate: %s%s\n", j.Verdict, passes)
	for _, why := range j.Why {
		fmt.Fprintf(c.Stderr, "  %s\n", layout.Safe(why))
	}
	return verdictCode(j.Verdict == compare.Regressed, unsureFails)
}

// compared reads both sides and compares them.
func (c *command) compared(ctx context.Context, a, b string, o *compareOptions) (*compare.Comparison, error) {
	nameA, nameB := sideNames(a, b)
	result, ok, err := intake.Compare(a, nameA, b, nameB)
	if !ok {
		result, err = c.comparedRuns(ctx, a, nameA, b, nameB, o)
	}
	if err == nil && sameFile(a, b) {
		result.Warnings = append([]string{"A and B are the same file"}, result.Warnings...)
	}
	return result, err
}

func (c *command) comparedRuns(ctx context.Context, a, nameA, b, nameB string, o *compareOptions) (*compare.Comparison, error) {
	ra, err := c.compareRun(ctx, nameA, a, o.reading)
	if err != nil {
		return nil, err
	}
	rb, err := c.compareRun(ctx, nameB, b, o.reading)
	if err != nil {
		return nil, err
	}
	result, err := compare.Runs(ra, rb)
	if errors.Is(err, compare.ErrUnlike) {
		x, y := kindsOf(ra.Model), kindsOf(rb.Model)
		if x == y {
			return nil, &compare.Unlike{Why: "both hold " + x + ", and nothing in them has the same name"}
		}
		return nil, &compare.Unlike{Why: fmt.Sprintf("the first holds %s, the second %s", x, y)}
	}
	return result, err
}

// sideNames returns the names of two files, with their directories where only these
// tell them apart.
func sideNames(a, b string) (string, string) {
	x, y := filepath.Base(a), filepath.Base(b)
	if x == y {
		return a, b
	}
	return x, y
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// kindsOf says what a file turned out to be.
func kindsOf(m *model.Model) string {
	switch {
	case m.Load != nil && len(m.Load.Benchmarks) > 0:
		return "benchmarks"
	case m.Sched != nil:
		return "a trace or a recording"
	case m.CPU != nil:
		return "a CPU profile"
	case m.Heap != nil || m.LiveHeap.End != nil:
		return "a heap profile"
	case m.Load != nil:
		return "the result of a load test"
	case m.Goroutines.End != nil:
		return "goroutines"
	case m.Mutex != nil:
		return "a mutex profile"
	case m.Block != nil:
		return "a block profile"
	case len(m.GCLog) > 0:
		return "lines of gctrace"
	case len(m.SchedLog) > 0:
		return "lines of schedtrace"
	case m.ThreadCreate != nil:
		return "a threadcreate profile"
	}
	return "evidence of another kind"
}

func (c *command) compareRun(ctx context.Context, name, file string, o readOptions) (compare.Reading, error) {
	r := compare.Reading{Name: name}
	o.diagnosis = func(saved io.Reader) (err error) {
		r.Saved = true
		r.Diagnosis, err = diagnosis.Decode(saved)
		return err
	}
	m, err := c.read(ctx, []string{file}, o)
	if err != nil {
		return r, err
	}
	if !r.Saved {
		r.Diagnosis = diagnosis.Run(m, c.Rules, diagnosis.Options{})
	}
	r.Model, r.Command = m, shell.Words(m.Run.Command)
	return r, nil
}

// readPolicy reads the policy of a gate.
func readPolicy(file string) (*gate.Policy, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, problem.New(problem.Misuse, "gowhy gate --init   # writes one", "cannot read the policy %q: %v", file, problem.Cause(err))
	}
	defer f.Close()
	return gate.ParsePolicy(file, f)
}
