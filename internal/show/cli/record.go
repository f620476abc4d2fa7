package cli

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/prove/trial"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/record"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

// recordFlags are the flags of record that are not evidence's own options.
type recordFlags struct {
	target     record.Target
	options    record.Options
	limit      string
	until      string // a mark of memory
	holders    bool
	noDiagnose bool
	finish     string
	remoteFlags
	diagnosis diagnoseOptions // how what was recorded is shown
}

// traceLimit is where a trace stops that nobody gave another limit.
const traceLimit = "512MB"

func (c *command) recordCommand() *cobra.Command {
	f := &recordFlags{diagnosis: diagnoseOptions{format: "text"}}
	cmd := &cobra.Command{
		Use:   "record [-o FILE] [-d TIME] (--url URL | --pid PID | -- CMD)",
		Short: "Record all that a running program, a command or a test can say",
		Long: `Records everything at once, on one clock, into one file, and diagnoses it: the
execution trace, the profiles of the runtime at the start and the end, what the
kernel sees of the process, and the counters of /proc.

  --url URL   a server with net/http/pprof or gowhy's agent; give the path if
              it is not under /debug/
  --pid PID   a process here; its ports are searched for the same. Without
              any there is still what the kernel and /proc know
  --container NAME   its process here, as docker, podman or crictl tell it
  --pod NAME  its process where that is here, or else its net/http/pprof at port
              6060 by kubectl port-forward; [NAMESPACE/]NAME[:PORT]
  --ssh HOST  with one of these, on another host by your own ssh: gowhy is
              copied there for that time if the same version is not there
  -- CMD      a program to start, recorded to its end; with -d for that long
              once it can be asked, and then ended with an interrupt. The exit
              code is CMD's. With this one line in it, a program without any
              HTTP server is recorded whole, from before main:
                  import _ "github.com/gowhy/gowhy/agent"
  go test -exec 'gowhy record --'   each test binary records itself, into its
              package's folder; an absolute -o gets the package's name added

  --until-memory 90%   wait until its memory reaches this share of its nearest
              limit (control groups, GOMEMLIMIT), or 1.5GiB resident, and keep
              what is alive then, beside what was when the wait began. It is on
              the disk before the kernel kills the program; how it ended is
              added. -d is the longest wait, an interrupt ends it
  --holders   read who holds the heap, before and behind the recording, so that
              it says whose part grows; of a command while it runs. The program
              is not stopped; of a heap of 1 GiB in ten million objects each
              look takes four seconds of CPU. Without it, a heap of at most half
              a million objects is looked at once the program has come to need
              more memory. --until-memory looks when the evidence is on the
              disk. --holders=false leaves both out

What is meant by a CMD that starts others, like a shell or go run, is the first
Go program that it starts.

An interrupt ends the recording and keeps and diagnoses what there is. The
program's GODEBUG gets gctrace and schedtrace, whose lines are taken out of its
standard error; --no-godebug leaves both alone.

Where the program makes many system calls or switches threads often, these are
counted in a share of the time only, which the ledger tells, and scaled up, so
that recording costs the program little. --sources with syscalls in it counts
every call, whatever that costs.

--redact leaves out command lines, environment, output, labels of profiles and
the build's flags, and a trace that has log lines in it. Names of functions
and files stay, and all numbers.`,
		Example: `  gowhy record --url http://localhost:6060
  gowhy record -d 10s -o run.gowhy --pid 4242
  gowhy record --ssh me@host --pid 4242
  gowhy record --container shop
  gowhy record --pod prod/shop-7f9c:6060
  gowhy record -- ./program -its -flags
  gowhy record -d 10s -- ./server -listen :8080
  gowhy record --until-memory 90% --pid 4242
  gowhy record --holders -d 1m --pid 4242
  go test -exec 'gowhy record --' -bench . ./...
  gowhy record -d 30s --url http://localhost:6060 --load k6-summary.json
  gowhy doctor                           what can be recorded here`,
		Args: func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error { return c.record(cmd.Context(), f, args) },
	}
	// What follows the command is the command's, flags included.
	cmd.Flags().SetInterspersed(false)
	f.flags(cmd)
	complete(cmd, "sources", record.SourceNames())
	complete(cmd, "without", record.SourceNames())
	return cmd
}

func (f *recordFlags) flags(cmd *cobra.Command) {
	o := &f.options
	cmd.Flags().StringVar(&f.target.URL, "url", "", "`URL` of a server with net/http/pprof or the agent")
	cmd.Flags().IntVar(&f.target.PID, "pid", 0, "`PID` of a process of this machine")
	cmd.Flags().StringVar(&f.container, "container", "", "a container here, by its `NAME` or id")
	cmd.Flags().StringVar(&f.pod, "pod", "", "a Kubernetes pod, `[NAMESPACE/]NAME[:PORT]`")
	cmd.Flags().StringVar(&f.ssh, "ssh", "", "record on this `HOST`, by your own ssh")
	cmd.Flags().StringVarP(&o.Out, "output", "o", "", "write the recording to this `FILE` (default NAME-TIME.gowhy)")
	cmd.Flags().DurationVarP(&o.Duration, "duration", "d", 0, "record for this `TIME` (default 5s, a command to its end)")
	cmd.Flags().StringSliceVar(&o.Only, "sources", nil, "record these `SOURCES` only: "+strings.Join(record.SourceNames(), ", "))
	cmd.Flags().StringSliceVar(&o.Without, "without", nil, "record all but these `SOURCES`, like trace,block")
	cmd.Flags().StringVar(&o.Load, "load", "", "take a load generator's result along: a `FILE` or URL, read at the end")
	cmd.Flags().BoolVar(&f.holders, "holders", false, "read who holds the heap, at the begin and the end (default: if it grows)")
	cmd.Flags().StringVar(&f.until, "until-memory", "", "wait until its memory reaches this `SHARE` of its limit, or size")
	cmd.Flags().StringVar(&f.limit, "trace-limit", traceLimit, "stop the trace at this `SIZE`")
	cmd.Flags().BoolVar(&o.OutputLogs, "output-logs", false, "keep the command's output in the recording")
	cmd.Flags().BoolVar(&o.NoGodebug, "no-godebug", false, "leave the command's GODEBUG and standard error alone")
	cmd.Flags().BoolVar(&o.Redact, "redact", false, "leave out what people wrote: arguments, labels, logs")
	cmd.Flags().StringVar(&f.finish, "finish", "", "finish the recording in this `DIRECTORY`, whose recorder was killed")
	cmd.Flags().BoolVar(&f.noDiagnose, "no-diagnose", false, "record only")
}

// settleRecord gives a recording that was asked for without the word record, as gowhy URL,
// what is set for record.
func (c *command) settleRecord(root *cobra.Command, f *recordFlags) error {
	cmd := &cobra.Command{Use: "record"}
	target := f.target
	f.flags(cmd) // which sets what is there without anybody's word
	f.target = target
	return c.settleFlags(root, cmd.Flags(), "record")
}

func (f *recordFlags) check(cmd *cobra.Command, args []string) error {
	t := &f.target
	var given []string
	for _, g := range []struct {
		name string
		set  bool
	}{{"--url", t.URL != ""}, {"--pid", t.PID != 0}, {"--container", f.container != ""}, {"--pod", f.pod != ""}, {"a command", len(args) > 0}, {"--finish", f.finish != ""}} {
		if g.set {
			given = append(given, g.name)
		}
	}
	switch {
	case len(given) == 0 && f.ssh != "":
		return usageError("gowhy record --ssh "+shell.Word(f.ssh)+" --pid PID   or   --url http://localhost:6060", "specify which program on %s to record", f.ssh)
	case len(given) == 0:
		return usageError("gowhy record -- ./PROGRAM   or   --pid PID   or   --url http://localhost:6060", "nothing to record was given")
	case len(given) > 1 && !slices.Equal(given, []string{"--url", "--pid"}):
		return usageError("give one of them", "both %s were given", strings.Join(given, " and "))
	case t.PID < 0:
		return usageError("gowhy list", "--pid %d is no process", t.PID)
	case cmd.Flags().Changed("duration") && f.options.Duration <= 0:
		return usageError("-d 5s", "-d %v is no time", f.options.Duration)
	}
	if err := f.checkSSH(args); err != nil {
		return err
	}
	if err := f.checkUntil(); err != nil {
		return err
	}
	f.options.Holders = f.holderLooks(cmd.Flags().Changed("holders"))
	limit, ok := trial.ParseSize(f.limit)
	if !ok {
		return usageError("--trace-limit 512MB", "--trace-limit %q is no size", f.limit)
	}
	f.options.TraceLimit = limit
	for flag, names := range map[string][]string{"sources": f.options.Only, "without": f.options.Without} {
		for _, n := range names {
			if err := oneOf(flag, n, record.SourceNames()); err != nil {
				return err
			}
		}
	}
	return nil
}

// holderLooks returns when the heap is looked at; said is whether --holders was given.
func (f *recordFlags) holderLooks(said bool) record.HolderLooks {
	switch {
	case said && f.holders, !said && f.until != "" && len(f.options.Only) == 0:
		return record.Looks
	case said, len(f.options.Only) > 0:
		return record.NoLooks
	}
	return record.LooksIfGrows
}

// checkUntil reads the mark of memory.
func (f *recordFlags) checkUntil() error {
	if f.until == "" {
		return nil
	}
	bad := usageError("--until-memory 90%   or   --until-memory 1.5GiB", "--until-memory %q is no share of a limit and no size", f.until)
	if percent, ok := strings.CutSuffix(f.until, "%"); ok {
		share, err := strconv.ParseFloat(percent, 64)
		if err != nil || !(share > 0 && share <= 100) {
			return bad
		}
		f.options.UntilMemory.Share = share / 100
	} else {
		size, ok := trial.ParseSize(f.until)
		if !ok || size < 1<<20 { // less than any program has: 0.9 is meant for a share
			return bad
		}
		f.options.UntilMemory.Bytes = uint64(size)
	}
	for _, s := range f.options.Only {
		if !slices.Contains(record.MarkSources, s) {
			return usageError("--sources "+strings.Join(record.MarkSources, ","), "%s takes time, which a program has not that is about to be killed", s)
		}
	}
	return nil
}

func (c *command) record(ctx context.Context, f *recordFlags, args []string) error {
	if f.finish != "" {
		return c.finish(f.finish, f.options.Out)
	}
	if f.ssh != "" {
		return c.recordOver(ctx, f)
	}
	t, done, err := c.resolve(ctx, f)
	if err != nil {
		return err
	}
	defer done()
	o := f.options
	t.Command = args
	o.Out = cmp.Or(perPackage(o.Out, args), recordingName(t))
	if err := checkOutput(o.Out); err != nil {
		return err
	}
	o.Stdin, o.Stdout, o.Stderr = c.Stdin, c.Stdout, c.Stderr
	o.Foreground = c.onTerminal()
	line := c.statusLine()
	line.tty = line.tty && len(args) == 0 // a command has the terminal for itself
	// Who waits for hours need not say five times a second what nobody reads.
	if line.tty {
		o.Progress = func(left time.Duration, seen record.Seen) { line.Set("recording… %s", seenText(left, seen)) }
	}
	o.Log = func(s string) {
		line.Clear()
		fmt.Fprintln(c.Stderr, "gowhy: "+layout.Safe(s))
	}
	res, err := record.Run(ctx, t, o)
	line.Clear()
	return c.reportRecording(ctx, f, o.Out, res, err)
}

// seenText returns the line that a recording shows while it lasts.
func seenText(left time.Duration, seen record.Seen) string {
	if seen.Waiting != "" {
		return "memory " + seen.Waiting
	}
	var parts []string
	if left > 0 {
		parts = append(parts, fmt.Sprintf("%d s left", int(math.Ceil(left.Seconds()))))
	}
	if seen.Cores >= 0 {
		parts = append(parts, fmt.Sprintf("CPU %.2f cores", seen.Cores))
	}
	if seen.Goroutines >= 0 {
		parts = append(parts, figures.Plural(seen.Goroutines, "goroutine"))
	}
	if seen.Collections >= 0 {
		parts = append(parts, figures.Plural(seen.Collections, "collection"))
	}
	return strings.Join(append(parts, figures.Bytes(seen.Bytes)+" so far"), ", ")
}

// perPackage adds the package's name to a file that go test -exec would give
// to the tests of every package; a relative one is beside each package.
func perPackage(out string, command []string) string {
	if !filepath.IsAbs(out) || len(command) == 0 || !ofGoTest.MatchString(command[0]) {
		return out
	}
	name := strings.TrimSuffix(filepath.Base(command[0]), ".test")
	if info, err := buildinfo.ReadFile(command[0]); err == nil {
		if inside, ok := strings.CutPrefix(strings.TrimSuffix(info.Path, ".test"), info.Main.Path+"/"); ok {
			name = strings.ReplaceAll(inside, "/", "-")
		}
	}
	ext := filepath.Ext(out)
	return strings.TrimSuffix(out, ext) + "-" + name + ext
}

// ofGoTest is how the go command names a test binary that it runs.
var ofGoTest = regexp.MustCompile(`[/\\]go-build\d+[/\\]b\d+[/\\][^/\\]+\.test$`)

// recordingName returns a name that replaces no other recording: with go test
// -exec, one is made for each package.
func recordingName(t record.Target) string {
	name := "server"
	switch {
	case len(t.Command) > 0:
		name = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(t.Command[0]), ".exe"), ".test")
	case t.PID != 0:
		name = strconv.Itoa(t.PID)
		if exe, err := os.Readlink(filepath.Join("/proc", name, "exe")); err == nil {
			name = strings.TrimSuffix(filepath.Base(exe), " (deleted)")
		} else if comm, err := os.ReadFile(filepath.Join("/proc", name, "comm")); err == nil {
			name = strings.ReplaceAll(strings.TrimSpace(string(comm)), "/", "-") // anything may be in it
		}
	}
	name += time.Now().Format("-20060102-150405")
	for n := 2; ; n++ {
		if _, err := os.Lstat(name + ".gowhy"); err != nil {
			return name + ".gowhy"
		}
		name = strings.TrimSuffix(name, "-"+strconv.Itoa(n-1)) + "-" + strconv.Itoa(n)
	}
}

// reportRecording says what came of a recording and diagnoses it. The command's own
// exit code wins over ours, so that `gowhy record -- CMD` can stand for CMD in
// a script.
func (c *command) reportRecording(ctx context.Context, f *recordFlags, out string, res *record.Result, err error) error {
	if res == nil {
		return err
	}
	if res.Written && res.Test {
		// The test ran in its package's folder, where its reader is not.
		if at, err := filepath.Abs(out); err == nil {
			out = at
		}
		fmt.Fprintf(c.Stderr, "gowhy: recorded %s; next:   gowhy %s\n", figures.Duration(res.Duration), shell.Word(out))
	} else if res.Written || err == nil { // the error has the reasons otherwise
		c.summary(f, out, res)
	}
	var diagnosed error
	if res.Written && c.diagnoses(f, res) {
		fmt.Fprintln(c.Stderr)
		// The interrupt that ended the recording was not for this.
		diagnosed = c.diagnose(context.WithoutCancel(ctx), []string{out}, &f.diagnosis)
	}
	if res.ExitCode == 0 {
		return errors.Join(err, diagnosed)
	}
	return &exit{res.ExitCode, err}
}

// diagnoses reports whether a diagnosis is printed: not between the output of
// tests, and not into a command's output that somebody else reads.
func (c *command) diagnoses(f *recordFlags, res *record.Result) bool {
	if f.noDiagnose || res.Test {
		return false
	}
	_, tty := terminal(c.Stdout)
	return tty || f.target.URL != "" || f.target.PID != 0 || f.container != "" || f.pod != ""
}

// summary says what is in a recording, what is not and why, and what it cost,
// as far as no diagnosis follows that says it.
func (c *command) summary(f *recordFlags, out string, res *record.Result) {
	var b strings.Builder
	say := func(text string) { b.WriteString(layout.Wrap("gowhy: "+text, c.layout())) }
	if res.Written {
		say(fmt.Sprintf("recorded %s into %s, %s", figures.Duration(res.Duration), shell.Word(out), contents(res.Members)))
	}
	there := func(member string) bool {
		return slices.ContainsFunc(res.Members, func(m recording.Member) bool { return m.Name == member })
	}
	for _, r := range artifact.GroupRefusals(res.Refused, there) {
		say(r.Why)
		if r.How != "" {
			fmt.Fprintf(&b, "hint: %s\n", layout.Safe(r.How))
		}
	}
	if res.Written && !c.diagnoses(f, res) {
		say("cost: " + costText(res))
		fmt.Fprintf(&b, "gowhy: next:   gowhy %s\n", shell.Word(out))
	}
	_, _ = io.WriteString(c.Stderr, b.String())
}

// bigMember is the size from which a member's is printed: most have some KiB.
const bigMember = 1 << 20

// contents returns a recording's size and sources.
func contents(members []recording.Member) string {
	var total int64
	var names []string
	for _, m := range members {
		total += m.Size
		names = append(names, m.Name)
	}
	sources := artifact.SourcesOf(names)
	for _, m := range members {
		if i := slices.Index(sources, strings.Join(artifact.SourcesOf([]string{m.Name}), "")); i >= 0 && m.Size >= bigMember {
			sources[i] += " (" + figures.Bytes(m.Size) + ")"
		}
	}
	return figures.Bytes(total) + ": " + strings.Join(sources, ", ")
}

// idleCores is less CPU than a comparison of two moments means anything for.
const idleCores = 0.02

// costText says what recording took. Whether the target was slowed down can
// only be guessed at, and only where it was watched before: its CPU use then
// and meanwhile is compared, and its load may have changed.
func costText(res *record.Result) string {
	k := res.Cost
	s := figures.Seconds(k.RecorderCPU) + " of CPU by gowhy"
	if d := res.Duration; d >= time.Second { // what it takes to begin and to end is no rate
		s += fmt.Sprintf(", %s of a core", figures.Percent(k.RecorderCPU/d.Seconds()))
	}
	if k.TargetWall <= 0 || k.TargetBeforeWall <= 0 {
		return s
	}
	during, before := k.TargetCPU/k.TargetWall, k.TargetBefore/k.TargetBeforeWall
	if max(during, before) < idleCores {
		return s
	}
	return s + fmt.Sprintf("; the program used %s and %s just before, which tells of the recording if its load stayed the same", figures.Cores(during), figures.Number(before))
}
