package cli

import (
	"cmp"
	"context"
	"io"
	"net/netip"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/prove/load"
)

// loadDNSFlags are those of load dns.
type loadDNSFlags struct {
	target dnsTarget
	offerFlags
	flood bool
}

// dnsTimeout is what the resolvers of most systems wait.
const dnsTimeout = 5 * time.Second

const loadDNSExample = "gowhy load dns 127.0.0.1:5353 --name example.org --rate 1000"

func (c *command) loadDNSCommand() *cobra.Command {
	f := &loadDNSFlags{}
	cmd := &cobra.Command{
		Use:   "dns ADDRESS",
		Short: "Flood a DNS server of this machine with queries",
		Long: `Sends DNS queries to a server of this machine from many sockets, and measures
how long each answer took since its query was due. Other machines are refused:
ADDRESS has to be a loopback address; its port is 53 when there is none.

--queries is a file with a name and a type on each line, as dnsperf reads it:
gowhy asks them one after the other, and starts again after the last.

Answers are matched by id and question, and counted by their code. NOERROR and
NXDOMAIN are answers; any other code is a failure, as is an answer that cannot
be read and one that does not come. No question is sent twice.

--flood is an attack: as many queries as go out, or --rate, from as many
addresses as sockets, and nobody waits for an answer. They are only counted.`,
		Example: `  gowhy load dns 127.0.0.1:5353 --queries queries.txt --rate 8000 -d 5s
  gowhy load dns :5353 --name www.example.org --type AAAA --rate 500..20000
  gowhy load dns :5353 --name example.org --ecs 203.0.113.0/24 --rate 100
  gowhy load dns :5353 --queries queries.txt --closed --sockets 8 -n 100000
  gowhy load dns :5353 --queries queries.txt --rate 8000 -o load.json
  gowhy load dns :5353 --queries queries.txt --flood -d 10s --sockets 64`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError(loadDNSExample, "one address of a DNS server is needed, %d were given", len(args))
			}
			if err := f.target.check(cmd); err != nil {
				return err
			}
			if f.flood {
				return f.checkFlood()
			}
			return f.check(cmd)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, r, err := f.target.protocol(c, args[0])
			if err == nil {
				err = checkOutput(f.out)
			}
			if err == nil && f.flood {
				return c.flood(cmd.Context(), f, r)
			}
			if err == nil {
				err = reach(cmd.Context(), p)
			}
			if err != nil {
				return err
			}
			return c.offer(cmd.Context(), &f.offerFlags, p)
		},
	}
	f.target.flags(cmd)
	f.offerFlags.flags(cmd)
	flags := cmd.Flags()
	flags.IntVarP(&f.options.Connections, "sockets", "c", 0, "ask from `N` sockets (default 16)")
	flags.DurationVar(&f.options.Timeout, "timeout", dnsTimeout, "wait this `TIME` for an answer")
	flags.BoolVar(&f.flood, "flood", false, "send as much as goes out, and wait for nothing")
	return cmd
}

// floodSockets are as many sources as have a good chance to be of different
// networks, and no more goroutines than a small machine bears.
const floodSockets = 32

// checkFlood refuses what a flood has no use for.
func (f *loadDNSFlags) checkFlood() (err error) {
	o := &f.options
	switch {
	case f.target.tcp, o.Closed, o.Count > 0, o.Warmup > 0:
		return usageError("--flood -d 10s --sockets 64", "--flood goes without --tcp, --closed, --count and --warmup")
	case o.Duration < 0 || o.Connections < 0:
		return usageError("--flood -d 10s --sockets 64", "-d and --sockets have to be greater than 0")
	}
	o.Duration, o.Connections = cmp.Or(o.Duration, 10*time.Second), cmp.Or(o.Connections, floodSockets)
	if f.rate != "" {
		if o.Rate, err = strconv.ParseFloat(f.rate, 64); err != nil || !(o.Rate > 0) {
			return usageError("--flood --rate 50000", "--rate %q: a flood has one rate, a number", f.rate)
		}
	}
	return nil
}

func (c *command) flood(ctx context.Context, f *loadDNSFlags, r load.DNSRequest) error {
	line := c.statusLine()
	o := &f.options
	res, err := load.Flood(ctx, r, o.Connections, o.Rate, o.Duration, func(sent, answered int64) { line.Set("%d sent, %d answered", sent, answered) })
	line.Clear()
	if err != nil {
		return problem.New(problem.Failure, loadDNSExample, "%v", err)
	}
	text := func(w io.Writer, _ layout.Options) error { _, err := io.WriteString(w, res.String()); return err }
	err = c.result(&f.resultFlags, res.Encode, text)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return problem.New(problem.Interrupt, "", "interrupted after %.1f s", res.Seconds)
	case res.Answered == 0 && res.Unsent > 0:
		return problem.New(problem.Failure, reachHint(syscall.ECONNREFUSED), "nothing listens on %s", res.Target)
	}
	return nil
}

// A dnsTarget has the questions for a DNS server: their flags.
type dnsTarget struct {
	queries, name, kind string
	tcp, edns, dnssec   bool
	subnets             []string

	questions []load.Question // read once
}

// dnsNames are the flags of a dnsTarget.
var dnsNames = []string{"queries", "name", "type", "tcp", "edns", "dnssec-ok", "ecs"}

func (t *dnsTarget) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.queries, "queries", "", "ask what is in this `FILE`, or - for standard input: NAME TYPE on each line")
	f.StringVar(&t.name, "name", "", "ask for this `NAME`")
	f.StringVar(&t.kind, "type", "A", "`TYPE` of the records of --name")
	f.BoolVar(&t.tcp, "tcp", false, "ask over TCP, many queries on each connection")
	f.BoolVar(&t.edns, "edns", false, "advertise an EDNS buffer of 1232 bytes")
	f.BoolVar(&t.dnssec, "dnssec-ok", false, "ask for signatures")
	f.StringSliceVar(&t.subnets, "ecs", nil, "ask in the name of clients of this `SUBNET`, like 203.0.113.0/24; may be repeated")
	complete(cmd, "type", []string{"A", "AAAA", "ANY", "CAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TLSA", "TXT"})
}

// check refuses what does not go together.
func (t *dnsTarget) check(cmd *cobra.Command) error {
	switch {
	case t.queries == "" && t.name == "":
		return usageError("--name example.org   or   --queries queries.txt", "what to ask was not said")
	case t.queries != "" && t.name != "":
		return usageError("give one of them", "both --queries and --name were given")
	case t.queries != "" && cmd.Flags().Changed("type"):
		return usageError("leave it out", "--type is for --name: the queries of a file have their own")
	}
	return nil
}

// protocol makes the protocol that the flags describe, for a server.
func (t *dnsTarget) protocol(c *command, address string) (load.Protocol, load.DNSRequest, error) {
	server, err := load.ParseServer(address)
	if err != nil {
		return nil, load.DNSRequest{}, usageError(loadDNSExample, "%v", err)
	}
	r := load.DNSRequest{Server: server, TCP: t.tcp, EDNS: t.edns, DNSSEC: t.dnssec}
	for _, s := range t.subnets {
		subnet, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, r, usageError("--ecs 203.0.113.0/24", "--ecs %q is no subnet", s)
		}
		r.Subnets = append(r.Subnets, subnet)
	}
	if err := t.read(c); err != nil {
		return nil, r, err
	}
	r.Questions = t.questions
	p, err := load.DNS(r)
	if err != nil {
		return nil, r, usageError(loadDNSExample, "%v", err)
	}
	return p, r, nil
}

// read gets the questions.
func (t *dnsTarget) read(c *command) (err error) {
	if t.questions != nil {
		return nil
	}
	if t.name != "" {
		q, err := load.ParseQuestion(t.name, t.kind)
		if err != nil {
			return usageError("--name example.org --type A", "%v", err)
		}
		t.questions = []load.Question{q}
		return nil
	}
	in := io.NopCloser(c.Stdin)
	if t.queries != "-" {
		if in, err = os.Open(t.queries); err != nil {
			return problem.New(problem.Absence, "", "cannot read %q: %v", t.queries, problem.Cause(err))
		}
		defer in.Close()
	}
	if t.questions, err = load.ReadQuestions(in); err != nil {
		return problem.New(problem.Absence, "a line is a name and a type: www.example.org A", "cannot read the queries of %q: %v", t.queries, problem.Cause(err))
	}
	return nil
}
