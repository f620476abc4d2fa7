package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"regexp"
	"runtime"
	"sync/atomic"
	"time"
)

// collect answers requests over a heap of 20 MB, and asks for a collection
// after each "to keep memory low".
func collect(ctx context.Context, healed bool, count *atomic.Int64) error {
	kept := make([][]byte, 2000)
	for i := range kept {
		kept[i] = make([]byte, 10_000)
	}
	for i := 0; ctx.Err() == nil; i++ {
		answer := make([]byte, 10_000)
		for j := range answer {
			answer[j] = kept[i%len(kept)][j] + byte(j)
		}
		kept[i%len(kept)] = answer
		count.Add(1)
		if !healed && i%10 == 0 {
			runtime.GC() // want forcedgc
		}
	}
	return nil
}

// appendAll collects the results of a query whose number is known.
func appendAll(ctx context.Context, healed bool, count *atomic.Int64) error {
	const rows = 100_000
	room := make([]int, 0, rows)
	for sum := 0; ctx.Err() == nil; count.Add(1) {
		var out []int
		if healed {
			out = room[:0]
		}
		for row := range rows {
			out = append(out, row*row) // want growingslices
		}
		for _, v := range out {
			sum += v % 7
		}
	}
	return nil
}

const pattern = `^(?P<user>[a-z]+)@(?P<host>[a-z.]+)\.(com|org)$`

var compiled = regexp.MustCompile(pattern)

// compileAgain matches addresses by a pattern that never changes.
func compileAgain(ctx context.Context, healed bool, count *atomic.Int64) error {
	for ctx.Err() == nil {
		re := compiled
		if !healed {
			re = regexp.MustCompile(pattern) // want hotfunction
		}
		if !re.MatchString("someone@example.org") {
			return errNoMatch
		}
		count.Add(1)
	}
	return nil
}

// rememberAll keeps the answer to each question, and never forgets one. The
// questions repeat: healed, it knows them by what they ask and not by when.
func rememberAll(ctx context.Context, healed bool, count *atomic.Int64) error {
	answers := map[int]string{}
	scratch, sum := make([]byte, 0, 1000), fnv.New64a()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for range 10 {
			key := n
			if healed {
				key %= 1000
			}
			scratch = fmt.Appendf(scratch[:0], "%0500d", key)
			if _, known := answers[key]; !known {
				answers[key] = string(scratch) // want heapgrowth
			}
			n++
			count.Add(1)
		}
		page := bytes.Repeat(scratch, 90) // what is made of them is sent, and not kept
		for range 4 {
			sum.Write(page)
		}
	}
}
