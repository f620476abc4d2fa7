package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/load"
	"github.com/gowhy/gowhy/internal/prove/site"
	"github.com/gowhy/gowhy/internal/prove/subject"
	"github.com/gowhy/gowhy/internal/prove/trial"
	"github.com/gowhy/gowhy/internal/show/trialreport"
)

// capacityFlags are the flags of capacity.
type capacityFlags struct {
	target             loadTarget
	asked              dnsTarget
	url, dns           string // at most one; programs are fed lines without
	ready, table       string
	from, most         float64
	step, p99, timeout time.Duration
	tolerance, failed  string
	connections        int
	restart            bool
	resultFlags
	command               []string
	axes                  []site.Axis
	lines                 [][]byte // of --lines, read once
	toleranceAt, failedAt float64
}

func (c *command) capacityCommand() *cobra.Command {
	f := &capacityFlags{}
	cmd := &cobra.Command{
		Use:   "capacity [--url URL | --dns ADDRESS] [-- CMD]",
		Short: "Find the greatest rate that a program sustains, and what limits it",
		Long: `Offers load at rising rates until the backlog grows, latency or errors leave
their bounds, or the generator itself is the limit, and closes in on the
greatest rate that is sustained. A rate counts as too much when that was seen
twice, and the result was sustained twice. That takes 10 to 30 steps of --step:
3 to 5 minutes; a table takes that for each of its settings.

The load is HTTP to --url or DNS queries to --dns, of a server that runs or of
CMD, or lines to CMD's standard input, each of which it answers with a line.

--table measures the capacity over settings and says what that tells of the
stage that is the limit. The axis processes is how many copies of CMD run beside
each other: in --url, --dns and CMD, {process} is the number of the copy, for
its port. A CMD with {processes} gets the number and makes them itself. Every
other axis replaces its {NAME} in CMD, or goes into the environment if it is in
upper case.

The exit code is 5 when the generator was the limit.`,
		Example: `  gowhy capacity --url http://localhost:8080/ --p99 50ms
  gowhy capacity --url http://localhost:8080/ -- ./server -listen :8080
  gowhy capacity --lines messages.txt -- ./consumer
  gowhy capacity --dns 127.0.0.1:5353 --queries queries.txt -- ./nameserver
  gowhy capacity --table 'processes=1,2 × concurrency=1,5,10' --step 5s \
      -- ./consumer -concurrency {concurrency}
  gowhy capacity --table processes=1,2 --url 'http://localhost:808{process}/' \
      -- ./server -listen ':808{process}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			return c.capacity(cmd.Context(), f)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usageError(capacityExample+"   # a program's own flags come after --", "%v", err)
	})
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "offer HTTP requests to this `URL`")
	flags.StringVar(&f.dns, "dns", "", "offer DNS queries to the server at this `ADDRESS` of this machine")
	flags.StringVar(&f.ready, "ready", "", "CMD can be given load when `WHAT`: a URL, HOST:PORT or log:TEXT\n(default --url; for --dns when it accepts connections there)")
	flags.Float64Var(&f.from, "from", 100, "begin with this `RATE`, a second")
	flags.Float64Var(&f.most, "most", 0, "offer at most this `RATE` (default no limit)")
	flags.DurationVar(&f.step, "step", 10*time.Second, "offer each rate for this `TIME`")
	flags.StringVar(&f.tolerance, "tolerance", "5%", "stop when the rate is known within this `SHARE`")
	flags.DurationVar(&f.p99, "p99", 0, "bound of the 99th percentile of latency, a `TIME`")
	flags.StringVar(&f.failed, "errors", "0.1%", "maximum `SHARE` of failed operations")
	flags.DurationVar(&f.timeout, "timeout", 10*time.Second, "wait this `TIME` for an answer")
	flags.IntVarP(&f.connections, "connections", "c", 0, "open at most `N` connections (default 256)")
	flags.BoolVar(&f.restart, "restart", false, "start CMD anew for each step, not only after one that was too much")
	flags.StringVar(&f.table, "table", "", "measure over `AXES`, like 'processes=1,2 × workers=1,8'")
	f.target.flags(cmd)
	f.asked.flags(cmd)
	f.resultFlags.flags(cmd, "save the result with all its steps as JSON in this `FILE`", "write the result as JSON")
	return cmd
}

const capacityExample = "gowhy capacity --url http://localhost:8080/"

// check refuses what does not go together.
func (f *capacityFlags) check(cmd *cobra.Command, args []string) error {
	args, f.command = atDash(cmd, args)
	switch {
	case len(args) > 0 && strings.Contains(args[0], "://"):
		return usageError("gowhy capacity --url "+shell.Words(args[:1]), "%q: a URL is given with --url", args[0])
	case len(args) > 0:
		return usageError("gowhy capacity -- "+shell.Words(args), "%q is before the --", args[0])
	case f.url != "" && f.dns != "":
		return usageError("give one of them", "both --url and --dns were given")
	case f.feeds() && len(f.command) == 0:
		return usageError(capacityExample+"   or   gowhy capacity -- ./consumer", "no target given")
	case !(f.from > 0 && f.from < 1e7):
		return usageError("--from 100", "--from %g is no rate", f.from)
	case f.most < 0 || f.most != 0 && f.most < f.from:
		return usageError("--from 1   or   --most 100000", "--most %g is below --from %g", f.most, f.from)
	case f.step < time.Second:
		return usageError("--step 10s", "--step %v is too short for a backlog to show", f.step)
	case f.p99 < 0 || f.timeout <= 0 || f.connections < 0:
		return usageError("gowhy capacity --help", "times and counts cannot be negative")
	case f.table != "" && len(f.command) == 0:
		return usageError("gowhy capacity --table '"+f.table+"' -- ./server", "a table needs a command to start with each setting")
	case f.ready != "" && len(f.command) == 0:
		return usageError("leave it out", "--ready is for a command")
	}
	if err := f.checkTarget(cmd); err != nil {
		return err
	}
	var err error
	if f.toleranceAt, err = parseShare("tolerance", f.tolerance); err != nil {
		return err
	}
	if f.failedAt, err = parseShare("errors", f.failed); err != nil && strings.Trim(f.failed, "0.% ") != "" {
		return err
	}
	return f.parseTable()
}

func (f *capacityFlags) checkTarget(cmd *cobra.Command) error {
	f.target.command = f.url == ""
	if f.dns != "" {
		return f.checkDNS(cmd)
	}
	err := onlyFor(cmd, dnsNames, "--dns 127.0.0.1:5353", "--%s is for --dns")
	switch {
	case err != nil:
	case f.target.command:
		err = onlyFor(cmd, urlFlags, "--url http://localhost:8080/", "--%s is for URLs")
	default:
		err = onlyFor(cmd, feedFlags, "leave out --url", "--%s is for programs that are fed lines")
	}
	if err != nil {
		return err
	}
	if f.target.data != "" && f.target.file != "" {
		return usageError("give one of them", "both --data and --data-file were given")
	}
	return nil
}

// checkDNS refuses what is not for DNS. Its queries get lost where requests
// would wait, so that what is waited for is shorter.
func (f *capacityFlags) checkDNS(cmd *cobra.Command) error {
	if err := onlyFor(cmd, slices.Concat(urlFlags, feedFlags), "leave it out", "--%s is not for --dns"); err != nil {
		return err
	}
	if !cmd.Flags().Changed("timeout") {
		f.timeout = dnsTimeout
	}
	return f.asked.check(cmd)
}

// feeds reports whether the program is fed lines; else it is a server.
func (f *capacityFlags) feeds() bool { return f.url == "" && f.dns == "" }

// address returns the address of the server.
func (f *capacityFlags) address() string { return cmp.Or(f.url, f.dns) }

// protocol makes the protocol for a server at an address.
func (f *capacityFlags) protocol(c *command, address string) (load.Protocol, error) {
	if f.dns != "" {
		p, _, err := f.asked.protocol(c, address)
		return p, err
	}
	return f.target.protocol(c, []string{address})
}

// readiness returns the sign by which a copy of the command is ready for questions: a name
// server takes connections at the port where it takes queries.
func (f *capacityFlags) readiness(address, number string) string {
	switch {
	case f.ready != "":
		return strings.ReplaceAll(f.ready, "{"+site.Process+"}", number)
	case f.dns != "":
		if server, err := load.ParseServer(address); err == nil {
			return server.String()
		}
	}
	return withScheme(address)
}

// maxCells bounds what a table may ask for: each cell takes minutes.
const maxCells = 100

var axisSeparator = regexp.MustCompile(`\s*[×;*]\s*|\s+x\s+|\s+`)

// parseTable reads 'processes=1,2 × concurrency=1,5,10'.
func (f *capacityFlags) parseTable() error {
	const hint = "--table 'processes=1,2 × concurrency=1,5,10'"
	f.axes = nil
	cells := 1
	for _, word := range axisSeparator.Split(strings.TrimSpace(f.table), -1) {
		if word == "" {
			continue
		}
		k, err := trial.ParseKnob(word, f.command)
		if err != nil {
			return err
		}
		if len(k.Values) == 0 {
			return usageError(hint, "--table: %q is no list of values", word)
		}
		if slices.ContainsFunc(f.axes, func(a site.Axis) bool { return a.Name == k.Name }) {
			return usageError(hint, "--table has the axis %q twice", k.Name)
		}
		if k.Name == experiment.Processes && (!k.Integer || slices.Min(k.Values) < 1 || slices.Max(k.Values) > maxCells) {
			return usageError(hint, "--table: %q is no list of numbers of processes", word)
		}
		f.axes = append(f.axes, site.Axis{Name: k.Name, Values: slices.Compact(slices.Sorted(slices.Values(k.Values)))})
		cells *= len(k.Values)
	}
	if cells > maxCells {
		return usageError(hint, "--table asks for %d searches; at most %d can be done", cells, maxCells)
	}
	return f.checkAxes()
}

// checkAxes refuses an axis that changes nothing and a place that nothing fills.
func (f *capacityFlags) checkAxes() error {
	all := append([]string{f.address()}, f.command...)
	known := map[string]bool{site.Process: true}
	for _, a := range f.axes {
		known[a.Name] = true
		copies := a.Name == experiment.Processes && !subject.HasPlace(f.command, a.Name)
		switch {
		case copies && !f.feeds() && slices.Max(a.Values) > 1 && !(subject.HasPlace(f.command, site.Process) && subject.HasPlace(all[:1], site.Process)):
			return usageError("--url 'http://localhost:808{process}/' … -- ./server -listen ':808{process}'",
				"several processes cannot have the same port: {process} has to be in the address and in the command")
		case !copies && !subject.Variable(a.Name) && !subject.HasPlace(f.command, a.Name):
			return usageError("-- "+shell.Words(f.command)+" -"+a.Name+" {"+a.Name+"}", "the axis %q changes nothing: there is no {%s} in the command", a.Name, a.Name)
		}
	}
	for _, name := range trial.Places(all) {
		if !known[name] {
			return usageError("--table '"+name+"=1,2,4'", "nothing fills {%s}", name)
		}
	}
	return nil
}

// mostRate is more than one generator offers.
const mostRate = 5e6

// capacity searches once, or over a table.
func (c *command) capacity(ctx context.Context, f *capacityFlags) error {
	if err := checkOutput(f.out); err != nil {
		return err
	}
	if !f.feeds() && len(f.command) == 0 {
		p, err := f.protocol(c, f.address())
		if err == nil {
			err = reach(ctx, p) // an error at once when nobody answers
		}
		if err != nil {
			return err
		}
	}
	say := c.statusLine()
	search := f.search(c, say)
	if len(f.axes) == 0 {
		r, err := search.Capacity(ctx, nil, "")
		say.Clear()
		if r == nil || len(r.Steps) == 0 {
			return err
		}
		if err := c.result(&f.resultFlags, r.Encode, func(w io.Writer, o layout.Options) error { return trialreport.Capacity(w, r, o) }); err != nil {
			return err
		}
		return capacityCode(ctx, err, r.Limit == experiment.ByGenerator)
	}
	t, err := search.Table(ctx, f.axes)
	say.Clear()
	if len(t.Cells) == 0 {
		return err
	}
	if err := c.result(&f.resultFlags, t.Encode, func(w io.Writer, o layout.Options) error { return trialreport.CapacityTable(w, t, o) }); err != nil {
		return err
	}
	return capacityCode(ctx, err, slices.ContainsFunc(t.Cells, func(c experiment.Cell) bool { return c.Limit == experiment.ByGenerator }))
}

func capacityCode(ctx context.Context, err error, generator bool) error {
	switch {
	case ctx.Err() != nil:
		return problem.New(problem.Interrupt, "", "interrupted: this is what there is")
	case err != nil:
		return err
	case generator:
		return &exit{code: exitInconclusive}
	}
	return nil
}

// leftWords says how long the rest will take, from how long a part took.
func leftWords(took time.Duration, done, of int) string {
	if done == 0 {
		return ""
	}
	left := (took / time.Duration(done) * time.Duration(of-done)).Round(10 * time.Second)
	return fmt.Sprintf(", about %v left", max(left, 10*time.Second))
}

// search makes the search that the flags describe.
func (f *capacityFlags) search(c *command, say *statusLine) *site.Search {
	begin := time.Now()
	return &site.Search{
		Site:    site.Site{Feeds: f.feeds(), Restart: f.restart, Timeout: f.timeout, Connections: f.connections},
		Rates:   experiment.CapacitySearch{From: f.from, Most: cmp.Or(f.most, mostRate), Step: f.step, Tolerance: f.toleranceAt, P99: f.p99, Failed: f.failedAt},
		Command: f.command, URL: f.url, Address: f.address(), Ready: f.readiness, Log: say.Log,
		Server: func(address string) (load.Protocol, error) { return f.protocol(c, address) },
		Feed:   func(p subject.Program) (load.Protocol, error) { return f.fed(c, p) },
		Label: func(done, of int, setting string) string {
			return fmt.Sprintf("%d of %d%s, %s: ", done+1, of, leftWords(time.Since(begin), done, of), setting)
		},
		Step: func(label string, step int, rate float64) {
			say.Set("%sstep %d: %s/s…", label, step+1, figures.Number(rate))
		},
		Offered: func(label string, rate float64, p load.Progress) {
			say.Set("%s%s/s offered for %v: %s", label, figures.Number(rate), f.step, loadProgress(p))
		},
	}
}

// fed returns a program that is fed lines.
func (f *capacityFlags) fed(c *command, p subject.Program) (load.Protocol, error) {
	feed := load.Feed{Command: p.Command, Env: p.Env, NoReply: f.target.noReply}
	if f.target.lines != "" {
		if f.lines == nil {
			var err error
			if f.lines, err = c.readLines(f.target.lines); err != nil {
				return nil, err
			}
		}
		feed.Lines = f.lines
	}
	protocol, err := load.Lines(feed)
	if missing := (*exec.Error)(nil); errors.As(err, &missing) {
		return nil, usageError(capacityExample+" -- ./server", "there is no program %q: %v", missing.Name, missing.Err)
	}
	return protocol, err
}
