// Scorematrix scores readers against articles: the products of all their vectors, of which
// the best article of each reader is told.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
)

const (
	width  = 64 // of a vector
	stripe = 16 // readers that a worker takes at once
	block  = 64 // articles that stay in the cache of a core
)

// vectors are rows of width numbers.
type vectors []float32

func (v vectors) row(i int) []float32 { return v[i*width:][:width:width] }

func random(n int, rnd *rand.Rand) vectors {
	v := make(vectors, n*width)
	for i := range v {
		v[i] = rnd.Float32() - 0.5
	}
	return v
}

func dot(a, b []float32) float32 {
	if len(a) != width || len(b) != width {
		panic("a vector of another width")
	}
	var s0, s1, s2, s3 float32
	for i := 0; i < width; i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	return s0 + s1 + s2 + s3
}

type best struct {
	article int32
	score   float32
}

// A task is some readers of an edition.
type task struct {
	readers  vectors
	articles vectors
	out      []best
	done     *sync.WaitGroup
}

// run scores the task's readers, a block of articles after the other.
func (t task) run() {
	clear(t.out)
	count := len(t.articles) / width
	for from := 0; from < count; from += block {
		to := min(from+block, count)
		for r := range t.out {
			reader, top := t.readers.row(r), &t.out[r]
			for a := from; a < to; a++ {
				if s := dot(reader, t.articles.row(a)); s > top.score {
					*top = best{int32(a), s}
				}
			}
		}
	}
	t.done.Done()
}

// A board has workers who score.
type board struct{ tasks chan task }

func newBoard(workers int) *board {
	b := &board{tasks: make(chan task, workers)}
	for range workers {
		go func() {
			for t := range b.tasks {
				t.run()
			}
		}()
	}
	return b
}

func (b *board) score(readers, articles vectors, out []best) {
	var done sync.WaitGroup
	for from := 0; from < len(out); from += stripe {
		to := min(from+stripe, len(out))
		done.Add(1)
		b.tasks <- task{readers[from*width : to*width], articles, out[from:to], &done}
	}
	done.Wait()
}

func main() {
	people := flag.Int("readers", 512, "how many readers an edition has")
	flag.Parse()
	rnd := rand.New(rand.NewPCG(4, 6))
	readers := random(*people, rnd)
	editions := make([]vectors, 8)
	for i := range editions {
		editions[i] = random(1024, rnd)
	}
	b := newBoard(runtime.GOMAXPROCS(0))
	defer close(b.tasks)
	out := make([]best, *people)
	pace(1, func(_ context.Context, _, n int) error {
		b.score(readers, editions[n%len(editions)], out)
		for i := range out {
			if out[i].score <= 0 {
				return fmt.Errorf("reader %d likes nothing", i)
			}
		}
		return nil
	})
}
