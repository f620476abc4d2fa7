package cli

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/prove/count"
	"github.com/gowhy/gowhy/internal/prove/subject"
	"github.com/gowhy/gowhy/internal/prove/trial"
	"github.com/gowhy/gowhy/internal/show/trialreport"
)

// countFlags are those of count.
type countFlags struct {
	vary, format, out string
	load, ready       string
	limit, end        time.Duration
	yes, repeats      bool
}

func (c *command) countCommand() *cobra.Command {
	f := &countFlags{}
	cmd := &cobra.Command{
		Use:   "count (FILE | -- CMD)",
		Short: "Count the rounds of hot loops, and whether they outgrow the input",
		Long: `Builds a copy of a program that counts, runs it once more, and says of each hot
function how often it is called, how many rounds its loops make for that, and
what one of them costs. Counts are exact: no sampling, no noise, no root.

Another run tells which hot functions of the main module are called with what
they were called with before: what they answer could be kept.

What is hot a recording tells (FILE), whose command runs again; or the command
is run first to see where its time goes. It is

  a program that ends by itself      ./app -n 1000
  go run ./cmd/app -n 1000           go test -bench Parse ./parser
  a test binary                      ./parser.test -test.bench Parse

With --vary it runs with several sizes and says how each count grows with them:
the exponent is 1 where it grows like the input and 2 where it grows with its
square. A flag of the program is named with its dash, a variable of the
environment without. Three sizes and more give an interval.

The copy is built with "go build -cover" from the source as it is now, in a
temporary directory; your tree is not touched. Counters are written where main
returns or os.Exit is called. A program that serves can be ended with -d by an
interrupt, which it has to handle; one that was recorded is given a load with
--load, and ended behind it. What is in C, in assembly, in the runtime or
in files of tests is not counted.`,
		Example: `  gowhy count run.gowhy
  gowhy count -- ./app -n 1000
  gowhy count --vary -n=1000,2000,4000 -- go run ./cmd/app -n 1000
  gowhy count --vary SIZE=1000,2000,4000 -- ./app
  gowhy count -- go test -run '^$' -bench Parse ./parser
  gowhy count run.gowhy --load 'gowhy load http://localhost:8080/ -d 5s'
  gowhy count run.gowhy --format json | jq '.functions[].pieces[].rounds'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			files, command := atDash(cmd, args)
			return c.count(cmd.Context(), files, command, f)
		},
	}
	cmd.SetFlagErrorFunc(badFlag("gowhy count -- ./app -n 1000"))
	fs := cmd.Flags()
	fs.StringVar(&f.vary, "vary", "", "run with each of these sizes, `NAME=A,B,C`: -n=1000,2000,4000 or SIZE=1000,2000")
	fs.StringVar(&f.load, "load", "", "run this `CMD` against a recorded server: a load generator that ends")
	fs.StringVar(&f.ready, "ready", "", "wait for `WHAT` before the load: a URL, HOST:PORT or log:TEXT")
	fs.DurationVarP(&f.end, "duration", "d", 0, "end a program that does not end by an interrupt after this `TIME`")
	fs.DurationVar(&f.limit, "time-limit", subject.DefaultTime, "end a run that takes longer than this `TIME`")
	fs.BoolVar(&f.repeats, "repeats", true, "see in one more run whether hot functions are called with the same again")
	fs.BoolVar(&f.yes, "yes", false, "run what the recording names without asking")
	fs.StringVar(&f.format, "format", textFormat, "`FORMAT`: text, json")
	fs.StringVarP(&f.out, "output", "o", "", "write to this `FILE`")
	complete(cmd, "format", []string{textFormat, jsonFormat})
	return cmd
}

// check refuses what means nothing.
func (f *countFlags) check(files, command []string) error {
	if err := oneOf("format", f.format, []string{textFormat, jsonFormat}); err != nil {
		return err
	}
	switch {
	case len(files) > 0 && len(command) > 0:
		return usageError("give one of them", "both a recording and a command after -- were given")
	case len(files) == 1 && isProgram(files[0]), len(files) > 1:
		return usageError("gowhy count -- "+shell.Words(files), "a program and its arguments come after --")
	case len(files) == 0 && len(command) == 0:
		return usageError("gowhy count run.gowhy   or   gowhy count -- ./app -n 1000", "neither a recording nor a command was given")
	case f.load != "" && len(files) == 0:
		return usageError("gowhy record -d 10s -o run.gowhy -- ./server   # under its load, and then: gowhy count run.gowhy --load CMD", "what is hot in a server, a recording of it under its load tells")
	case f.load != "" && f.end > 0:
		return usageError("without -d", "a server is ended behind its load")
	case f.load == "" && f.ready != "":
		return usageError("--load 'gowhy load http://localhost:8080/ -d 5s'", "--ready says when --load begins")
	case f.end < 0:
		return usageError("-d 10s", "-d %v is no time", f.end)
	case f.limit <= 0 || f.limit <= f.end:
		return usageError("--time-limit 10m", "--time-limit %v leaves no time", f.limit)
	}
	return checkOutput(f.out)
}

func (c *command) count(ctx context.Context, files, command []string, f *countFlags) error {
	if err := f.check(files, command); err != nil {
		return err
	}
	s := &count.Setup{Command: command, Limit: f.limit, End: f.end, NoRepeats: !f.repeats}
	if f.load != "" {
		var err error
		if s.Load, err = subject.Split(f.load); err != nil {
			return err
		}
		s.Ready = f.ready
	}
	if f.vary != "" {
		var err error
		if s.Vary, err = count.ParseKnob(f.vary); err != nil {
			return err
		}
	}
	if len(files) > 0 {
		if err := c.countRecorded(ctx, files, s, f); err != nil {
			return err
		}
	}
	r, err := s.Run(ctx, c.statusLine())
	if err != nil {
		return err
	}
	if flag := count.Suggest(s.Command[1:]); s.Vary == nil && flag != "" {
		r.Again = "gowhy count " + flag + " " + shell.Words(slices.Concat(files, afterDash(command)))
	}
	return c.output(f.out, func(w io.Writer, l layout.Options) error {
		if f.format == jsonFormat {
			return trialreport.CountJSON(w, r)
		}
		return trialreport.CountText(w, r, l)
	})
}

// countRecorded takes the command of a recording, which its user trusts.
func (c *command) countRecorded(ctx context.Context, files []string, s *count.Setup, f *countFlags) error {
	m, err := c.read(ctx, files, readOptions{noSource: true})
	if err != nil {
		return err
	}
	run := &m.Run
	if len(run.Command) == 0 {
		return problem.New(problem.Absence, "gowhy count -- ./app -n 1000   or   gowhy count -- go test -bench . ./parser", "%s does not tell the command that was recorded: counting runs it again", files[0])
	}
	if m.BelievedCPU() == nil && m.Heap == nil {
		return problem.New(problem.Absence, "gowhy count -- "+shell.Words(run.Command), "%s has no CPU profile and no allocations: nothing tells what is hot", files[0])
	}
	s.Command, s.Dir, s.Env, s.Model = run.Command, run.Dir, run.Env, m
	if f.yes {
		return nil
	}
	return c.consent(ctx, &trial.Foreign{From: files[0], Dir: run.Dir, Command: run.Command, Env: slices.Clone(run.Env)}, "gowhy "+shell.Words(withFlag(c.Args, "--yes")))
}

// afterDash returns a command as it follows --; nothing without one.
func afterDash(command []string) []string {
	if len(command) == 0 {
		return nil
	}
	return append([]string{"--"}, command...)
}
