package agent

import (
	"bytes"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestRationed(t *testing.T) {
	const window, look = 10 * time.Second, 50 * time.Millisecond
	for _, c := range []struct {
		waits uint64
		cpu   time.Duration
		want  time.Duration
	}{
		{0, time.Second, window},
		{1000, 50 * time.Millisecond, window},            // 70 µs of 250 µs
		{100_000, 140 * time.Millisecond, window / 10},   // 7 ms of 700 µs
		{1_000_000, 200 * time.Millisecond, window / 70}, // 70 ms of 1 ms
		{1_000_000, 0, window * 25 / 70_000},             // 70 ms of 25 µs
		{300, 10 * time.Microsecond, window},             // 21 µs of 25 µs: it sleeps
	} {
		got := windowInBudget(window, look, c.waits, c.cpu)
		if d := got - c.want; d < -time.Millisecond || d > time.Millisecond {
			t.Errorf("%d waits in %v of CPU: %v, want %v", c.waits, c.cpu, got, c.want)
		}
	}
}

// A program that hands values over all the time is counted for a part of the
// window, and what is counted stands for all of it.
func TestBlockKeepsToItsBudget(t *testing.T) {
	if strings.HasPrefix(runtime.Version(), "go1.21") {
		t.Skip("its block profile slows the trips that it counts down to a fifth")
	}
	there, back := make(chan int), make(chan int)
	var trips atomic.Int64
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		for v := range there {
			back <- v
		}
		close(done)
	}()
	go func() { // trips are on before the look at them begins
		defer close(there)
		for {
			select {
			case <-quit:
				return
			default:
			}
			for i := 0; i < 100; i++ {
				there <- 1
				<-back
			}
			trips.Add(100)
		}
	}()
	defer func() { close(quit); <-done }()
	var b *block
	var before, after, counted int64 // trips, before and after the start, and when counting ended
	var ended chan struct{}
	for late := true; late; { // a test that has to wait for a CPU may miss the end
		b = &block{delta: delta{name: "block"}, rate: 1, window: 500 * time.Millisecond}
		before = trips.Load()
		if err := b.start(); err != nil {
			t.Fatal(err)
		}
		after = trips.Load()
		end := make(chan struct{})
		b.ration.mu.Lock()
		late = b.ration.over
		b.ration.end = func() { counted = trips.Load(); b.restore(); close(end) }
		b.ration.mu.Unlock()
		if ended = end; late {
			if _, err := b.stop(); err != nil {
				t.Fatal(err)
			}
		}
	}
	begun := time.Now()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("counted for a minute, want until the budget is spent")
	}
	time.Sleep(b.window - time.Since(begun))
	file, err := b.stop()
	if err != nil {
		t.Fatal(err)
	}
	if b.share >= 1 || b.note() == "" {
		t.Fatalf("counted in %.2f of the window, want less than all of it, and a note", b.share)
	}
	raw, err := unpack(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(raw, []byte(rationText)) {
		t.Error("the profile does not say that it was scaled up")
	}
	tally, err := tallyOf(raw)
	if err != nil {
		t.Fatal(err)
	}
	var waits float64
	for _, c := range tally.counts {
		waits += float64(c.values[0]) * b.share
	}
	// A trip makes one goroutine wait or both, at either channel. What is
	// counted at a rate of 1 ns is every wait. Trips during the start may count.
	if least, most := float64(counted-after), float64(counted-before); waits < least/3 || waits > 12*(most+100) {
		t.Errorf("%.0f waits are counted in %.2f of the window for %.0f to %.0f round trips, want one to four each", waits, b.share, least, most)
	}
	if blockProfiled() {
		t.Error("the rate was not taken back")
	}
}

// What costs little is counted all the time, and so is what was asked for. The
// program that sleeps is a process of its own: here the goroutines of other tests
// end when they like.
func TestBlockCountsAll(t *testing.T) {
	c, out := command("sleep", "")
	if err := c.Run(); err != nil {
		t.Fatalf("a program that sleeps: %v, want nil\n%s", err, out)
	}
	if got, want := out.String(), "counted in 1.00, \"\"\n"; got != want {
		t.Errorf("a program that sleeps: %q, want %q", got, want)
	}
	for query, want := range map[string]time.Duration{"d=3s": 3 * time.Second, "d=3s&blockrate=5": 0} {
		arguments, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := parse(arguments, maxSingle); err != nil || o.blockWindow() != want {
			t.Errorf("parse(%s) is rationed over %v, %v; want %v", query, o.blockWindow(), err, want)
		}
	}
	if !strings.Contains(rationText, "0.5%") || blockBudget != 0.005 {
		t.Error("the text names another budget")
	}
}
