package main

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// segment is how many numbers a worker of primes sieves at a time.
const segment = 1 << 17

// primes counts the primes from 0 on, on all cores.
func primes(ctx context.Context) (int64, string, error) {
	base := smallPrimes(1 << 20) // enough up to 10^12
	var next, found atomic.Int64
	side(runtime.GOMAXPROCS(0), func(int) {
		for marks := make([]bool, segment); ctx.Err() == nil; {
			found.Add(sieve(marks, base, (next.Add(1)-1)*segment))
		}
	})
	n := next.Load()
	return n, fmt.Sprintf("%d primes below %d", found.Load(), n*segment), nil
}

// smallPrimes returns the primes below n.
func smallPrimes(n int) (out []int64) {
	composite := make([]bool, n)
	for i := 2; i < n; i++ {
		if composite[i] {
			continue
		}
		out = append(out, int64(i))
		for j := i * i; j < n; j += i {
			composite[j] = true
		}
	}
	return out
}

// sieve counts the primes in [from, from+len(composite)), which must be below
// the square of what base ends at.
func sieve(composite []bool, base []int64, from int64) (count int64) {
	clear(composite)
	end := from + int64(len(composite))
	for _, p := range base {
		if p*p >= end {
			break
		}
		for at := max(p*p, (from+p-1)/p*p) - from; at < int64(len(composite)); at += p {
			composite[at] = true
		}
	}
	for i, no := range composite {
		if !no && from+int64(i) > 1 {
			count++
		}
	}
	return count
}

// sorting sorts the same numbers again and again on one core, in buffers of
// its own.
func sorting(ctx context.Context) (rounds int64, _ string, _ error) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers, work := random.Perm(20_000), make([]int, 20_000)
	begin := time.Now()
	for ; ctx.Err() == nil; rounds++ {
		copy(work, numbers)
		slices.Sort(work)
	}
	return rounds, fmt.Sprintf("%v for each round", time.Since(begin)/time.Duration(max(1, rounds))), nil
}

// fanout answers queries, each by a goroutine for each of 64 shards: all
// goroutines compute, and nobody waits for anything else than the CPU.
func fanout(ctx context.Context) (int64, string, error) {
	const shards = 64
	var best atomic.Uint64
	n := arrivals(ctx, 100, func(query int64) {
		var scores [shards]uint64
		side(shards, func(shard int) { scores[shard] = score(uint64(query)<<8|uint64(shard), 30_000) })
		best.Store(max(best.Load(), slices.Max(scores[:])))
	})
	return n, fmt.Sprintf("the best score of all queries is %x", best.Load()), nil
}

// score computes for about n nanoseconds and returns a number that depends on all of it.
func score(x uint64, n int) uint64 {
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
		x ^= x >> 29
	}
	return x
}

// side runs n goroutines of one function until all are done.
func side(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// A chunk goes through the pipeline and back to its start.
type chunk struct {
	text   []byte
	packed bytes.Buffer
}

// pipeline makes chunks of text, compresses them on all cores, and adds them
// up. The channels are bounded, and chunks are used again.
func pipeline(ctx context.Context) (int64, string, error) {
	workers := runtime.GOMAXPROCS(0)
	free := make(chan *chunk, 4*workers)
	for range cap(free) {
		free <- &chunk{text: make([]byte, 64<<10)}
	}
	made, packed := make(chan *chunk, workers), make(chan *chunk, workers)
	go func() {
		defer close(made)
		for n := uint64(0); ctx.Err() == nil; n++ {
			c := <-free
			fill(c.text, n)
			made <- c
		}
	}()
	go func() {
		defer close(packed)
		side(workers, func(int) { pack(made, packed) })
	}()
	var n, size int64
	var sum uint32
	for c := range packed {
		n++
		size += int64(c.packed.Len())
		sum = crc32.Update(sum, crc32.IEEETable, c.packed.Bytes())
		free <- c
	}
	return n, fmt.Sprintf("%d bytes packed, checksum %x", size, sum), nil
}

// fill writes text that compresses about as English does.
func fill(text []byte, n uint64) {
	const letters = "eeeetttaaooiinnsshhrrddlucm wfgy"
	random := rand.New(rand.NewPCG(n, 1))
	for i := 0; i+8 <= len(text); i += 8 {
		for j, r := 0, random.Uint64(); j < 8; j, r = j+1, r>>5 {
			text[i+j] = letters[r&31]
		}
	}
}

func pack(in <-chan *chunk, out chan<- *chunk) {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant of the package
	}
	for c := range in {
		c.packed.Reset()
		w.Reset(&c.packed)
		w.Write(c.text) // a bytes.Buffer takes everything
		w.Close()
		out <- c
	}
}

// workers returns a pool at half of what it could do.
func workers(ctx context.Context) (int64, string, error) {
	return crew(func(submit func(int64)) int64 { return arrivals(ctx, 2500*runtime.GOMAXPROCS(0), submit) })
}

// burst returns the same pool, with all of its work at once.
func burst(ctx context.Context) (int64, string, error) {
	return crew(func(submit func(int64)) (n int64) {
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			for range 1000 {
				submit(n)
				n++
			}
			select {
			case <-ctx.Done():
				return n
			case <-tick.C:
			}
		}
	})
}

// crew returns a worker for each core, and jobs of some 200 µs that source submits.
func crew(source func(submit func(int64)) int64) (int64, string, error) {
	jobs := make(chan int64, 1024)
	var sum atomic.Uint64
	var team sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		team.Go(func() {
			for j := range jobs {
				sum.Add(score(uint64(j), 100_000))
			}
		})
	}
	n := source(func(j int64) { jobs <- j })
	close(jobs)
	team.Wait()
	return n, fmt.Sprintf("the sum of all scores is %x", sum.Load()), nil
}

// hog is twice as many busy threads as there are cores. It knows nothing of
// the program that it is beside.
func hog(ctx context.Context) (n int64, _ string, _ error) {
	threads := 2 * runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	var rounds atomic.Int64
	side(threads, func(i int) {
		for x := uint64(i); ctx.Err() == nil; rounds.Add(1) {
			x = score(x, 100_000)
		}
	})
	return rounds.Load(), "all cores were busy", nil
}
