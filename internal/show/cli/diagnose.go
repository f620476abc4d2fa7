package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/read/modules"
	"github.com/gowhy/gowhy/internal/show/intake"
	"github.com/gowhy/gowhy/internal/show/release"
	"github.com/gowhy/gowhy/internal/show/report"
)

// diagnoseOptions are the flags of diagnose, which bare files take as well.
type diagnoseOptions struct {
	format, goal, failOn, out string
	verbose, online           bool
	reading                   readOptions
}

func (c *command) diagnoseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diagnose FILE...",
		Short: "Name the bottleneck and what to change (also: gowhy FILE...)",
		Long: `Reads a trace, profiles or a recording of one run and prints the verdict, what
was found, what is fine and what could not be checked. A diagnosis that was
saved with --format json can be given instead and is shown again.

Several recordings of one program, or a directory with them, are judged as one:
what most of them show is the answer, with in how many it was found.`,
		Example: `  gowhy diagnose trace.out
  gowhy diagnose trace.out cpu.pprof --goal latency
  gowhy diagnose run.gowhy --window 1.5s,3s
  gowhy diagnose a.gowhy b.gowhy c.gowhy     several recordings, one answer
  gowhy diagnose recordings/                 all in a directory
  gowhy diagnose core.1234 ./server          what a program that died was doing
  gowhy diagnose run.gowhy --online
  gowhy diagnose run.gowhy --format json -o why.json
  gowhy diagnose why.json --format markdown
  gowhy diagnose run.gowhy --format sarif -o why.sarif
  curl -s http://localhost:6060/debug/pprof/trace?seconds=5 | gowhy diagnose -`,
		Args: atLeastOneFile,
	}
	flags := diagnoseFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.diagnose(cmd.Context(), args, flags) }
	return cmd
}

func atLeastOneFile(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	hint := cmd.CommandPath() + " trace.out"
	if f, ok := cmd.InOrStdin().(*os.File); ok && !term.IsTerminal(int(f.Fd())) {
		hint += "   # or, for standard input: " + cmd.CommandPath() + " -"
	}
	return usageError(hint, "no file was given")
}

var (
	goals  = []string{string(diagnosis.Throughput), string(diagnosis.Latency), string(diagnosis.CPUGoal), string(diagnosis.MemoryGoal)}
	failOn = []string{"low", "medium", "high", "any"}
)

func diagnoseFlags(cmd *cobra.Command) *diagnoseOptions {
	o := &diagnoseOptions{}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "text", "`FORMAT`: "+strings.Join(report.FormatNames(), ", "))
	f.StringVar(&o.goal, "goal", "", "what to improve, a `GOAL`: "+strings.Join(goals, ", "))
	f.StringVar(&o.failOn, "fail-on", "", "exit with 3 if a finding has this `CONFIDENCE` or more: "+strings.Join(failOn, ", "))
	f.StringVarP(&o.out, "output", "o", "", "write to this `FILE`")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "all in full: accounts, findings, what is fine, what was not checked")
	f.BoolVar(&o.online, "online", false, "ask the module proxy whether a newer version of a module changes what a finding names")
	o.reading.flags(cmd)
	complete(cmd, "format", report.FormatNames())
	complete(cmd, "goal", goals)
	complete(cmd, "fail-on", failOn)
	return o
}

// complete offers the values of a flag to the shell.
func complete(cmd *cobra.Command, flag string, values []string) {
	// The only error is a flag that is not there, which a test would see.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// oneOf refuses a flag's value that is none of those known.
func oneOf(flag, value string, known []string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	hint := "--" + flag + " " + known[0]
	if s, ok := problem.Correction(value, known); ok {
		hint = "--" + flag + " " + s
	}
	return usageError(hint, "--%s %q is none of %s", flag, value, strings.Join(known, ", "))
}

func (c *command) diagnose(ctx context.Context, files []string, o *diagnoseOptions) error {
	for flag, v := range map[string]struct {
		value string
		known []string
	}{"format": {o.format, report.FormatNames()}, "goal": {o.goal, goals}, "fail-on": {o.failOn, failOn}} {
		if err := oneOf(flag, v.value, v.known); err != nil {
			return err
		}
	}
	if err := checkOutput(o.out); err != nil {
		return err
	}
	if o.online {
		newest := release.New()
		defer newest.Close()
		o.reading.newest = newest
	}
	d, m, err := c.readDiagnosis(ctx, files, o.reading, diagnosis.Goal(o.goal))
	if err == nil && o.online {
		err = c.compareReleases(ctx, o.reading.newest, d, m)
	}
	if err != nil {
		return err
	}
	return c.show(d, o)
}

// compareReleases adds to findings in modules of others what newer ones change.
func (c *command) compareReleases(ctx context.Context, newest *release.Newest, d *diagnosis.Diagnosis, m *model.Model) error {
	p := c.startProgress("asking for newer versions of modules", 0)
	defer p.stop()
	program := ""
	if m.Build != nil {
		program = m.Build.Module
	}
	return newest.Compare(ctx, d, program)
}

// show writes a diagnosis and turns its findings into the exit code.
func (c *command) show(d *diagnosis.Diagnosis, o *diagnoseOptions) error {
	format := report.Formats[o.format]
	if o.format == "sarif" { // code hosts know files from the repository's root on
		fromRoot(d)
	}
	err := c.output(o.out, func(w io.Writer, l layout.Options) error {
		l.Verbose = o.verbose || o.online // what was asked for stands behind what to do
		return format(w, d, l)
	})
	if err != nil && !isClosedPipe(err) {
		return err
	}
	if o.failOn != "" && slices.ContainsFunc(d.Findings, func(f diagnosis.Finding) bool { return atLeast(f.Confidence, o.failOn) }) {
		return &exit{code: exitFindings}
	}
	return err
}

// fromRoot names the files of findings from the root of the repository that the command
// runs in, or else from the working directory, as far as they are in it.
func fromRoot(d *diagnosis.Diagnosis) {
	root, err := filepath.Abs(".")
	if err != nil {
		return
	}
	for dir := root; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			root = dir
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	module := moduleIn(root)
	for i := range d.Findings {
		for j := range d.Findings[i].Where {
			p := &d.Findings[i].Where[j]
			if in, ok := strings.CutPrefix(p.File, module+"/"); ok && module != "" { // built with -trimpath
				p.File = in
			} else if in, err := filepath.Rel(root, p.File); err == nil && filepath.IsAbs(p.File) && filepath.IsLocal(in) {
				p.File = filepath.ToSlash(in)
			}
		}
	}
}

// moduleIn returns the path of the module whose go.mod is in a directory; "" without one.
func moduleIn(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "module" {
			return strings.Trim(f[1], "\"`")
		}
	}
	return ""
}

// atLeast reports whether a finding counts for --fail-on.
func atLeast(c diagnosis.Confidence, failOn string) bool {
	rank := map[string]int{"any": 0, string(diagnosis.Low): 1, string(diagnosis.Medium): 2, string(diagnosis.High): 3}
	return rank[string(c)] >= rank[failOn]
}

// readDiagnosis reads evidence and says why it is as it is, or reads a diagnosis that
// was saved, which has no more of the evidence than that.
func (c *command) readDiagnosis(ctx context.Context, files []string, o readOptions, goal diagnosis.Goal) (d *diagnosis.Diagnosis, m *model.Model, err error) {
	if files = intake.Unfold(files); severalRecordings(files) {
		return c.diagnosedTogether(ctx, files, o, goal)
	}
	o.diagnosis = func(r io.Reader) (err error) {
		d, err = diagnosis.Decode(r)
		return err
	}
	if m, err = c.read(ctx, files, o); err == nil && d == nil {
		d = diagnosis.Run(m, c.Rules, diagnosis.Options{Goal: goal})
	}
	return d, m, err
}

// readOptions are the flags of all commands that read evidence.
type readOptions struct {
	window    string
	workers   int
	noSource  bool
	newest    *release.Newest // these are not flags: what the command needs
	keep      int
	sweeps    bool
	diagnosis func(io.Reader) error
}

func (o *readOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.window, "window", "", "only this piece of the trace, like 1.5s,3s (`FROM,TO` since its start)")
	cmd.Flags().IntVar(&o.workers, "workers", 0, "`CORES` used for reading (default all)")
	cmd.Flags().BoolVar(&o.noSource, "no-source", false, "do not read the source of hot lines")
}

// read loads evidence, showing progress.
func (c *command) read(ctx context.Context, files []string, o readOptions) (*model.Model, error) {
	window, err := parseWindow(o.window)
	if err != nil {
		return nil, err
	}
	if o.workers < 0 {
		return nil, usageError("--workers 2", "--workers %d is negative", o.workers)
	}
	p := c.startProgress("reading", mebibytes)
	defer p.stop()
	var newest func(context.Context, modules.Module) error
	if o.newest != nil {
		newest = o.newest.Fetch
	}
	return evidence.Load(ctx, files, evidence.Options{
		Newest: newest, Window: window, Keep: o.keep, Sweeps: o.sweeps, Workers: o.workers, NoSource: o.noSource,
		Progress: p.callback(), Stdin: c.Stdin, Diagnosis: o.diagnosis,
	})
}

// parseWindow reads "1.5s,3s"; either end may be left out.
func parseWindow(s string) (w evidence.Window, err error) {
	if s == "" {
		return w, nil
	}
	from, to, ok := strings.Cut(s, ",")
	if ok && from != "" {
		w.From, err = time.ParseDuration(from)
	}
	if ok && to != "" && err == nil {
		if w.To, err = time.ParseDuration(to); err == nil && w.To == 0 {
			ok = false // would mean the end
		}
	}
	if !ok || err != nil || w.From < 0 || w.To < 0 || to != "" && w.To <= w.From {
		return w, usageError("--window 1.5s,3s   or   --window 1.5s,", "--window %q is not two times with the later one last", s)
	}
	return w, nil
}
