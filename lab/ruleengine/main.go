// Ruleengine reads orders from Kafka, applies rules to them and writes what
// came of them to a database: the second case study. Its illnesses are flags;
// the story, the figures and the cures are in CASE.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/lab/internal/observed"
)

// A config is what the flags say.
type config struct {
	mode        string
	brokers     string
	topic       string
	partitions  int
	processes   int
	messages    int
	rate        int
	commit      string
	when        string
	session     time.Duration
	every       int
	interval    time.Duration
	latency     time.Duration
	concurrency int
	compile     string
	batch       int
	db          string
	untilEOF    bool
}

// Words of flags.
const (
	modeRun, modeFeed, modeEngine, modeProduce, modeBroker, modeTopic, modeLag = "run", "feed", "engine", "produce", "broker", "topic", "lag"

	onRead, onWritten = "read", "written"

	async, synchronous = "async", "sync"
	each, once         = "each", "once"
)

func (c *config) flags(f *flag.FlagSet) {
	f.StringVar(&c.mode, "mode", modeRun, "`WHAT` to be: run consumes -messages and ends; feed takes lines and answers each when it was\nconsumed; engine, produce and broker are the parts of both; topic makes one, lag shows what is left of it")
	f.StringVar(&c.brokers, "brokers", "", "a Kafka at `HOST:PORT`; without it the program starts a broker of its own")
	f.StringVar(&c.topic, "topic", "", "`NAME` of the topic and of the group, for the modes engine, produce, topic and lag (default a new one, deleted at the end)")
	f.IntVar(&c.partitions, "partitions", 4, "of the topic")
	f.IntVar(&c.processes, "processes", 1, "`N` engines share the topic; more than one are processes of their own")
	f.IntVar(&c.messages, "messages", 4000, "produce and consume `N` messages")
	f.IntVar(&c.rate, "rate", 0, "produce `N` messages a second; 0 produces all before any is consumed")
	f.StringVar(&c.commit, "commit", synchronous, "`HOW` what is done is committed: sync waits for the broker, the first illness; async does not")
	f.StringVar(&c.when, "commit-when", onWritten, "commit a message `WHEN` its decision is written, or as soon as it is read, as the story does:\nwhat was under way is then lost when the engine is killed")
	f.DurationVar(&c.session, "session", 6*time.Second, "the broker takes an engine for dead after this `TIME` of silence, and gives its messages to the others")
	f.IntVar(&c.every, "commit-every", 1, "with -commit sync, commit every `N` messages")
	f.DurationVar(&c.interval, "commit-interval", 10*time.Millisecond, "with -commit async, commit at this `TIME`")
	f.DurationVar(&c.latency, "commit-latency", 500*time.Microsecond, "the program's own broker takes this `TIME` for a commit")
	f.IntVar(&c.concurrency, "concurrency", 1, "`N` goroutines match rules")
	f.StringVar(&c.compile, "compile", once, "compile the rules `WHEN`: once, or for each message, the second illness")
	f.IntVar(&c.batch, "batch", 500, "write `N` results at once; 1 is the third illness")
	f.StringVar(&c.db, "db", "", "write to mysql://USER:PASSWORD@HOST/DATABASE, postgres://… or a SQLite `FILE`\n(default a temporary one, deleted at the end)")
	f.BoolVar(&c.untilEOF, "until-eof", false, "end with the standard input, for programs that start this one")
}

// check refuses what makes no sense.
func (c *config) check() error {
	oneOf := func(flag, value string, words ...string) error {
		if slices.Contains(words, value) {
			return nil
		}
		return fmt.Errorf("-%s %q is none of %q", flag, value, words)
	}
	within := func(flag string, value, low, high int) error {
		if low <= value && value <= high {
			return nil
		}
		return fmt.Errorf("-%s %d is not between %d and %d", flag, value, low, high)
	}
	err := errors.Join(
		oneOf("mode", c.mode, modeRun, modeFeed, modeEngine, modeProduce, modeBroker, modeTopic, modeLag),
		oneOf("commit", c.commit, synchronous, async),
		oneOf("commit-when", c.when, onWritten, onRead),
		oneOf("compile", c.compile, once, each),
		within("partitions", c.partitions, 1, 1000),
		within("processes", c.processes, 1, c.partitions),
		within("messages", c.messages, 0, 1e9),
		within("rate", c.rate, 0, 1e7),
		within("commit-every", c.every, 1, 100_000),
		within("concurrency", c.concurrency, 1, 100_000),
		within("batch", c.batch, 1, maxBatch),
	)
	switch {
	case err != nil:
		return err
	case c.session < time.Second || c.session > 5*time.Minute:
		return fmt.Errorf("-session %v is not between 1s and 5m", c.session)
	case c.interval <= 0 || c.latency < 0:
		return errors.New("-commit-interval and -commit-latency cannot be negative")
	case c.mode == modeRun && c.messages == 0:
		return errors.New("-messages 0 is for -mode engine, which then reads until it is interrupted")
	case c.every > 1 && c.commit == async:
		return errors.New("-commit-every is for -commit sync")
	case c.every > 1 && (c.mode == modeFeed || c.processes > 1):
		return errors.New("-commit-every N leaves up to N-1 messages open, and with -mode feed or -processes lag decides what is done")
	case slices.Contains([]string{modeEngine, modeProduce, modeTopic, modeLag}, c.mode) && (c.brokers == "" || c.topic == ""):
		return fmt.Errorf("-mode %s needs -brokers and -topic", c.mode)
	case c.mode == modeEngine && c.db == "":
		return errors.New("-mode engine needs -db")
	}
	return nil
}

// args returns the flags of a child in another mode.
func (c *config) args(mode string) []string {
	return []string{
		"-mode", mode, "-brokers", c.brokers, "-topic", c.topic, "-db", c.db,
		"-partitions", strconv.Itoa(c.partitions), "-messages", strconv.Itoa(c.messages), "-rate", strconv.Itoa(c.rate),
		"-commit", c.commit, "-commit-when", c.when, "-session", c.session.String(), "-commit-every", strconv.Itoa(c.every), "-commit-interval", c.interval.String(), "-commit-latency", c.latency.String(),
		"-concurrency", strconv.Itoa(c.concurrency), "-compile", c.compile, "-batch", strconv.Itoa(c.batch),
	}
}

func main() {
	var c config
	c.flags(flag.CommandLine)
	evidence := observed.Flags(flag.CommandLine)
	flag.Parse()
	err := c.check()
	if err == nil && flag.NArg() > 0 {
		err = fmt.Errorf("%q is no flag", flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ruleengine:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if c.untilEOF {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // how it ends is not of interest
			stop()
		}()
	}
	if err := c.run(ctx, evidence); err != nil {
		fmt.Fprintln(os.Stderr, "ruleengine:", err)
		os.Exit(1)
	}
}

func (c config) run(ctx context.Context, evidence *observed.Evidence) error {
	switch c.mode {
	case modeBroker:
		return serveBroker(ctx, c.latency, os.Stdout)
	case modeProduce:
		return produce(ctx, c)
	case modeTopic:
		return makeTopic(ctx, c, os.Stdout)
	case modeLag:
		return showLag(ctx, c, os.Stdout)
	case modeEngine:
		return consume(ctx, c, evidence, os.Stdout)
	}
	w, err := newWorld(ctx, c)
	if err != nil {
		return err
	}
	if c.mode == modeFeed {
		err = w.feed(ctx, os.Stdin, os.Stdout)
	} else {
		err = w.run(ctx, evidence, os.Stdout)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // it was asked to end
	}
	return errors.Join(err, w.close())
}

// consume returns one engine, from its start to its end.
func consume(ctx context.Context, c config, evidence *observed.Evidence, out io.Writer) error {
	e, err := newEngine(ctx, c)
	if err != nil {
		return err
	}
	elapsed, err := evidence.Run(func() error { return e.run(ctx) })
	if err := errors.Join(err, e.close()); err != nil {
		return err
	}
	fmt.Fprintf(out, "%v: %v, %.0f a second\noperations: %d\n", e, elapsed.Round(time.Millisecond), float64(e.read)/elapsed.Seconds(), e.read)
	return nil
}
