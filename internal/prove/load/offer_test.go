package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// A fake is a protocol whose program is a function: it sleeps for as long as
// it wants to take.
type fake struct {
	limits Limits
	serve  func(seq int64) error
	dial   func() error
	dials  atomic.Int64
}

func (f *fake) Limits() Limits { return f.limits }
func (f *fake) String() string { return "a fake" }

func (f *fake) Dial(context.Context) (Conn, error) {
	f.dials.Add(1)
	if f.dial != nil {
		if err := f.dial(); err != nil {
			return nil, err
		}
	}
	return &fakeConn{f: f}, nil
}

type fakeConn struct {
	f   *fake
	seq int64
}

func (c *fakeConn) Close() error                      { return nil }
func (c *fakeConn) Send(seq int64, _ time.Time) error { c.seq = seq; return nil }

func (c *fakeConn) Receive(deadline time.Time) (Reply, error) {
	err := c.f.serve(c.seq)
	if time.Now().After(deadline) {
		return Reply{}, errSlow
	}
	return Reply{Seq: c.seq, Bytes: 10, Err: err}, nil
}

// offerFake runs a load under synctest's clock, so that it takes no time.
func offerFake(t *testing.T, f *fake, o Options) *loadresult.Result {
	t.Helper()
	var res *loadresult.Result
	synctest.Test(t, func(t *testing.T) {
		if f.limits == (Limits{}) {
			f.limits = Limits{Connections: 256, Depth: 1}
		}
		o.Protocol = f
		if o.sleep == nil {
			o.sleep = nap
		}
		var err error
		if res, err = Offer(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	})
	tiled(t, res)
	return res
}

// tiled checks that the intervals of a result cover it and add up.
func tiled(t *testing.T, r *loadresult.Result) {
	t.Helper()
	at, ops, failed := time.Duration(0), int64(0), int64(0)
	for _, i := range r.Over {
		if i.At != at || i.Width <= 0 || i.P50 > i.P99 {
			t.Errorf("the interval at %v is %v wide, P50 %v, P99 %v, want it at %v, wider than 0, P50 no more than P99",
				i.At, i.Width, i.P50, i.P99, at)
		}
		at, ops, failed = i.At+i.Width, ops+i.Ops, failed+i.Failed
	}
	if at != r.Duration || ops != r.Ops || failed != r.Failed {
		t.Errorf("intervals up to %v with %d, %d failed; in all %v, %d, %d", at, ops, failed, r.Duration, r.Ops, r.Failed)
	}
}

func sleeper(d time.Duration) func(int64) error {
	return func(int64) error { time.Sleep(d); return nil }
}

const (
	us = time.Microsecond
	ms = time.Millisecond
)

func textOf(t testing.TB, r *loadresult.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Text(&b, loadresult.Look{Width: 80}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func encoded(t testing.TB, r *loadresult.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// listed returns the quantile q of a list that has it.
func listed(values []loadresult.Quantile, q float64) time.Duration {
	return values[slices.IndexFunc(values, func(v loadresult.Quantile) bool { return v.Q == q })].Value
}

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestRateIsKept(t *testing.T) {
	for _, rate := range []float64{1, 37, 1000, 15_000} {
		f := &fake{serve: sleeper(2 * ms)}
		r := offerFake(t, f, Options{Rate: rate, Duration: 4 * time.Second})
		if r.Planned != int64(4*rate) || r.Sent != r.Planned || r.Ops != r.Planned || r.Failed != 0 || r.Bytes != 10*r.Ops {
			t.Errorf("at %v/s: %d planned, %d sent, %d done, %d failed, %d bytes; want all planned done, 10 bytes each", rate, r.Planned, r.Sent, r.Ops, r.Failed, r.Bytes)
		}
		within(t, "offered", r.Offered, rate, 1e-9)
		within(t, "rate", r.Rate, rate, 0.01)
		for _, i := range r.Over[:3] {
			within(t, "rate of a second", float64(i.Ops), rate, 0.01)
		}
		if p50, p99 := r.Quantile(0.5), r.Quantile(0.99); p50 < 2*ms || p99 > 2*ms+shortest+10*us {
			t.Errorf("at %v/s: p50 %v, p99 %v; want %v to %v", rate, p50, p99, 2*ms, 2*ms+shortest+10*us)
		}
		if late := listed(r.Late, 1); late > shortest {
			t.Errorf("at %v/s: %v late, want at most %v", rate, late, shortest)
		}
		if most := int(rate*(2*ms+shortest).Seconds()) + 3; r.Connections > most || int(f.dials.Load()) != r.Connections {
			t.Errorf("at %v/s: %d connections, %d dialled; want as many, at most %d", rate, r.Connections, f.dials.Load(), most)
		}
		if r.Generator != "" || r.FellBehind() {
			t.Errorf("at %v/s: generator %q, behind: %v; want no limit", rate, r.Generator, r.FellBehind())
		}
	}
}

// A program that stalls once makes all wait who came meanwhile. A closed loop
// does not come meanwhile.
func TestCoordinatedOmission(t *testing.T) {
	stalling := func() *fake {
		var once sync.Once
		var start time.Time
		return &fake{serve: func(int64) error {
			once.Do(func() { start = time.Now() })
			if in := time.Since(start); in >= 2*time.Second && in < 2500*ms {
				time.Sleep(2500*ms - in)
			}
			time.Sleep(ms)
			return nil
		}}
	}
	open := offerFake(t, stalling(), Options{Rate: 1000, Duration: 10 * time.Second})
	closed := offerFake(t, stalling(), Options{Closed: true, Connections: 1, Duration: 10 * time.Second})
	// A twentieth of the time the program stood, for 250 ms on average: a fifth
	// of those who came then, a hundredth of all, waited for over 400 ms.
	within(t, "p99 of the open loop", open.Quantile(0.99).Seconds(), 0.4, 0.03)
	within(t, "its worst", open.Quantile(1).Seconds(), 0.501, 0.01)
	if p := closed.Quantile(0.99); p > 2*ms {
		t.Errorf("p99 of the closed loop is %v, want at most 2ms", p)
	}
	if !closed.Closed || closed.Offered != 0 || closed.Planned != closed.Ops {
		t.Errorf("result %+v, want a closed loop without a rate, which did what it planned", closed)
	}
	for _, text := range []string{textOf(t, closed)} {
		if !strings.Contains(text, "A closed loop") || strings.Contains(text, "since due") {
			t.Errorf("text %s\nwant a closed loop and nothing since due", text)
		}
	}
	// With as few connections as the closed loop has, latency still counts from
	// when an operation was due, and the rest waits in the plan.
	one := offerFake(t, stalling(), Options{Rate: 900, Connections: 1, Duration: 10 * time.Second})
	if p99 := one.Quantile(0.99); p99 < 400*ms || listed(one.Service, 0.99) > 2*ms {
		t.Errorf("p99 %v since due, %v since sent; want 400 ms or more and 2 ms or less", p99, listed(one.Service, 0.99))
	}
	if late := listed(one.Late, 0.99); late > ms {
		t.Errorf("the program's stall is taken for the generator's: %v late, want at most 1ms", late)
	}
}

// serial returns a program that does one operation at a time.
func serial(d time.Duration) func(int64) error {
	var turn chan struct{}
	var once sync.Once
	return func(int64) error {
		once.Do(func() { turn = make(chan struct{}, 1) })
		turn <- struct{}{}
		time.Sleep(d)
		<-turn
		return nil
	}
}

// A stall that lasts to the end keeps all but one operation of a connection
// from being begun: that they waited shows all the same.
func TestStallAtTheEnd(t *testing.T) {
	serve := func(seq int64) error {
		if seq == 900 {
			time.Sleep(200 * ms)
		}
		return nil
	}
	r := offerFake(t, &fake{limits: Limits{Connections: 1, Depth: 1}, serve: serve}, Options{Rate: 1000, Duration: time.Second})
	if r.Sent != 901 || r.Planned != 1000 || r.Ops != 901 {
		t.Fatalf("%d of %d sent, %d done; want 901 of 1000 sent and done", r.Sent, r.Planned, r.Ops)
	}
	within(t, "p95", r.Quantile(0.95).Seconds(), 0.05, 0.05)
	if p95 := listed(r.Service, 0.95); p95 > ms {
		t.Errorf("service at p95 is %v, want at most 1ms", p95)
	}
}

func TestBacklogGrows(t *testing.T) {
	r := offerFake(t, &fake{serve: serial(10 * ms)}, Options{Rate: 200, Duration: 10 * time.Second, Connections: 16})
	if len(r.Backlog) < 35 {
		t.Fatalf("%d samples of the backlog, want 35 or more", len(r.Backlog))
	}
	for _, l := range r.Backlog {
		if l.At > 10*time.Second {
			break
		}
		if l.At > time.Second { // 200 come a second, 100 go
			within(t, fmt.Sprintf("backlog at %v", l.At), float64(l.N), 100*l.At.Seconds(), 0.05)
		}
	}
	within(t, "rate", r.Rate, 100, 0.01)
	within(t, "operations never sent", float64(r.Planned-r.Sent), 1000, 0.03)
	if !r.FellBehind() || r.Generator != "" {
		t.Errorf("%q, generator %q; want a program behind and no limit of the generator", textOf(t, r), r.Generator)
	}
	// With connections for all it is seen too, though all were sent.
	r = offerFake(t, &fake{serve: serial(10 * ms)}, Options{Rate: 120, Duration: 10 * time.Second})
	if r.Sent != r.Planned || !r.FellBehind() {
		t.Errorf("%s\nwant all sent and a program behind", textOf(t, r))
	}
}

func TestGeneratorIsTheLimit(t *testing.T) {
	for _, test := range []struct {
		name string
		f    *fake
		o    Options
		want string
	}{
		{"connections", &fake{serve: sleeper(100 * ms)}, Options{Rate: 200, Connections: 8}, "all 8 connections were busy: try -c 32"},
		{"sleep", &fake{serve: sleeper(ms)}, Options{Rate: 200, sleep: func(ctx context.Context, d time.Duration) { nap(ctx, d+20*ms) }}, "were begun more than 5ms late although connections were free, by 2"},
		{"ports", &fake{serve: sleeper(ms), dial: func() error { return fmt.Errorf("connect: %w", syscall.EADDRNOTAVAIL) }}, Options{Rate: 100}, "500 operations found no local port"},
		{"files", &fake{serve: sleeper(ms), dial: func() error { return syscall.EMFILE }}, Options{Rate: 100}, "ulimit -n"},
		{"none", &fake{serve: sleeper(ms), dial: func() error { return syscall.ECONNREFUSED }}, Options{Rate: 100}, ""},
		{"slower with more", &fake{serve: serial(20 * ms)}, Options{Rate: 200, Connections: 8}, ""},
	} {
		test.o.Duration = 5 * time.Second
		r := offerFake(t, test.f, test.o)
		if !strings.Contains(r.Generator, test.want) || test.want == "" && r.Generator != "" {
			t.Errorf("%s: generator %q, want %q", test.name, r.Generator, test.want)
		}
		if text := textOf(t, r); strings.HasPrefix(text, "the generator was the limit") != (test.want != "" && r.Failed < r.Ops) {
			t.Errorf("%s:\n%s\nwant the generator's limit first: %v", test.name, text, test.want != "" && r.Failed < r.Ops)
		}
	}
	r := &loadresult.Result{Procs: 2, CPU: 1.85}
	if why := newRun(Options{Protocol: &fake{}, Closed: true}).limit(r); !strings.Contains(why, "1.85 of the 2 CPUs") {
		t.Errorf("limit of a generator at 1.85 of 2 CPUs = %q, want that said", why)
	}
}

func TestWarmup(t *testing.T) {
	slowAtFirst := func(seq int64) error {
		if seq < 100 {
			time.Sleep(300 * ms)
			return StatusError(500)
		}
		time.Sleep(ms)
		return nil
	}
	for _, o := range []Options{{Rate: 100, Duration: 3 * time.Second}, {Rate: 100, Count: 300}} {
		o.Warmup = time.Second
		began := time.Date(2000, 1, 1, 0, 0, 1, 0, time.UTC) // synctest's clock begins with 2000
		r := offerFake(t, &fake{serve: slowAtFirst}, o)
		if r.Planned != 300 || r.Ops != 300 || r.Failed != 0 || r.Quantile(1) > 2*ms || !r.Start.Equal(began) {
			t.Errorf("result %+v, want 300 operations of at most 2 ms, none of the warm-up", r)
		}
		within(t, "rate", r.Rate, 100, 0.01)
	}
}

// A number of operations without a time is done to its end.
func TestCount(t *testing.T) {
	r := offerFake(t, &fake{serve: serial(10 * ms)}, Options{Rate: 1000, Count: 500, Connections: 4})
	if r.Planned != 500 || r.Sent != 500 || r.Ops != 500 {
		t.Errorf("%d planned, %d sent, %d done; want 500 of each", r.Planned, r.Sent, r.Ops)
	}
	within(t, "duration", r.Duration.Seconds(), 5, 0.01)
	within(t, "rate", r.Rate, 100, 0.01)
	r = offerFake(t, &fake{serve: sleeper(10 * ms)}, Options{Closed: true, Count: 500, Connections: 5})
	if r.Planned != 500 || r.Ops != 500 || r.Connections != 5 {
		t.Errorf("result %+v, want 500 operations over 5 connections", r)
	}
	within(t, "duration", r.Duration.Seconds(), 1, 0.01)
	r = offerFake(t, &fake{serve: sleeper(10 * ms)}, Options{Closed: true, Count: 1 << 40, Duration: time.Second, Connections: 5})
	within(t, "operations", float64(r.Ops), 500, 0.01)
}

func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*ms)
		defer cancel()
		f := &fake{limits: Limits{Connections: 9, Depth: 1}, serve: sleeper(100 * ms)}
		r, err := Offer(ctx, Options{Protocol: f, Rate: 10, Duration: time.Hour, sleep: nap})
		if !errors.Is(err, context.DeadlineExceeded) || r == nil || r.Ops < 24 || r.Ops > 26 || r.Planned != 26 || r.Duration > 2600*ms {
			t.Errorf("Offer() = %+v, %v; want 24 to 26 of 26 operations and the end of its context", r, err)
		}
		within(t, "rate", r.Rate, 10, 0.1)
		within(t, "offered", r.Offered, 10, 0.1)
	})
}

func TestFailures(t *testing.T) {
	r := offerFake(t, &fake{serve: func(seq int64) error {
		switch {
		case seq%10 == 0:
			return StatusError(503)
		case seq%10 == 1:
			time.Sleep(2 * time.Second)
		case seq%10 == 2:
			return fmt.Errorf("kind %d\x1b[31m\n", seq)
		}
		return nil
	}}, Options{Rate: 100, Duration: 10 * time.Second, Timeout: time.Second})
	if r.Ops != 1000 || r.Failed != 300 || len(r.Errors) != maxKinds+2 {
		t.Errorf("%d, %d failed: %v", r.Ops, r.Failed, r.Errors)
	}
	want := []loadresult.Failure{{What: kindTimeout, N: 100}, {What: "status 503", N: 100}}
	rest := slices.IndexFunc(r.Errors, func(f loadresult.Failure) bool { return f.What == kindOthers })
	if rest < 0 || !slices.Contains(r.Errors, want[0]) || !slices.Contains(r.Errors, want[1]) || r.Errors[rest].N != int64(100-(maxKinds-1)) {
		t.Errorf("errors %v, want %v and %d others", r.Errors, want, 100-(maxKinds-1))
	}
	for _, f := range r.Errors {
		if strings.ContainsAny(f.What, "\x1b\n") {
			t.Errorf("error %q, want no control characters", f.What)
		}
	}
	// A timeout is a latency, however long it would have taken.
	within(t, "worst", r.Quantile(1).Seconds(), 2, 0.01)
	// Nothing answered, nothing measured.
	r = offerFake(t, &fake{dial: func() error { return syscall.ECONNREFUSED }}, Options{Rate: 100, Duration: time.Second})
	if r.Ops != 100 || r.Failed != 100 || len(r.Latency) != 0 || r.Errors[0] != (loadresult.Failure{What: "connection refused", N: 100}) {
		t.Errorf("result %+v, want 100 operations refused and no latency", r)
	}
}

func TestProgress(t *testing.T) {
	var all []Progress
	offerFake(t, &fake{serve: sleeper(50 * ms)}, Options{Rate: 100, Duration: 2 * time.Second, Warmup: time.Second, Progress: func(p Progress) { all = append(all, p) }})
	if len(all) < 11 || all[0].At != -750*ms || all[0].Sent != 0 || all[0].Of != 2*time.Second {
		t.Fatalf("progress %+v, want 11 reports or more, the first of the warm-up, 750 ms before", all)
	}
	last := all[10]
	if last.At < 1700*ms || last.Sent < 170 || last.Done < 160 || last.Backlog < 4 || last.Backlog > 6 || last.P99 < 50*ms || math.Abs(last.Rate-100) > 6 {
		t.Errorf("progress %+v, want 100/s for 1.7 s or more, a backlog of 4 to 6, p99 of 50 ms or more", last)
	}
}

func TestOptions(t *testing.T) {
	ok := func() Options {
		return Options{Protocol: &fake{limits: Limits{256, 1}}, Rate: 10, Duration: time.Second}
	}
	for name, spoil := range map[string]func(*Options){
		"no protocol":        func(o *Options) { o.Protocol = nil },
		"cannot be negative": func(o *Options) { o.Timeout = -1 },
		"cannot be opened":   func(o *Options) { o.Connections = 1 << 20 },
		"1 to 1 operations":  func(o *Options) { o.Depth = 2 },
		"needs a duration":   func(o *Options) { o.Closed, o.Duration = true, 0 },
		"not a single":       func(o *Options) { o.Rate, o.Duration = 0.001, ms },
		"cannot be offered":  func(o *Options) { o.Rate = 1e9 },
		"plan not":           func(o *Options) { o.Rate = 0 },
	} {
		o := ok()
		spoil(&o)
		if _, err := Offer(t.Context(), o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Offer(): error %v, want one with %q", err, name)
		}
	}
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]string{
		"500":                            "[{500 500 6s}]",
		"100..5000":                      "[{100 5000 6s}]",
		"100,200..400,0.5":               "[{100 100 2s} {200 400 2s} {0.5 0.5 2s}]",
		" 1 .. 2 ":                       "[{1 2 6s}]",
		"":                               `"" is no rate`,
		"5/s":                            `"5/s" is no rate`,
		"-1":                             `"-1" is no rate`,
		"NaN":                            `"NaN" is no rate`,
		"1e300":                          `"1e300" is no rate`,
		strings.Repeat("1,", 1000) + "1": "more than 1000 steps",
	} {
		got, err := ParseRate(text, 6*time.Second)
		if err != nil && !strings.HasPrefix(err.Error(), want) || err == nil && fmt.Sprint(got) != want {
			t.Errorf("ParseRate(%q) = %v, %v; want %s", text, got, err, want)
		}
	}
	if got := StagesText([]Stage{{100, 5000, 0}, {0.25, 0.25, 0}}); got != "100..5000,0.25/s" {
		t.Errorf("StagesText() = %q, want 100..5000,0.25/s", got)
	}
}

// all lists the arrivals of a plan.
func all(o Options) (at []time.Duration) {
	for a := newArrivals(&o); a.more; a.next() {
		at = append(at, a.at)
	}
	return at
}

func TestArrivals(t *testing.T) {
	even := all(Options{Stages: []Stage{{500, 500, 10 * time.Second}}})
	if len(even) != 5000 || even[0] != 0 || even[4999] != 9998*ms {
		t.Errorf("%d arrivals to %v, want 5000 from 0 to 9.998s", len(even), even[len(even)-1])
	}
	// A ramp from 0 to 1000 in 10 s: 5 t² have come by then.
	ramp := all(Options{Stages: []Stage{{0, 1000, 10 * time.Second}}})
	if len(ramp) != 5000 {
		t.Errorf("%d arrivals in a ramp from nothing", len(ramp))
	}
	for i, at := range ramp {
		if s := at.Seconds(); i > 0 && math.Abs(50*s*s-float64(i)) > 1e-3*float64(i) {
			t.Fatalf("arrival %d at %v, want 50 t² by then", i, at)
		}
	}
	if down := all(Options{Stages: []Stage{{1000, 0, 10 * time.Second}}}); len(down) != 5000 || down[4999] > 10*time.Second || !slices.IsSorted(down) {
		t.Errorf("%d arrivals in a ramp to nothing", len(down))
	}
	steps := all(Options{Warmup: time.Second, Count: 350, Stages: []Stage{{100, 100, time.Second}, {200, 200, time.Second}, {400, 400, time.Second}}})
	n := [4]int{}
	for _, at := range steps {
		n[at/time.Second]++
	}
	if n != [4]int{100, 100, 200, 50} {
		t.Errorf("steps have %v, want [100 100 200 50]", n)
	}
	if none := all(Options{Stages: []Stage{{0, 0, time.Second}, {1, 1, time.Second}}}); len(none) != 1 || none[0] != time.Second {
		t.Errorf("arrivals %v, want one at 1s", none)
	}
}

func TestPoisson(t *testing.T) {
	o := Options{Poisson: true, Seed: 3, Stages: []Stage{{1000, 1000, 20 * time.Second}, {2000, 2000, 10 * time.Second}}}
	at := all(o)
	within(t, "arrivals", float64(len(at)), 40_000, 0.02)
	if again := all(o); !slices.Equal(at, again) {
		t.Error("the same seed gives other arrivals")
	}
	o.Seed++
	if slices.Equal(at, all(o)) {
		t.Error("another seed gives the same arrivals")
	}
	// Distances of independent arrivals vary as much as they are long.
	var sum, squares float64
	for i := 1; i < 18_000; i++ {
		d := (at[i] - at[i-1]).Seconds()
		sum, squares = sum+d, squares+d*d
	}
	mean := sum / 17_999
	within(t, "mean distance", mean, 0.001, 0.03)
	within(t, "its deviation", math.Sqrt(squares/17_999-mean*mean), 0.001, 0.05)
	// Two that count and hand out agree.
	count := newArrivals(&o)
	half, _ := count.countPassed(10 * time.Second)
	rest, _ := count.countPassed(time.Hour)
	if half+rest != int64(len(all(o))) || half < 9000 || half > 11_000 {
		t.Errorf("%d in 10 s and %d later, want %d together, about 10000 in each", half, rest, len(all(o)))
	}
}

// A long run keeps its series short.
func TestLongRun(t *testing.T) {
	r := newRecorder(0, 10*time.Hour, false)
	for i := range time.Duration(40_000) {
		now := i * 900 * ms
		r.finish(op{at: now}, now+ms, outcome{answered: true})
		for range 4 {
			r.sample(now, int64(i))
		}
	}
	res := r.result(40_000)
	if len(res.Over) > loadresult.MaxPieces || len(res.Backlog) > loadresult.MaxLevels || len(res.Backlog) < loadresult.MaxLevels/4 || res.Ops != 40_000 {
		t.Errorf("%d intervals, %d levels, %d operations; want at most %d, %d to %d, 40000", len(res.Over), len(res.Backlog), res.Ops, loadresult.MaxPieces, loadresult.MaxLevels/4, loadresult.MaxLevels)
	}
	tiled(t, res)
	if !slices.IsSortedFunc(res.Backlog, func(a, b loadresult.Level) int { return int(a.N - b.N) }) {
		t.Error("the backlog is not in order")
	}
	// Without a known end the last interval takes the rest.
	r = newRecorder(0, time.Second, true)
	for i := range time.Duration(8000) {
		r.finish(op{at: i * time.Second}, i*time.Second+ms, outcome{answered: true})
	}
	res = r.result(8000)
	if tiled(t, res); len(res.Over) > loadresult.MaxPieces {
		t.Errorf("%d intervals, want at most %d", len(res.Over), loadresult.MaxPieces)
	}
}

// --- pipelined ---

// A fakePipe answers in any order; what serve refuses is lost.
type fakePipe struct {
	limits Limits
	serve  func(seq int64) (after time.Duration, lost bool)
	breaks func(seq int64) bool
	most   atomic.Int64
	now    atomic.Int64
	dials  atomic.Int64
}

func (f *fakePipe) Limits() Limits { return f.limits }
func (f *fakePipe) String() string { return "a pipe" }

func (f *fakePipe) Dial(context.Context) (Conn, error) {
	f.dials.Add(1)
	return &fakePipeConn{f: f, answers: make(chan int64, 1<<16), closed: make(chan struct{})}, nil
}

type fakePipeConn struct {
	f       *fakePipe
	answers chan int64
	closed  chan struct{}
	once    sync.Once
}

func (c *fakePipeConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *fakePipeConn) Send(seq int64, _ time.Time) error {
	if c.f.breaks != nil && c.f.breaks(seq) {
		return syscall.ECONNRESET
	}
	now := c.f.now.Add(1)
	c.f.most.Store(max(c.f.most.Load(), now))
	after, lost := c.f.serve(seq)
	if lost {
		c.f.now.Add(-1)
		return nil
	}
	time.AfterFunc(after, func() {
		c.f.now.Add(-1)
		c.answers <- seq
	})
	return nil
}

func (c *fakePipeConn) Receive(deadline time.Time) (Reply, error) {
	select {
	case seq := <-c.answers:
		return Reply{Seq: seq, Bytes: 1}, nil
	case <-time.After(time.Until(deadline)):
		return Reply{}, ErrTimeout
	case <-c.closed:
		return Reply{}, syscall.ECONNABORTED
	}
}

func offerPipe(t *testing.T, f *fakePipe, o Options) (r *loadresult.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Protocol, o.sleep = f, nap
		var err error
		if r, err = Offer(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	})
	tiled(t, r)
	return r
}

func TestPipelined(t *testing.T) {
	// Answers come in another order; every hundredth never.
	f := &fakePipe{limits: Limits{Connections: 2, Depth: 1000}, serve: func(seq int64) (time.Duration, bool) {
		return time.Duration(10-seq%10) * 5 * ms, seq%100 == 7
	}}
	r := offerPipe(t, f, Options{Rate: 2000, Duration: 5 * time.Second, Timeout: time.Second})
	if r.Ops != 10_000 || r.Failed != 100 || r.Errors[0] != (loadresult.Failure{What: kindTimeout, N: 100}) || f.dials.Load() != 2 || r.Connections != 2 {
		t.Errorf("%d, %d failed: %v; %d connections", r.Ops, r.Failed, r.Errors, f.dials.Load())
	}
	within(t, "median", r.Quantile(0.5).Seconds(), 0.0275, 0.1)
	within(t, "worst", r.Quantile(1).Seconds(), 1, 0.11)
	if r.Generator != "" || f.most.Load() < 50 {
		t.Errorf("generator %q, %d at once; want no limit and 50 or more", r.Generator, f.most.Load())
	}
	// No more are under way than the depth allows, the rest waits in the plan.
	f = &fakePipe{limits: Limits{Connections: 1, Depth: 8}, serve: func(int64) (time.Duration, bool) { return 100 * ms, false }}
	r = offerPipe(t, f, Options{Rate: 160, Duration: 5 * time.Second})
	if f.most.Load() != 8 || r.Ops != r.Sent || !r.FellBehind() {
		t.Errorf("%d at once, %d of %d, %d sent; want 8 at once, all sent done, a program behind", f.most.Load(), r.Ops, r.Planned, r.Sent)
	}
	within(t, "rate", r.Rate, 80, 0.02)
	// That is not the generator's fault either when all answers come at once.
	f = &fakePipe{limits: Limits{Connections: 1, Depth: 8}, serve: func(int64) (time.Duration, bool) {
		time.Sleep(ms) // while all are answered, one is sent
		now := time.Now()
		return now.Truncate(100 * ms).Add(100 * ms).Sub(now), false
	}}
	if r = offerPipe(t, f, Options{Rate: 160, Duration: 5 * time.Second}); r.Generator != "" || !r.FellBehind() {
		t.Errorf("generator %q; want no limit, and a program behind", r.Generator)
	}
	// A broken connection fails what was under way and is made again.
	f = &fakePipe{limits: Limits{Connections: 1, Depth: 100}, serve: func(int64) (time.Duration, bool) { return 95 * ms, false },
		breaks: func(seq int64) bool { return seq%100 == 99 }}
	r = offerPipe(t, f, Options{Rate: 100, Duration: 5 * time.Second})
	if r.Ops != 500 || r.Failed != 50 || r.Errors[0].What != "connection reset" || f.dials.Load() != 5 {
		t.Errorf("%d, %d failed, %v, %d dialled", r.Ops, r.Failed, r.Errors, f.dials.Load())
	}
}

// The real pacer sleeps for as long as it should and stops when told.
func TestPacer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, stop := newPacer(ctx)
	defer stop()
	for _, d := range []time.Duration{0, 100 * us, 3 * ms} {
		start := time.Now()
		p.sleep(ctx, d)
		if slept := time.Since(start); slept < d || slept > 10*time.Second {
			t.Errorf("sleep(%v) took %v, want that or a little more", d, slept)
		}
	}
	time.AfterFunc(5*ms, cancel)
	start := time.Now()
	p.sleep(ctx, time.Hour)
	if time.Since(start) > time.Minute {
		t.Error("not woken")
	}
}
