// Bench measures how fast and in how much memory gowhy reads execution
// traces, beside the tools that read them too, what recording costs the
// recorded program, and how often its experiments are wrong, and writes that to
// bench/runs.
//
// It hides how the traces are made and kept, how a process is pinned, limited
// and measured, and how figures taken on a busy machine are told from good
// ones. Every figure comes from a process of its own; contenders take turns,
// in random order, because only what ran minutes apart on one machine can be
// compared. README.md beside it tells how to reproduce a run.
//
// It never publishes absolute times as a promise: a [Bar] is about a ratio
// wherever it can be.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

// options are the command line.
type options struct {
	kinds, sizes, peers string
	large               bool
	rounds              int
	timeout, long       time.Duration
	memory              int64 // MB
	cache, out          string
	seed                uint64

	overhead bool          // what recording costs, instead of how fast reading is
	windowed time.Duration // of one measurement of it

	proof       bool // how often gowhy verify is wrong
	comparisons int

	watching bool // what watching costs
	programs int  // beside how many, that sleep
	minutes  time.Duration
	parked   int64
	beside   bool
	hour     int

	check    bool
	baseline string
	list     bool

	run      string // of a child: the contender to be
	profile  string // of that child
	generate string // of a child: the kind to write
	target   string // of a child: the program to be that is recorded
	size     int64
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == plantedWord {
		return bePlanted(args[1:], stdout)
	}
	o, rest, err := parse(args, stderr)
	if err != nil {
		return err
	}
	switch {
	case o.run != "" && len(rest) == 1:
		return withProfile(o.profile, func() error { return runContender(ctx, o.run, rest[0], stdout) })
	case o.generate != "" && len(rest) == 1:
		return writeTrace(o.generate, o.size, rest[0])
	case o.target != "" && len(rest) == 0:
		return beTarget(ctx, o.target, stdout)
	case o.parked > 0:
		return park(o.parked, stdout)
	case o.beside:
		return busy(besideCores)
	case o.hour > 0:
		return liveHour(ctx, o.hour, stdout)
	case len(rest) > 0:
		return fmt.Errorf("unexpected %q: traces are chosen with -kinds and -sizes", rest[0])
	case o.list:
		return list(stdout)
	case o.proof:
		return measureProof(ctx, o, stdout, stderr)
	case o.programs > 0:
		return measurePrograms(ctx, o, stdout, stderr)
	case o.watching:
		return measureWatching(ctx, o, stdout, stderr)
	case o.overhead:
		return measureOverhead(ctx, o, stdout, stderr)
	}
	return measureAll(ctx, o, stdout, stderr)
}

func parse(args []string, stderr io.Writer) (o options, rest []string, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.kinds, "kinds", "", "only these `KINDS` of trace, separated by commas")
	f.StringVar(&o.sizes, "sizes", "", "every kind in these sizes, in `MB` separated by commas, instead of the usual ones")
	f.StringVar(&o.peers, "peers", "", "gowhy against these contenders only, separated by commas")
	f.BoolVar(&o.large, "large", false, "also the trace of 1 GB")
	f.IntVar(&o.rounds, "rounds", 5, "how often everything is measured")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "a contender that takes longer is ended and reported so")
	f.DurationVar(&o.long, "long", 30*time.Second, "a contender that takes longer is measured twice only")
	f.Int64Var(&o.memory, "memory", 8000, "a contender that has more `MB` resident is ended and reported so")
	f.StringVar(&o.cache, "dir", "", "where traces are kept (default: gowhy-bench in the user's cache directory)")
	f.StringVar(&o.out, "o", "bench/runs", "where the run's directory is made; empty writes none")
	f.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "of the order in which contenders take turns")
	f.BoolVar(&o.overhead, "overhead", false, "measure what recording costs the recorded program, source by source; -kinds are then programs, -peers what is recorded")
	f.DurationVar(&o.windowed, "window", 4*time.Second, "with -overhead: how long each recording is")
	f.BoolVar(&o.watching, "watching", false, "measure what gowhy top costs, beside htop and top")
	f.IntVar(&o.programs, "programs", 0, "measure what gowhy top takes beside `N` Go programs that sleep, of one file and of a third as many, beside htop")
	f.DurationVar(&o.minutes, "for", 10*time.Minute, "with -programs: how long each of the four is")
	f.IntVar(&o.hour, "hour", 0, "be the server of the live page of process `PID` for an hour's refreshes, and tell its memory")
	f.BoolVar(&o.beside, "beside", false, "be a program that takes as much CPU as gowhy top and looks at nothing")
	f.Int64Var(&o.parked, "park", 0, "be a program with `N` goroutines that wait, as the watched process")
	f.BoolVar(&o.proof, "proof", false, "measure how often gowhy verify is wrong and what it finds; -kinds are then words of what is planted")
	f.IntVar(&o.comparisons, "comparisons", 200, "with -proof: how many comparisons of a program with itself on a busy machine; of others a part of that")
	f.BoolVar(&o.check, "check", false, "compare with a recorded run, write none, fail below 80 % of a recorded ratio")
	f.StringVar(&o.baseline, "baseline", "", "the recorded run to check against: its `DIR` (default: the newest in bench/runs)")
	f.BoolVar(&o.list, "list", false, "list traces and contenders")
	f.StringVar(&o.run, "run", "", "be the contender `NAME` for one FILE, as the measured process")
	f.StringVar(&o.profile, "cpuprofile", "", "with -run: write a CPU profile to `FILE`")
	f.StringVar(&o.generate, "generate", "", "write a trace of `KIND` to FILE, as the traced process")
	f.StringVar(&o.target, "target", "", "be the program `NAME`, as the recorded process")
	f.Int64Var(&o.size, "size", 20e6, "bytes of the trace to generate")
	if err := f.Parse(args); err != nil {
		return o, nil, err
	}
	if o.rounds < 1 {
		return o, nil, errors.New("-rounds must be at least 1")
	}
	if o.comparisons < 1 {
		return o, nil, errors.New("-comparisons must be at least 1")
	}
	return o, f.Args(), nil
}

// split reads a list of words separated by commas.
func split(s string) []string {
	var words []string
	for w := range strings.SplitSeq(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			words = append(words, w)
		}
	}
	return words
}

func megabytes(s string) ([]int64, error) {
	var sizes []int64
	for _, w := range split(s) {
		mb, err := strconv.ParseInt(w, 10, 64)
		if err != nil || mb < 1 || mb > 100_000 {
			return nil, fmt.Errorf("size %q is not a number of MB", w)
		}
		sizes = append(sizes, mb)
	}
	return sizes, nil
}

// measureAll makes the traces, runs the rounds and reports.
func measureAll(ctx context.Context, o options, stdout, stderr io.Writer) error {
	var recorded *Result
	if o.check {
		r, err := loadBaseline(o.baseline)
		if err != nil {
			return err
		}
		recorded = r
		if o.peers == "" {
			o.peers = "loop"
		}
	}
	specs, err := choose(o)
	if err != nil {
		return err
	}
	contenders, err := contend(ctx, o.peers)
	if err != nil {
		return err
	}
	defer contenders.cleanup()
	traces, err := prepare(ctx, o.cache, specs, stderr)
	if err != nil {
		return err
	}

	s := session{options: o, contenders: contenders.list, traces: traces, progress: stderr}
	runs, err := s.run(ctx)
	if err != nil {
		return err
	}
	result := newResult(o, traces, contenders.list, runs)
	if recorded != nil {
		return check(stdout, result, recorded)
	}
	if o.out == "" {
		return result.writeReport(stdout)
	}
	dir, err := result.save(o.out)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "written to", dir)
	return result.writeReport(stdout)
}
