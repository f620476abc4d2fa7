// Cronjobs runs many checks of a machine room with robfig/cron, each a hash of a configuration.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/robfig/cron/v3"
)

// A check computes the sum of a configuration and compares it with the last one.
type check struct {
	config []byte
	last   [sha256.Size]byte
	runs   *atomic.Int64
}

func (c *check) Run() {
	sum := sha256.Sum256(c.config)
	if c.last != sum {
		c.last = sum
	}
	c.runs.Add(1)
}

// every is a schedule finer than the seconds of a cron line; offsets spread the machines.
type every struct{ step, offset time.Duration }

func (e every) Next(now time.Time) time.Time {
	next := now.Truncate(e.step).Add(e.offset)
	if !next.After(now) {
		next = next.Add(e.step)
	}
	return next
}

func main() {
	rate := flag.Int("rate", 10, "checks a second, of all machines")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	const machines = 50
	var runs atomic.Int64
	c := cron.New(cron.WithChain(cron.Recover(cron.DefaultLogger), cron.SkipIfStillRunning(cron.DiscardLogger)))
	config := make([]byte, 1<<20)
	for i := range config {
		config[i] = byte(i * i)
	}
	step := time.Second * machines / time.Duration(*rate)
	for m := range machines {
		c.Schedule(every{step, step * time.Duration(m) / machines}, &check{config: config, runs: &runs})
	}
	if _, err := c.AddFunc("@every 1s", func() { log.Printf("%d checks", runs.Load()) }); err != nil {
		log.Fatal(err)
	}
	c.Start()
	<-ctx.Done()
	<-c.Stop().Done()
	fmt.Printf("operations: %d\n", runs.Load())
}
