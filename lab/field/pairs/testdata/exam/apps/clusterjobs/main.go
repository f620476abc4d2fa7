// Clusterjobs is the agent that runs small jobs on a node of a cluster.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"clusterjobs/internal/job"
	"clusterjobs/internal/lifecycle"
	"clusterjobs/internal/runner"
)

func main() {
	rate := flag.Int("rate", 450, "jobs in each second")
	slots := flag.Int("slots", 16, "jobs that run at once")
	hook := flag.String("abort-hook", "node", "whose hook aborts jobs when the node is drained: node or job")
	runs := flag.Duration("for", 6*time.Second, "how long the node is in service")
	flag.Parse()

	node := lifecycle.NewNode()
	a, err := runner.New(node, *slots, runner.Hook(*hook))
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), *runs)
	defer cancel()
	t := time.NewTicker(time.Second / time.Duration(*rate))
	defer t.Stop()
	var n int
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-t.C:
			n++
			a.Submit(job.Sample(n))
		}
	}
	a.Wait()
	done := a.Done()
	node.Drain()
	log.Printf("%d of %d jobs done, digest %08x", done, n, a.Digest())
	fmt.Printf("operations: %d\n", done)
}
