// Clickpipeline counts clicks: one goroutine reads blocks of lines, as many as there are
// processors parse them, one adds up. Between them are short queues, and blocks and lists
// of clicks go back to whom they came from.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const blockSize = 64 << 10

// A click is what is known of a line; shop is its number.
type click struct{ shop, millis, cents int32 }

// A pool lends n things; who asks waits while all of them are lent.
type pool[T any] chan T

func newPool[T any](n int, one func() T) pool[T] {
	p := make(pool[T], n)
	for range n {
		p <- one()
	}
	return p
}

type pipeline struct {
	blocks pool[[]byte]
	lists  pool[[]click]
	read   chan []byte
	parsed chan []click
}

// A journal repeats lines of clicks as fast as somebody clicks.
type journal struct {
	text  []byte
	at    int
	every time.Duration
	next  time.Time
}

func newJournal(blocksPerSecond float64) *journal {
	rnd := rand.New(rand.NewPCG(7, 7))
	text := make([]byte, 0, 4<<20)
	for len(text) < 4<<20-64 {
		text = fmt.Appendf(text, "shop=%d ms=%d cents=%d\n", rnd.IntN(500), rnd.IntN(3000), rnd.IntN(90000))
	}
	j := &journal{text: text, next: time.Now()}
	if blocksPerSecond > 0 {
		j.every = time.Duration(float64(time.Second) / blocksPerSecond)
	}
	return j
}

// Read returns whole lines, when they are due.
func (j *journal) Read(p []byte) (int, error) {
	if j.every > 0 {
		if d := time.Until(j.next); d > 5*time.Millisecond {
			time.Sleep(d)
		}
		j.next = j.next.Add(j.every)
	}
	rest := j.text[j.at:]
	n := bytes.LastIndexByte(rest[:min(len(p), len(rest))], '\n') + 1
	if n == 0 {
		return 0, io.ErrShortBuffer
	}
	copy(p, rest[:n])
	if j.at += n; j.at == len(j.text) {
		j.at = 0
	}
	return n, nil
}

func (p *pipeline) reader(ctx context.Context, r io.Reader) error {
	defer close(p.read)
	for ctx.Err() == nil {
		block := <-p.blocks
		n, err := r.Read(block[:blockSize])
		if err != nil {
			return err
		}
		p.read <- block[:n]
	}
	return nil
}

// number returns the number after the next equals sign, and what follows it.
func number(line []byte) (n int32, rest []byte) {
	i := bytes.IndexByte(line, '=') + 1
	for ; i < len(line) && '0' <= line[i] && line[i] <= '9'; i++ {
		n = n*10 + int32(line[i]-'0')
	}
	return n, line[i:]
}

func (p *pipeline) parser() {
	for block := range p.read {
		list := (<-p.lists)[:0]
		for rest := block; len(rest) > 0; {
			end := bytes.IndexByte(rest, '\n')
			line := rest[:end]
			rest = rest[end+1:]
			var c click
			c.shop, line = number(line)
			c.millis, line = number(line)
			c.cents, _ = number(line)
			list = append(list, c)
		}
		p.blocks <- block[:blockSize]
		p.parsed <- list
	}
}

func main() {
	rate := flag.Float64("rate", 100, "blocks a second, 0 for as many as there can be")
	length := flag.Duration("for", time.Minute, "how long at most")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()

	parsers := runtime.GOMAXPROCS(0)
	p := &pipeline{
		blocks: newPool(2*parsers+2, func() []byte { return make([]byte, blockSize) }),
		lists:  newPool(2*parsers+1, func() []click { return make([]click, 0, blockSize/20) }),
		read:   make(chan []byte, parsers),
		parsed: make(chan []click, parsers),
	}
	var parsing sync.WaitGroup
	for range parsers {
		parsing.Go(p.parser)
	}
	go func() { parsing.Wait(); close(p.parsed) }()
	go func() {
		if err := p.reader(ctx, newJournal(*rate)); err != nil {
			log.Print(err)
		}
	}()
	var sums [500]struct{ clicks, millis, cents int64 }
	blocks := 0
	for list := range p.parsed {
		for _, c := range list {
			s := &sums[c.shop]
			s.clicks++
			s.millis += int64(c.millis)
			s.cents += int64(c.cents)
		}
		p.lists <- list
		blocks++
	}
	fmt.Println("shop 1:", sums[1].clicks, "clicks")
	fmt.Println("operations:", blocks)
}
