// Consumer is a framework that reads messages from a broker and hands each to
// three plugins: the third case study. Its illnesses are flags; the story, the
// figures and the cures are in CASE.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/panjf2000/ants/v2"
	"golang.org/x/time/rate"

	"github.com/gowhy/gowhy/lab/internal/observed"
)

// A consumer is the configuration of one run.
type consumer struct {
	messages int
	rate     int           // messages a second that the broker has
	fetch    time.Duration // that the broker inside collects messages for; 0 is the usual
	timeout  time.Duration
	cancel   every
	pool     int    // goroutines of the pool; 0 starts one for each plugin's call
	brokers  string // of a real Kafka; "" for the one inside
	topic    string
	limit    float64 // messages a second that the limiter lets pass; 0 is all
}

// A source delivers messages one by one, waiting for each until ctx ends.
type source interface {
	readMessage(ctx context.Context) (message, error)
}

// An every is a share of events, spread evenly over them.
type every struct{ share, due float64 }

// next reports whether the next event is one of them.
func (e *every) next() bool {
	if e.due += e.share; e.due < 1 {
		return false
	}
	e.due--
	return true
}

func main() {
	var c consumer
	flag.IntVar(&c.messages, "messages", 120_000, "how many messages are consumed: by default for longer than -timeout, so that deadlines run out")
	flag.IntVar(&c.rate, "rate", 14_666, "messages a second that the broker delivers; 0 is as fast as they are taken")
	flag.DurationVar(&c.fetch, "fetch", fetched, "how long the broker inside collects messages before it answers a fetch; surplus Ps cost most where that is short")
	flag.DurationVar(&c.timeout, "timeout", 5*time.Second, "deadline for the limiter and for one read")
	cancel := flag.Bool("cancel", false, "cancel each context when it was used; leaving that out is the first illness")
	flag.Float64Var(&c.cancel.share, "cancelled", 0, "the `SHARE` of contexts that is cancelled when -cancel is not given, 0 to 1")
	procs := flag.Int("procs", 0, "GOMAXPROCS, more than there is work for is the second illness; 0 leaves it as it is")
	flag.IntVar(&c.pool, "pool", 0, "run plugins on a pool of so many goroutines: the cure that is none")
	flag.Float64Var(&c.limit, "limit", 0, "messages a second that the limiter lets pass; 0 is all, as in the story")
	flag.StringVar(&c.brokers, "brokers", "", "read from the Kafka at `HOST:PORT`, in place of the broker inside, which delivers at -rate")
	flag.StringVar(&c.topic, "topic", "", "`NAME` of the topic of -brokers, whose first partition is read from its beginning")
	produce := flag.Bool("produce", false, "put -messages into -topic at -rate, made where there is none, and consume nothing")
	evidence := observed.Flags(flag.CommandLine)
	flag.Parse()
	if err := c.check(*produce); err != nil {
		fmt.Fprintln(os.Stderr, "consumer:", err)
		os.Exit(2)
	}
	if *produce {
		if err := c.produce(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "consumer:", err)
			os.Exit(1)
		}
		return
	}
	if *procs > 0 {
		runtime.GOMAXPROCS(*procs)
	}
	if *cancel {
		c.cancel.share = 1
	}
	var done results
	elapsed, err := evidence.Run(func() (err error) {
		done, err = c.run(context.Background())
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "consumer:", err)
		os.Exit(1)
	}
	fmt.Printf("%d messages, %d passed on, checksum %x: %v\noperations: %d\n",
		done.counted, done.passed, done.sum, elapsed.Round(time.Millisecond), done.counted)
}

// check refuses what makes no sense.
func (c *consumer) check(produce bool) error {
	switch {
	case !(c.cancel.share >= 0 && c.cancel.share <= 1):
		return errors.New("-cancelled must be 0 to 1")
	case c.limit < 0, c.fetch < 0:
		return errors.New("-limit and -fetch must not be negative")
	case (c.brokers == "") != (c.topic == ""), produce && c.brokers == "":
		return errors.New("a Kafka takes both\nhint: -brokers 127.0.0.1:9092 -topic messages")
	}
	return nil
}

// run consumes all messages.
func (c *consumer) run(ctx context.Context) (results, error) {
	start, stop, err := c.starter()
	if err != nil {
		return results{}, err
	}
	defer stop()
	ctx, end := context.WithCancel(ctx)
	defer end()
	broker, err := c.source(ctx)
	if err != nil {
		return results{}, err
	}
	limiter := rate.NewLimiter(rate.Inf, 1) // asked for every message, and never the limit in the story
	if c.limit > 0 {
		limiter = rate.NewLimiter(rate.Limit(c.limit), 1)
	}
	plugins := []plugin{&filter{}, newCounter(), &checksum{}}
	var working sync.WaitGroup
	for read := 0; read < c.messages; read++ {
		if c.wait(ctx, limiter) != nil && ctx.Err() == nil {
			read-- // no leave in time: the framework goes on and asks again
			continue
		}
		m, err := c.read(ctx, broker)
		if errors.Is(err, context.DeadlineExceeded) {
			read-- // nothing came in time, as on a machine that others have full
			continue
		}
		if err != nil {
			return results{}, err
		}
		for _, p := range plugins {
			working.Add(1)
			call := func() {
				defer working.Done()
				p.handle(m)
			}
			if err := start(call); err != nil {
				return results{}, err
			}
		}
	}
	working.Wait()
	return collect(plugins), nil
}

// starter returns what starts a plugin's call: a goroutine of its own, or one
// of a pool.
func (c *consumer) starter() (start func(func()) error, stop func(), err error) {
	if c.pool == 0 {
		return func(f func()) error { go f(); return nil }, func() {}, nil
	}
	if c.pool < 0 {
		return nil, nil, errors.New("-pool must not be negative")
	}
	pool, err := ants.NewPool(c.pool)
	if err != nil {
		return nil, nil, err
	}
	return pool.Submit, pool.Release, nil
}

// wait asks the limiter for leave to read one message.
func (c *consumer) wait(ctx context.Context, limiter *rate.Limiter) error {
	ctx, cancel := c.limited(ctx)
	err := limiter.Wait(ctx)
	if err != nil || c.cancel.next() {
		cancel() // the sick framework does it on the error path only
	}
	return err
}

// read takes the next message from the broker.
func (c *consumer) read(ctx context.Context, b source) (message, error) {
	ctx, cancel := c.limited(ctx)
	m, err := b.readMessage(ctx)
	if err != nil || c.cancel.next() {
		cancel()
	}
	return m, err
}

// limited gives a call its deadline. That the framework has a function for it
// hides the missing cancel from go vet.
func (c *consumer) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.timeout) // want leakedtimers
}
