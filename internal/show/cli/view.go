package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/show/intake"
	"github.com/gowhy/gowhy/internal/show/web"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// viewOptions are the flags of view.
type viewOptions struct {
	addr    string
	noOpen  bool
	live    bool
	budget  float64
	reading viewReading
}

func (c *command) viewCommand() *cobra.Command {
	o := &viewOptions{}
	cmd := &cobra.Command{
		Use:   "view [FILE...] | view --live [PID|URL...]",
		Short: "Show recordings in the browser, from the verdict to its evidence",
		Long: `Serves a page on this machine, to you alone: findings, the timeline, flame
graphs, goroutines, charts and tasks. Each recording is a run of its own; loose
files, like a trace and the profiles taken beside it, are one run together, and
the result of a load generator goes with the only recording.
Results of verify, tune, capacity and compare that were saved as JSON can be
given as well. Without files the newest recording in this directory is shown.

With --live it shows Go programs while they run, all of this machine or those
with these numbers or addresses: charts, groups of goroutines, a flame graph of
the last seconds, and what is wrong since when. A window of the last 15 minutes
can be kept as a recording. gowhy top shows the same on a terminal.

The address is printed; who has it sees what you see. Nothing leaves the
machine. Ctrl-C ends it.`,
		Example: `  gowhy view run.gowhy
  gowhy view trace.out cpu.pprof
  gowhy view old.gowhy new.gowhy trial.json   # and compare them
  gowhy view                                  # the newest recording here
  gowhy view --live 4711                      # what this process does now`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return c.view(cmd.Context(), args, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.addr, "addr", "127.0.0.1:0", "listen on this `ADDRESS` of the loopback; port 0 is any free one")
	f.BoolVar(&o.noOpen, "no-open", false, "do not open the browser")
	f.BoolVar(&o.live, "live", false, "show programs while they run")
	f.Float64Var(&o.budget, "budget", 100*live.DefaultBudget, "with --live: how much of one CPU watching may use,\nin `PERCENT`")
	o.reading.flags(cmd)
	return cmd
}

// viewReading are the flags that say how evidence becomes a page.
type viewReading struct {
	goal    string
	workers int
}

func (o *viewReading) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.goal, "goal", "", "what to improve, a `GOAL`: "+strings.Join(goals, ", "))
	cmd.Flags().IntVar(&o.workers, "workers", 0, "`CORES` used for reading (default all)")
	complete(cmd, "goal", goals)
}

func (o *viewReading) check() error {
	if o.workers < 0 {
		return usageError("--workers 2", "--workers %d is negative", o.workers)
	}
	return oneOf("goal", o.goal, goals)
}

// reader reads runs for a page as the flags say.
func (c *command) reader(o *viewReading) *intake.Reader {
	return &intake.Reader{Rules: c.Rules, Goal: diagnosis.Goal(o.goal), Workers: o.workers, Stdin: c.Stdin, Tools: otherTools(),
		Fault: func(err error) { c.code(err) }}
}

// newServer joins the page with what reads for it.
func (c *command) newServer(o *viewReading, h *live.History) (*web.Server, error) {
	return web.New(web.Options{
		Version: version(), Sort: intake.Sort, Open: c.reader(o).Open, Tools: viewers(), Live: h,
		Log: func(format string, args ...any) { c.complain(fmt.Sprintf(format, args...), "") },
	})
}

// openDelay is how long the browser waits for the first run: what cannot be read
// mostly fails at once, and then there is nothing to open it for.
const openDelay = 300 * time.Millisecond

func (c *command) view(ctx context.Context, files []string, o *viewOptions) error {
	if err := o.reading.check(); err != nil {
		return err
	}
	if o.budget <= 0 || o.budget > mostBudget {
		return usageError("gowhy view --live --budget 2", "--budget %v is no share of a CPU in percent", o.budget)
	}
	if o.live {
		return c.viewLive(ctx, files, o)
	}
	if len(files) == 0 {
		files = newestRecording(".")
	}
	found, err := c.sortReadable(files)
	if err != nil {
		return err
	}
	l, err := listenLoopback(o.addr)
	if err != nil {
		return err
	}
	defer l.Close()
	s, err := c.newServer(&o.reading, nil)
	if err != nil {
		return err
	}
	defer sparing()()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	r := c.newReadings(found)
	s.Open(found, r.done)
	select { // what is wrong with all that was given is said before an address that shows nothing
	case err := <-r.failed:
		stop()
		<-served
		return err
	case <-r.first:
	case <-time.After(patience(found)):
	case <-ctx.Done():
	}
	if _, err := fmt.Fprintln(c.Stdout, s.URL(l.Addr())); err != nil {
		stop()
		return errors.Join(err, <-served)
	}
	return c.watch(s, l.Addr(), r, served, stop, o.noOpen)
}

// watch waits for the end of a page, and brings the reader to it when there is
// something to see or what there is takes long.
func (c *command) watch(s *web.Server, at net.Addr, r *readings, served <-chan error, stop func(), noOpen bool) error {
	first, opened := r.first, time.After(openDelay)
	for {
		select {
		case err := <-served:
			return err
		case err := <-r.failed:
			stop()
			<-served
			return err
		case <-first:
		case <-opened:
		}
		if opened != nil {
			c.invite(s, at, noOpen)
		}
		first, opened = nil, nil
	}
}

const (
	// Small files are read in a moment even by a machine that is busy, and a page that
	// has nothing of them yet is nothing to look at.
	smallFiles = 4 << 20
	smallWait  = 10 * time.Second
	largeWait  = 50 * time.Millisecond // enough for what cannot be read at all
)

// patience returns how long to wait for the first run before the address is printed.
func patience(found web.Found) time.Duration {
	var size int64
	for _, r := range found.Runs {
		for _, f := range r.Files {
			info, err := os.Stat(f)
			if err != nil || !info.Mode().IsRegular() || info.Size() > smallFiles-size {
				return largeWait
			}
			size += info.Size()
		}
	}
	return smallWait
}

// sortReadable sorts the files whose kind is known, and says of the others why not; when
// there is no other, that is the error.
func (c *command) sortReadable(files []string) (web.Found, error) {
	if len(files) == 1 { // read once only: it may be a pipe
		return intake.Sort(files)
	}
	var good []string
	var faults []error
	for _, f := range files {
		if _, err := intake.Sort([]string{f}); err != nil {
			faults = append(faults, err)
		} else {
			good = append(good, f)
		}
	}
	if len(good) == 0 && len(faults) > 0 {
		c.codes(faults[1:])
		return web.Found{}, faults[0]
	}
	c.codes(faults)
	return intake.Sort(good)
}

// codes says what is wrong with some files.
func (c *command) codes(faults []error) {
	for _, err := range faults {
		c.code(err)
	}
}

// sparing makes the collector run often, until the function that it returns is
// called. Next to nothing in a timeline has pointers: to collect it costs hardly
// any time, and not to do so twice the memory.
func sparing() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(20)
	return func() { debug.SetGCPercent(before) }
}

// readings follow how the runs of the command line are read, one after another.
type readings struct {
	c      *command
	first  chan struct{} // closed when there is something to see
	failed chan error    // why there will be nothing
	left   int
	opened bool
	faults []error
}

func (c *command) newReadings(found web.Found) *readings {
	r := &readings{c: c, first: make(chan struct{}), failed: make(chan error, 1), left: len(found.Runs)}
	if r.left == 0 || len(found.Results) > 0 {
		r.opened = true // results, or the page that files can be dropped on
		close(r.first)
	}
	return r
}

// done is called for each run. What cannot be read is said on the terminal, as the page says
// it; when there is nothing else, it is the end.
func (r *readings) done(_ web.RunFiles, err error) {
	if errors.Is(err, context.Canceled) {
		return // all of it ends
	}
	r.left--
	switch {
	case err != nil:
		r.faults = append(r.faults, err)
	case !r.opened:
		r.opened = true
		close(r.first)
	}
	switch {
	case r.left > 0 || len(r.faults) == 0:
	case r.opened:
		r.c.codes(r.faults)
	default:
		r.c.codes(r.faults[1:])
		r.failed <- r.faults[0]
	}
}

// newestRecording returns the recording in a directory that was written last.
func newestRecording(dir string) []string {
	paths, err := filepath.Glob(filepath.Join(dir, "*.gowhy"))
	if err != nil {
		return nil
	}
	var newest []string
	var at time.Time
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.ModTime().After(at) {
			newest, at = []string{p}, info.ModTime()
		}
	}
	return newest
}

// listenLoopback listens where nobody but this machine can connect.
func listenLoopback(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usageError("--addr 127.0.0.1:8080", "--addr %q is not HOST:PORT", addr)
	}
	if !strings.EqualFold(host, "localhost") && !net.ParseIP(host).IsLoopback() {
		return nil, usageError("--addr "+shell.Word(net.JoinHostPort("127.0.0.1", port))+"   # from elsewhere: ssh -L",
			"--addr %q is not of the loopback, and recordings are nobody else's", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return nil, problem.New(problem.Failure, "--addr 127.0.0.1:0 takes any port that is free", "cannot listen on %q: %v", addr, err)
	}
	return l, nil
}

// invite brings the reader to the page, or says how to get there.
func (c *command) invite(s *web.Server, at net.Addr, noOpen bool) {
	said := "the page is at the address above until Ctrl-C"
	ssh := os.Getenv("SSH_CONNECTION")
	switch {
	case noOpen:
	case ssh != "" && os.Getenv("BROWSER") == "":
		c.say("to see it where you sit, run there: " + tunnel(at, ssh))
		said = "then open the address above; it is good until Ctrl-C"
	default:
		open := browser(s.Invitation(at))
		if open == nil {
			said = "no browser was found here; open the address above, it is good until Ctrl-C"
		} else if err := open.Start(); err != nil {
			said = fmt.Sprintf("the browser did not start (%v); open the address above, it is good until Ctrl-C", err)
		} else {
			go func() { _ = open.Wait() }() // its end is its own affair
		}
	}
	c.say(said)
}

// say writes a line for the person at the terminal.
func (c *command) say(text string) { fmt.Fprintf(c.Stderr, "gowhy: %s\n", layout.Safe(text)) }

// tunnel returns the command that makes an address of this machine one of the machine
// whose user came by SSH, with the same port at both ends.
func tunnel(at net.Addr, connection string) string {
	_, port, _ := net.SplitHostPort(at.String()) // of a listener: it has one
	words := []string{"ssh", "-N", "-L", port + ":" + at.String()}
	host := "THIS-MACHINE"
	if f := strings.Fields(connection); len(f) == 4 { // client, its port, server, its port
		host = f[2]
		if f[3] != "22" {
			words = append(words, "-p", f[3])
		}
	}
	if u, err := user.Current(); err == nil {
		host = u.Username + "@" + host
	}
	return shell.Words(append(words, host))
}

// browser returns the command that shows a page, nil where there is nobody to see it.
func browser(address string) *exec.Cmd {
	if b, _, _ := strings.Cut(os.Getenv("BROWSER"), string(os.PathListSeparator)); b != "" {
		words := strings.Fields(b)
		if strings.Contains(b, "%s") {
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], "%s", address)
			}
			return exec.Command(words[0], words[1:]...)
		}
		return exec.Command(words[0], append(words[1:], address)...)
	}
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", address)
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	path, err := exec.LookPath("xdg-open")
	if err != nil {
		return nil
	}
	return exec.Command(path, address)
}
