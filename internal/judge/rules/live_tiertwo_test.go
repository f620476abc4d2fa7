package rules

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// tierTwo are programs whose illness is in how goroutines wait for each other
// and for the world outside, each with its cure: of the first the rule must
// speak, of the second it must not.
var tierTwo = []struct {
	rule       string
	sick, well func(t *testing.T, ctx context.Context)
	// procs is GOMAXPROCS, 0 to leave it.
	procs  int
	window time.Duration
}{
	{rule: "packetgoroutine", sick: goroutineEach, well: packetInline, window: 2500 * time.Millisecond},
	{rule: "serialwait", sick: commitEach, well: commitSeldom, window: 500 * time.Millisecond},
	{rule: "slowstage", sick: narrowStage, well: wideStage, procs: 4, window: 500 * time.Millisecond},
	{rule: "lockedio", sick: oneConn, well: ownConns, window: 500 * time.Millisecond},
	{rule: "fsyncbound", sick: syncEach, well: syncSeldom, window: 500 * time.Millisecond},
	{rule: "loggerlock", sick: logEach, well: logSeldom, procs: 4, window: 500 * time.Millisecond},
}

func TestTierTwo(t *testing.T) {
	attempt.Only(t, "records programs that run and judges what is said of them")
	for _, c := range tierTwo {
		for _, sick := range []bool{true, false} {
			run, name := c.well, "well"
			if sick {
				run, name = c.sick, "sick"
			}
			t.Run(c.rule+"/"+name, func(t *testing.T) {
				if c.procs > 0 {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.procs))
				}
				quiet(t, func() error {
					found := diagnoseHere(t, c.window, 0, func(ctx context.Context) { run(t, ctx) })
					if named(found, c.rule) != sick {
						return fmt.Errorf("said: %q", summaries(found))
					}
					if sick {
						logFinding(t, found, c.rule)
						return nil
					}
					// What a rule says of a well program must not be of this family.
					family := slices.DeleteFunc(found, func(f diagnosis.Finding) bool {
						return !slices.ContainsFunc(tierTwoRules, func(r string) bool { return r == f.Rule })
					})
					return silence(family)
				})
			})
		}
	}
}

var tierTwoRules = []string{"packetgoroutine", "serialwait", "slowstage", "lockedio", "fsyncbound", "loggerlock", "poolwait"}

// packets serves a socket of its own to clients that send four packets at a time.
func packets(t *testing.T, ctx context.Context, serve func(*net.UDPConn)) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() { serve(conn) })
	side(4, func(int) {
		c, err := net.Dial("udp", conn.LocalAddr().String())
		if err != nil {
			return
		}
		defer c.Close()
		buf := make([]byte, 64)
		for ctx.Err() == nil {
			for range 4 {
				c.Write(buf)
			}
			c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			for range 4 {
				if _, err := c.Read(buf); err != nil {
					break
				}
			}
		}
	})
	conn.Close()
	served.Wait()
}

func goroutineEach(t *testing.T, ctx context.Context) {
	packets(t, ctx, func(conn *net.UDPConn) {
		for {
			buf := make([]byte, 512)
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			go func() {
				sinkNumber.Add(uint64(large(1)))
				conn.WriteToUDPAddrPort(buf[:n], from)
			}()
		}
	})
}

func packetInline(t *testing.T, ctx context.Context) {
	packets(t, ctx, func(conn *net.UDPConn) {
		buf := make([]byte, 512)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			sinkNumber.Add(uint64(large(1)))
			conn.WriteToUDPAddrPort(buf[:n], from)
		}
	})
}

// echo answers each four bytes on every connection after half a millisecond.
func echo(t *testing.T) (dial func() net.Conn, end func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answerLate(c)
		}
	}()
	return func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}, func() { l.Close() }
}

func answerLate(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 4)
	for {
		if _, err := io.ReadFull(c, buf); err != nil {
			return
		}
		time.Sleep(500 * time.Microsecond)
		c.Write(buf)
	}
}

func ask(c net.Conn, n uint32) {
	c.Write(binary.BigEndian.AppendUint32(nil, n))
	io.ReadFull(c, make([]byte, 4))
}

// consumeMessages takes messages that are always there, commits every nth and
// hands them to workers.
func consumeMessages(t *testing.T, ctx context.Context, every int) {
	dial, end := echo(t)
	defer end()
	source, commits := dial(), dial()
	defer source.Close()
	defer commits.Close()
	messages, jobs := make(chan []byte, 100), make(chan []byte, 16)
	var wg sync.WaitGroup
	wg.Add(6)
	go fetchMessages(ctx, source, messages, wg.Done)
	for range 4 {
		go workMessages(jobs, wg.Done)
	}
	go takeMessages(messages, jobs, commits, every, wg.Done)
	wg.Wait()
}

func takeMessages(in <-chan []byte, out chan<- []byte, commits net.Conn, every int, done func()) {
	defer done()
	defer close(out)
	n := 0
	for m := range in {
		if n++; n%every == 0 {
			ask(commits, uint32(n))
		}
		out <- m
	}
}

func fetchMessages(ctx context.Context, c net.Conn, out chan []byte, done func()) {
	defer done()
	defer close(out)
	for ctx.Err() == nil {
		ask(c, 1)
		for range 200 {
			select {
			case out <- make([]byte, 100):
			case <-ctx.Done():
				return
			}
		}
	}
}

func workMessages(in chan []byte, done func()) {
	defer done()
	for m := range in {
		sinkNumber.Add(burn(uint64(len(m)), 20_000))
	}
}

func commitEach(t *testing.T, ctx context.Context)   { consumeMessages(t, ctx, 1) }
func commitSeldom(t *testing.T, ctx context.Context) { consumeMessages(t, ctx, 1000) }

// stagesOf is a source, a stage of n goroutines that computes, and a sink.
func stagesOf(ctx context.Context, n int) {
	in, out := make(chan uint64, 16), make(chan uint64, 16)
	go stageSource(ctx, in)
	var wg sync.WaitGroup
	wg.Add(n)
	for range n {
		go stageWork(in, out, wg.Done)
	}
	var sunk sync.WaitGroup
	sunk.Add(1)
	go stageSink(out, sunk.Done)
	wg.Wait()
	close(out)
	sunk.Wait()
}

func stageSource(ctx context.Context, in chan<- uint64) {
	defer close(in)
	for x := uint64(0); ctx.Err() == nil; x++ {
		in <- x
	}
}

func stageWork(in <-chan uint64, out chan<- uint64, done func()) {
	defer done()
	for x := range in {
		out <- burn(x, 200_000)
	}
}

func stageSink(out <-chan uint64, done func()) {
	defer done()
	for x := range out {
		sinkNumber.Add(burn(x, 1000))
	}
}

func narrowStage(_ *testing.T, ctx context.Context) { stagesOf(ctx, 1) }
func wideStage(_ *testing.T, ctx context.Context)   { stagesOf(ctx, 4) }

func oneConn(t *testing.T, ctx context.Context) {
	dial, end := echo(t)
	defer end()
	c := dial()
	defer c.Close()
	var mu sync.Mutex
	side(8, func(i int) {
		for ctx.Err() == nil {
			mu.Lock()
			ask(c, uint32(i))
			mu.Unlock()
		}
	})
}

func ownConns(t *testing.T, ctx context.Context) {
	dial, end := echo(t)
	defer end()
	var mu sync.Mutex
	asked := 0
	side(8, func(i int) {
		c := dial()
		defer c.Close()
		for ctx.Err() == nil {
			ask(c, uint32(i))
			mu.Lock()
			asked++
			mu.Unlock()
		}
	})
}

// records writes small records, with a sync for every nth.
func records(t *testing.T, ctx context.Context, every int) {
	f, err := os.Create(filepath.Join(t.TempDir(), "records"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for n := 0; ctx.Err() == nil; n++ {
		f.WriteAt(make([]byte, 512), int64(n%1000)*512)
		burn(uint64(n), 10_000)
		if n%every == 0 {
			f.Sync()
		}
	}
}

func syncEach(t *testing.T, ctx context.Context)   { records(t, ctx, 1) }
func syncSeldom(t *testing.T, ctx context.Context) { records(t, ctx, 100_000) }

// logged logs every nth of its requests.
func logged(t *testing.T, ctx context.Context, every int) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	logger := log.New(f, "", log.LstdFlags)
	side(8, func(i int) {
		for n := 0; ctx.Err() == nil; n++ {
			burn(uint64(n), 2_000)
			if n%every == 0 {
				logger.Printf("request %d of %d done", n, i)
			}
		}
	})
}

func logEach(t *testing.T, ctx context.Context)   { logged(t, ctx, 1) }
func logSeldom(t *testing.T, ctx context.Context) { logged(t, ctx, 100_000) }
