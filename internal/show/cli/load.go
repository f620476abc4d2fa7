package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/prove/load"
	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// loadFlags are those of load.
type loadFlags struct {
	target loadTarget
	offerFlags
}

// offerFlags say how much load is offered and where the result goes, whatever
// the protocol is.
type offerFlags struct {
	rate, arrivals string
	resultFlags
	options load.Options
}

// arrivalsNames are the values of --arrivals.
var arrivalsNames = []string{"even", "poisson"}

func (c *command) loadCommand() *cobra.Command {
	f := &loadFlags{}
	cmd := &cobra.Command{
		Use:   "load {URL | -- COMMAND...}",
		Short: "Offer load to a server or a program and measure what comes of it",
		Long: `Sends requests to a URL, or lines to a program's standard input, at a rate, and
measures how long each took since it was due: when the program stalls, what had
to wait because of it is measured too. That is an open loop; --closed sends the
next operation when another has ended, as most tools do, and cannot see that.

The rate is a number a second, 100..5000 for one that rises evenly, or
100,200,400 for steps of the same length. The result says whether the generator
itself was the limit. The exit code is 0 however slow the program was, and 1
when every operation failed.`,
		Example: `  gowhy load http://localhost:8080/ --rate 500 -d 10s
  gowhy load http://localhost:8080/ --rate 100..5000 -d 1m -o load.json
  gowhy load http://localhost:8080/api -X POST --data '{"id": 1}' --rate 200
  gowhy load http://localhost:8080/ --closed -c 50 -n 10000
  gowhy load --lines queries.txt --rate 1000 -- ./program -workers 4
  gowhy load dns 127.0.0.1:5353 --queries queries.txt --rate 8000
  gowhy record --load load.json -- ./server      # take the result along`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := f.target.check(cmd, args); err != nil {
				return err
			}
			return f.check(cmd)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.load(cmd.Context(), f, args) },
	}
	f.offerFlags.flags(cmd)
	flags := cmd.Flags()
	flags.IntVarP(&f.options.Connections, "connections", "c", 0, "open at most `N` connections, or start N programs (default 256, and 1 program)")
	flags.DurationVar(&f.options.Timeout, "timeout", 10*time.Second, "wait this `TIME` for an answer")
	f.target.flags(cmd)
	protocols := &cobra.Group{ID: "Other protocols", Title: "Other protocols"}
	cmd.AddGroup(protocols)
	dns := c.loadDNSCommand()
	dns.GroupID = protocols.ID
	cmd.AddCommand(dns)
	return cmd
}

func (f *offerFlags) flags(cmd *cobra.Command) {
	o, flags := &f.options, cmd.Flags()
	flags.StringVar(&f.rate, "rate", "", "begin operations at this `RATE` a second: N, A..B or A,B,C")
	flags.DurationVarP(&o.Duration, "duration", "d", 0, "offer load for this `TIME` (default 10s, or what -n takes)")
	flags.Int64VarP(&o.Count, "count", "n", 0, "end after `N` operations")
	flags.DurationVar(&o.Warmup, "warmup", 0, "go on for this `TIME` before anything is counted")
	flags.StringVar(&f.arrivals, "arrivals", "even", "`HOW` operations arrive: "+strings.Join(arrivalsNames, " or ")+", at random, like those of independent users")
	flags.Uint64Var(&o.Seed, "seed", 1, "`SEED` of random arrivals: the same one, the same arrivals")
	flags.BoolVar(&o.Closed, "closed", false, "closed loop: no rate, each connection sends when it has its answer")
	f.resultFlags.flags(cmd, "write the result as JSON to this `FILE` too", "write the result as JSON")
	complete(cmd, "arrivals", arrivalsNames)
}

func (f *offerFlags) check(cmd *cobra.Command) error {
	o := &f.options
	if err := oneOf("arrivals", f.arrivals, arrivalsNames); err != nil {
		return err
	}
	o.Poisson = f.arrivals == "poisson"
	for _, d := range []struct {
		flag, hint string
		bad        bool
	}{{"duration", "-d 10s", o.Duration <= 0}, {"count", "-n 1000", o.Count <= 0}, {"timeout", "--timeout 10s", o.Timeout <= 0},
		{"connections", "-c 50", o.Connections <= 0}, {"sockets", "--sockets 16", o.Connections <= 0}, {"warmup", "--warmup 2s", o.Warmup < 0}} {
		if cmd.Flags().Changed(d.flag) && d.bad {
			return usageError(d.hint, "--%s has to be greater than 0", d.flag)
		}
	}
	if o.Duration == 0 && o.Count == 0 {
		o.Duration = 10 * time.Second
	}
	switch {
	case o.Closed && f.rate != "":
		return usageError("leave out --closed", "a closed loop has no --rate: the program's own speed is the rate")
	case o.Closed:
		return nil
	case f.rate == "":
		return usageError("--rate 100   or   --closed -c 10", "no load given")
	}
	return f.stages()
}

// stages reads the rate. With a number of operations alone, that is how long
// they take.
func (f *offerFlags) stages() (err error) {
	o := &f.options
	if o.Stages, err = load.ParseRate(f.rate, max(o.Duration, time.Second)); err != nil {
		return usageError("--rate 500   or   --rate 100..5000", "--rate %v", err)
	}
	if o.Duration > 0 {
		return nil
	}
	if len(o.Stages) > 1 || o.Stages[0].From != o.Stages[0].To {
		return usageError("-d 10s", "a rate that changes needs a duration")
	}
	o.Rate, o.Stages = o.Stages[0].From, nil
	return nil
}

// A loadTarget is what load is offered to: the flags of it.
type loadTarget struct {
	method, data, file, lines    string
	headers                      []string
	reconnect, insecure, noReply bool
	command                      bool // the arguments are one; check finds out
}

func (t *loadTarget) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&t.method, "method", "X", "", "HTTP `METHOD` (default GET, or POST with a body)")
	f.StringArrayVarP(&t.headers, "header", "H", nil, "send this `HEADER`, like 'Accept: text/html'; may be repeated")
	f.StringVar(&t.data, "data", "", "send this `BODY`")
	f.StringVar(&t.file, "data-file", "", "send what is in this `FILE`")
	f.BoolVar(&t.reconnect, "no-keepalive", false, "open a connection for each request")
	f.BoolVar(&t.insecure, "insecure", false, "accept any certificate")
	f.StringVar(&t.lines, "lines", "", "feed the program the lines of this `FILE`, or - for standard input, over and over (default the numbers 0, 1, 2, …)")
	f.BoolVar(&t.noReply, "no-reply", false, "the program does not answer lines: measure until it took them")
}

// check refuses what does not go together.
func (t *loadTarget) check(cmd *cobra.Command, args []string) error {
	t.command = cmd.ArgsLenAtDash() == 0 && len(args) > 0
	example := cmd.CommandPath() + " http://localhost:8080/ --rate 100"
	switch {
	case len(args) == 0:
		return usageError(example+"   or   --rate 100 -- ./PROGRAM", "no target given")
	case !t.command && cmd.ArgsLenAtDash() > 0:
		return usageError("give one of them", "both a URL and a command were given")
	case !t.command && programLike(args[0]):
		return usageError(cmd.CommandPath()+" --rate 100 -- "+shell.Words(args), "%q is no URL; a program comes after --", args[0])
	case !t.command && len(args) > 1:
		return usageError(example, "one URL at a time, %d were given", len(args))
	case t.data != "" && t.file != "":
		return usageError("give one of them", "both --data and --data-file were given")
	}
	if t.command {
		return onlyFor(cmd, urlFlags, "leave it out", "--%s is for URLs, not for programs that are fed lines")
	}
	return onlyFor(cmd, feedFlags, cmd.CommandPath()+" --lines FILE --rate 100 -- ./PROGRAM", "--%s is for programs that are fed lines")
}

// What of a loadTarget is for one kind of target alone.
var (
	urlFlags  = []string{"method", "header", "data", "data-file", "no-keepalive", "insecure"}
	feedFlags = []string{"lines", "no-reply"}
)

// onlyFor refuses flags that are for something else; form has a place for a flag.
func onlyFor(cmd *cobra.Command, flags []string, hint, form string) error {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return usageError(hint, form, name)
		}
	}
	return nil
}

// programLike tells a program from a host.
func programLike(arg string) bool { return strings.HasPrefix(arg, ".") || strings.HasPrefix(arg, "/") }

// protocol makes the protocol that the flags and arguments describe.
func (t *loadTarget) protocol(c *command, args []string) (load.Protocol, error) {
	if t.command {
		return t.feed(c, args)
	}
	q := load.Request{URL: withScheme(args[0]), Method: t.method, Body: []byte(t.data), Reconnect: t.reconnect, Insecure: t.insecure, Header: http.Header{}}
	for _, h := range t.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, usageError("-H 'Accept: text/html'", "--header %q has no colon", h)
		}
		q.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if t.file != "" {
		var err error
		if q.Body, err = os.ReadFile(t.file); err != nil {
			return nil, problem.New(problem.Absence, "", "cannot read %q: %v", t.file, problem.Cause(err))
		}
	}
	p, err := load.HTTP(q)
	if errors.Is(err, load.ErrHeader) {
		return nil, usageError("-H 'Accept: text/html'", "%v", err)
	}
	if err != nil {
		return nil, usageError("http://localhost:8080/", "%v", withoutURL(err))
	}
	return p, nil
}

// withScheme takes localhost:8080 for what it is meant to be.
func withScheme(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return "http://" + address
}

// withoutURL returns an error without net/url's repetition of its input.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return fmt.Errorf("%q is no URL: %w", u.URL, u.Err)
	}
	return err
}

func (t *loadTarget) feed(c *command, args []string) (load.Protocol, error) {
	f := load.Feed{Command: args, NoReply: t.noReply, Stderr: c.Stderr}
	if t.lines != "" {
		var err error
		if f.Lines, err = c.readLines(t.lines); err != nil {
			return nil, err
		}
	}
	p, err := load.Lines(f)
	var missing *exec.Error
	if errors.As(err, &missing) {
		return nil, usageError("the program and its arguments come after --", "there is no program %q", missing.Name)
	}
	return p, err
}

// maxLineLength is what one line of --lines may have.
const maxLineLength = 16 << 20

// readLines reads a file of lines, or standard input.
func (c *command) readLines(path string) (lines [][]byte, err error) {
	in := c.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, problem.New(problem.Absence, "", "cannot read %q: %v", path, problem.Cause(err))
		}
		defer f.Close()
		in = f
	}
	s := bufio.NewScanner(io.LimitReader(in, load.MaxFeed+1))
	s.Buffer(nil, maxLineLength)
	for s.Scan() {
		lines = append(lines, bytes.Clone(s.Bytes()))
	}
	if err := s.Err(); err != nil {
		return nil, problem.New(problem.Absence, "", "cannot read %q: %v", path, err)
	}
	if len(lines) == 0 {
		return nil, problem.New(problem.Absence, "", "there are no lines in %q", path)
	}
	return lines, nil
}

func (c *command) load(ctx context.Context, f *loadFlags, args []string) error {
	if err := checkOutput(f.out); err != nil {
		return err
	}
	p, err := f.target.protocol(c, args)
	if err != nil {
		return err
	}
	if !f.target.command {
		if err := reach(ctx, p); err != nil {
			return err
		}
	}
	return c.offer(ctx, &f.offerFlags, p)
}

// offer offers load, once it is known that somebody is there, and shows what
// came of it.
func (c *command) offer(ctx context.Context, f *offerFlags, p load.Protocol) error {
	f.options.Protocol = p
	line := c.statusLine()
	f.options.Progress = func(p load.Progress) { line.Set("%s", loadProgress(p)) }
	res, err := load.Offer(ctx, f.options)
	line.Clear()
	if res == nil {
		return usageError("--rate 100 -d 10s", "%v", err)
	}
	return errors.Join(c.offered(f, res), interrupted(err, res), res.Err())
}

// reach tells at once of a server that does not run.
func reach(ctx context.Context, p load.Protocol) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := load.Reach(ctx, p); err != nil {
		return problem.New(problem.Failure, reachHint(err), "cannot reach %v: %s", p, load.Kind(err))
	}
	return nil
}

func reachHint(err error) string {
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "is it running, and is this its port?   gowhy list"
	case errors.As(err, &untrusted):
		return "--insecure accepts any certificate"
	}
	return ""
}

func interrupted(err error, r *loadresult.Result) error {
	if err == nil {
		return nil
	}
	return problem.New(problem.Interrupt, "", "interrupted after %v: the load was not all offered", r.Duration.Round(time.Millisecond))
}

// offered writes the result.
func (c *command) offered(f *offerFlags, r *loadresult.Result) error {
	return c.result(&f.resultFlags, r.Encode, func(w io.Writer, o layout.Options) error {
		return r.Text(w, loadresult.Look{Width: o.Width, Color: o.Color})
	})
}

// loadProgress returns the line while load is offered.
func loadProgress(p load.Progress) string {
	if p.At < 0 {
		return fmt.Sprintf("warming up… %.0f s left", (-p.At).Seconds())
	}
	s := fmt.Sprintf("%.0f s", p.At.Seconds())
	if p.Of > 0 {
		s += fmt.Sprintf(" of %.0f s", p.Of.Seconds())
	}
	s = fmt.Sprintf("%s: %d sent, %s/s done, %d under way", s, p.Sent, figures.Number(p.Rate), p.Backlog)
	if p.P99 > 0 {
		s += ", p99 " + figures.Duration(p.P99)
	}
	if p.Failed > 0 {
		s += fmt.Sprintf(", %d failed", p.Failed)
	}
	return s
}
