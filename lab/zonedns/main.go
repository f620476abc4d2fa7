// Zonedns is an authoritative DNS server with its zones in Redis: the fourth
// case study, a server under a flood of queries. Its illnesses are flags; the
// story, the figures and the cures are in CASE.md.
//
// server.go takes packets in and sends answers out, answer.go makes an answer
// of a question; store.go, cache.go and fetch.go bring the records, choose.go
// picks among addresses, and each of the others is what its name says.
package main

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/lab/internal/observed"
)

// A config is what the flags say.
type config struct {
	addr     string
	redis    string
	prefix   string
	load     bool
	reload   time.Duration
	geoFile  string
	upstream string
	ttl      time.Duration // of what the cache keeps
	stale    time.Duration
	entries  int
	check    time.Duration // between two health checks
	limit    float64
	burst    int
	allow    prefixes
	deny     prefixes
	logFile  string
	queries  string

	zoneFiles zoneFiles
	public    bool // listen and check beyond this machine

	// The illnesses and their cures.
	listeners int
	promotes  int // length of the funnel
	random    string
	cache     string
	debug     string
	reverse   string
	geo       string
	packets   string
	querylog  string
	lookups   string
}

// A setting is a flag that is an illness in some of its values.
type setting struct {
	name    string
	of      func(*config) *string
	values  []string
	sick    string // the default: as the story found it
	healthy string
	usage   string
}

var settings = []setting{
	{"random", func(c *config) *string { return &c.random }, []string{"shared", "fresh", "v2"}, "shared", "v2",
		"where random numbers are from: `HOW` is shared (one generator behind a lock), fresh (a generator for each query) or v2 (math/rand/v2)"},
	{"cache", func(c *config) *string { return &c.cache }, []string{"funnel", "lru"}, "funnel", "lru",
		"`HOW` the cache keeps order: funnel (each hit through one blocking channel) or lru (in shards)"},
	{"debug", func(c *config) *string { return &c.debug }, []string{"boxed", "none"}, "boxed", "none",
		"debug lines, which are off: `HOW` is boxed (arguments made and thrown away) or none"},
	{"reverse", func(c *config) *string { return &c.reverse }, []string{"concat", "builder", "bytes"}, "concat", "bytes",
		"`HOW` the key of a zone is made: concat, builder or bytes (in place)"},
	{"geo", func(c *config) *string { return &c.geo }, []string{"decode", "pool", "path"}, "decode", "path",
		"`HOW` a client's place is read: decode (a fresh record), pool (from a sync.Pool that nothing is put into) or path (only what is needed)"},
	{"packets", func(c *config) *string { return &c.packets }, []string{"goroutine", "inline"}, "goroutine", "inline",
		"`HOW` packets are handled: goroutine (one for each, as dns.Server does) or inline (by the reader of the socket)"},
	{"querylog", func(c *config) *string { return &c.querylog }, []string{"async", "sync", "queue", "off"}, "async", "async",
		"`HOW` queries are logged: async, sync (a write for each), queue (each waits for one goroutine that writes) or off"},
	{"lookups", func(c *config) *string { return &c.lookups }, []string{"cache", "redis"}, "cache", "cache",
		"where records are `FROM`: cache, or redis (a round trip for each query)"},
}

// queryFiles are what load generators ask, a name and a type in each line:
// queries.txt something of everything, geo.txt names whose answer depends on the
// client's place, reverse.txt names of IPv6 addresses.
//
//go:embed queries.txt geo.txt reverse.txt
var queryFiles embed.FS

func writeQueries(dir string) error {
	files, err := queryFiles.ReadDir(".")
	for i := 0; i < len(files) && err == nil; i++ {
		var text []byte
		if text, err = queryFiles.ReadFile(files[i].Name()); err == nil {
			err = os.WriteFile(filepath.Join(dir, files[i].Name()), text, 0o644)
		}
	}
	return err
}

// healthyListeners is a socket and a reader for each of two cores.
const healthyListeners = 2

func main() {
	c, evidence, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = serve(c, evidence)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "zonedns:", err)
		os.Exit(1)
	}
}

// parse reads the command line. Illnesses that are not named are as the story
// had them, or well with -healthy.
func parse(args []string) (*config, *observed.Evidence, error) {
	c := &config{}
	f := flag.NewFlagSet("zonedns", flag.ContinueOnError)
	f.SetOutput(io.Discard) // what is wrong is reported once, by main
	evidence := observed.Flags(f)
	f.StringVar(&c.addr, "addr", "127.0.0.1:0", "listen on this `ADDRESS`, UDP and TCP")
	f.BoolVar(&c.public, "public", false, "let -addr, and addresses whose health is checked, be others than loopback")
	f.StringVar(&c.redis, "redis", "", "read zones from the Redis at `HOST:PORT` (default: one inside, with demo zones or those of -zonefile)")
	f.StringVar(&c.prefix, "prefix", "zonedns:", "begin every key in Redis with `TEXT`")
	f.BoolVar(&c.load, "load", false, "write the demo zones into the Redis of -redis first")
	f.Var(&c.zoneFiles, "zonefile", "write the zone of a master file, as `ORIGIN=FILE`, into Redis first; may be repeated")
	f.DurationVar(&c.reload, "reload", 10*time.Second, "look for new zones every `TIME`; 0 never does")
	f.StringVar(&c.geoFile, "mmdb", "", "read places from this MaxMind database `FILE` (default: a generated one)")
	f.StringVar(&c.upstream, "upstream", "", "ask the server at `HOST:PORT` for targets of ANAME (default: one inside)")
	f.DurationVar(&c.ttl, "cachettl", time.Minute, "keep records in the cache for this `TIME`")
	f.DurationVar(&c.stale, "stale", time.Hour, "serve records this `TIME` beyond -cachettl when no new ones can be had")
	f.IntVar(&c.entries, "entries", 10_000, "keep the records of `N` names in the cache")
	f.DurationVar(&c.check, "check", 2*time.Second, "check the health of addresses every `TIME`")
	f.Float64Var(&c.limit, "limit", 0, "answer at most `N` queries a second of one network; 0 answers all")
	f.IntVar(&c.burst, "burst", 100, "let a network ask `N` queries at once before -limit counts")
	f.Var(&c.allow, "allow", "never limit these `NETWORKS`, like 127.0.0.0/8,2001:db8::/32")
	f.Var(&c.deny, "deny", "refuse these `NETWORKS`")
	f.StringVar(&c.logFile, "log", "", "log queries to this `FILE` (default: a temporary one, deleted at the end)")
	f.StringVar(&c.queries, "queries", "", "write files with queries for the demo zones into this `DIRECTORY`")
	f.IntVar(&c.listeners, "listeners", 1, "open `N` sockets on the port")
	f.IntVar(&c.promotes, "promotes", 1024, "let `N` hits wait in the channel of -cache funnel")
	for i := range settings {
		s := &settings[i]
		f.StringVar(s.of(c), s.name, s.sick, s.usage)
	}
	story := f.Bool("story", false, "as the story's server was under its flood: a goroutine for each packet, which waits for Redis and for the log")
	file := f.String("config", "", "read flags from this JSON `FILE`, by their names; those on the command line win")
	healthy := f.Bool("healthy", false, "cure all illnesses but those that are named")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		usage(f)
		return nil, nil, err
	} else if err != nil {
		return nil, nil, fmt.Errorf("%w\nhint: zonedns -help", err)
	}
	if f.NArg() > 0 {
		return nil, nil, fmt.Errorf("%q is no flag\nhint: zonedns -help", f.Arg(0))
	}
	if *file != "" {
		if err := configure(f, *file); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case *healthy && *story:
		return nil, nil, errors.New("-healthy and -story say opposite things\nhint: zonedns -help")
	case *healthy:
		heal(c, f)
	case *story:
		asInStory(c, f)
	}
	return c, evidence, c.validate()
}

func heal(c *config, f *flag.FlagSet) {
	named := map[string]bool{}
	f.Visit(func(g *flag.Flag) { named[g.Name] = true })
	for i := range settings {
		if s := &settings[i]; !named[s.name] {
			*s.of(c) = s.healthy
		}
	}
	if !named["listeners"] {
		c.listeners = healthyListeners
	}
}

// asInStory sets what the story's server did under its flood and other servers with
// the same illnesses need not.
func asInStory(c *config, f *flag.FlagSet) {
	named := map[string]bool{}
	f.Visit(func(g *flag.Flag) { named[g.Name] = true })
	if !named["lookups"] {
		c.lookups = "redis"
	}
	if !named["querylog"] {
		c.querylog = "queue"
	}
}

func usage(f *flag.FlagSet) {
	f.SetOutput(os.Stdout)
	fmt.Fprint(os.Stdout, `An authoritative DNS server with the illnesses of its story as flags.

  zonedns -addr 127.0.0.1:5300                      # as the story found it
  zonedns -addr 127.0.0.1:5300 -healthy             # all cured
  zonedns -healthy -packets goroutine               # one illness alone
  zonedns -story                                    # grows under a flood until it is killed:
  gowhy load dns 127.0.0.1:5300 --queries /tmp/queries.txt --flood
  zonedns -redis 127.0.0.1:6379 -load               # with a Redis of yours
  zonedns -zonefile example.test=example.zone       # with a zone of yours
  zonedns -config zonedns.json                      # flags from a file, as {"addr": "127.0.0.1:5300"}
  zonedns -addr 127.0.0.1:5300 -queries /tmp        # files for a load generator:
  gowhy load dns 127.0.0.1:5300 --queries /tmp/queries.txt --rate 10000

`)
	f.PrintDefaults()
}

// validate refuses values that make no sense.
func (c *config) validate() error {
	for i := range settings {
		s := &settings[i]
		if v := *s.of(c); !slices.Contains(s.values, v) {
			return fmt.Errorf("-%s is %q\nhint: -%s %s", s.name, v, s.name, strings.Join(s.values, " or -"+s.name+" "))
		}
	}
	addr, err := netip.ParseAddrPort(c.addr)
	switch {
	case err != nil:
		return fmt.Errorf("-addr is %q\nhint: -addr 127.0.0.1:5300", c.addr)
	case !c.public && !addr.Addr().IsLoopback():
		return errors.New("a program that is ill on purpose listens on loopback addresses only\nhint: -addr 127.0.0.1:5300, or -public if others are to reach it")
	case addr.Addr().IsUnspecified() && c.packets == "inline":
		// Its answers leave from the address that the route takes, and clients of
		// another do not know them.
		return errors.New("-packets inline answers from one address\nhint: -addr with an address of this machine, or -packets goroutine")
	}
	for _, n := range []struct {
		flag            string
		value, min, max float64
	}{
		{"listeners", float64(c.listeners), 1, 64}, {"promotes", float64(c.promotes), 0, 1 << 20}, {"entries", float64(c.entries), 1, 1 << 24},
		{"burst", float64(c.burst), 1, 1 << 20}, {"limit", c.limit, 0, 1e9}, {"cachettl", c.ttl.Seconds(), 0, 1e6}, {"stale", c.stale.Seconds(), 0, 1e7},
		{"check", c.check.Seconds(), 0.01, 1e6}, {"reload", c.reload.Seconds(), 0, 1e6},
	} {
		if !(n.value >= n.min && n.value <= n.max) {
			return fmt.Errorf("-%s has to be between %g and %g", n.flag, n.min, n.max)
		}
	}
	if c.load && c.redis == "" {
		return errors.New("-load writes into the Redis of -redis\nhint: -redis 127.0.0.1:6379 -load")
	}
	return nil
}

// serve answers queries until it is interrupted.
func serve(c *config, evidence *observed.Evidence) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	if c.queries != "" {
		if err := writeQueries(c.queries); err != nil {
			return fmt.Errorf("-queries: %w", err)
		}
	}
	s, err := start(c)
	if err != nil {
		return err
	}
	_, err = evidence.Run(func() error {
		fmt.Println("ready", s.addr)
		<-stop
		return s.close()
	})
	fmt.Printf("%d answered stale, %d limited, %d dropped, %d log lines lost\n", s.fetch.staleAnswers.Load(), s.limit.limited.Load(), s.dropped.Load(), s.log.lost.Load())
	fmt.Printf("operations: %d\n", s.done.Load())
	return err
}
