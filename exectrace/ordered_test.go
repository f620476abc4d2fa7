package exectrace

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// orderedAccounts accounts for a trace by way of ordered events, in true time.
func orderedAccounts(t testing.TB, data []byte, o Options) *Accounts {
	t.Helper()
	o.Keep = -1
	a, err := mustRead(t, data).accountOrdered(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func replayAccounts(t testing.TB, data []byte, o Options) *Accounts {
	t.Helper()
	o.Keep = -1
	a, err := mustRead(t, data).Account(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// eachTrace runs f on traces of programs of the local toolchain.
func eachTrace(t *testing.T, f func(t *testing.T, data []byte)) {
	t.Run("own", func(t *testing.T) {
		data, err := recording()
		if err != nil {
			t.Skip("tracing is on already:", err)
		}
		f(t, data)
	})
	for _, c := range corpus.Sick() {
		t.Run("sick/"+c.Name, func(t *testing.T) { f(t, c.Trace) })
	}
	for _, s := range corpus.Specs(t) {
		if strings.HasPrefix(s.Toolchain, "go1.21") {
			continue // another format
		}
		t.Run(s.String(), func(t *testing.T) {
			data, err := os.ReadFile(corpus.Trace(t, s))
			if err != nil {
				t.Fatal(err)
			}
			f(t, data)
		})
	}
}

// Two engines that share no rule of when states begin and end say the same.
func TestOrderedAgreesWithReplay(t *testing.T) {
	eachTrace(t, func(t *testing.T, data []byte) {
		o := Options{Sweeps: true}
		agree(t, orderedAccounts(t, data, o), replayAccounts(t, data, o))
	})
}

// agree compares accounts of two engines, part by part.
func agree(t *testing.T, got, want *Accounts) {
	t.Helper()
	same(t, "goroutines", lines(got, goroutineLines), lines(want, goroutineLines))
	same(t, "groups", lines(got, groupLines), lines(want, groupLines))
	same(t, "waits", lines(got, waitLines), lines(want, waitLines))
	same(t, "last", lines(got, lastLines), lines(want, lastLines))
	same(t, "wakes", lines(got, wakeLines), lines(want, wakeLines))
	if fromC(want) {
		nearProcs(t, got.Procs, want.Procs)
	} else {
		same(t, "Ps", lines(got, procLines), lines(want, procLines))
	}
	same(t, "the collector", lines(got, gcLines), lines(want, gcLines))
	same(t, "load", lines(got, loadLines), lines(want, loadLines))
	same(t, "annotations", lines(got, userLines), lines(want, userLines))
	same(t, "histograms", []string{histLine(&got.Delay), histLine(&got.Slice)}, []string{histLine(&want.Delay), histLine(&want.Slice)})
	same(t, "samples", lines(got, sampleLines), lines(want, sampleLines))
	// A P that is taken from a system call and handed on and on tells nobody but
	// the clock when: with callbacks from C, a few system calls are split elsewhere.
	var on, all, wantOn time.Duration
	for i := range got.Groups {
		on, all = on+got.Groups[i].Syscall, all+got.Groups[i].Syscall+got.Groups[i].SyscallBlocked
	}
	for i := range want.Groups {
		wantOn += want.Groups[i].Syscall
	}
	if d := on - wantOn; d.Abs() > all/200 || d != 0 && !fromC(want) {
		t.Errorf("system calls on a P = %v, want %v, of %v", on, wantOn, all)
	}
	g, w := integrals(got), integrals(want)
	for i := range g {
		// The pieces of time differ, and with them what rounding leaves.
		if d := g[i] - w[i]; d.Abs() > 100*time.Microsecond+w[i]/1000 {
			t.Errorf("integrals of running, held, runnable = %v, want %v", g, w)
			break
		}
	}
}

// fromC reports whether goroutines were made by callbacks from C.
func fromC(a *Accounts) bool {
	return slices.ContainsFunc(a.Groups, func(g Group) bool { return g.Name == "runtime.cgocallback" })
}

func procLines(a *Accounts) (out []string) {
	for _, p := range a.Procs {
		out = append(out, fmt.Sprintf("%+v", p))
	}
	return out
}

// nearProcs compares Ps. When one is taken from a system call whose thread is
// in C, which of two ticks it was is open.
func nearProcs(t *testing.T, got, want []Proc) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("len(Procs) = %d, want %d", len(got), len(want))
		return
	}
	for i := range got {
		g, w := got[i], want[i]
		const open = 10 * time.Microsecond
		if d := g.Syscall - w.Syscall; d.Abs() <= open {
			g.Syscall = w.Syscall
		}
		if d := g.Idle - w.Idle; d.Abs() <= open {
			g.Idle = w.Idle
		}
		if g != w {
			t.Errorf("Procs[%d] = %+v, want %+v", i, got[i], want[i])
		}
	}
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if slices.Equal(got, want) {
		return
	}
	report := func(sign string, list, other []string) {
		n := 0
		for _, s := range list {
			if _, found := slices.BinarySearch(other, s); !found && n < 4 {
				n++
				t.Errorf("%s: %s %s", what, sign, s)
			}
		}
	}
	report("got ", got, want)
	report("want", want, got)
	if len(got) != len(want) {
		t.Errorf("lines of %s = %d, want %d", what, len(got), len(want))
	}
}

func lines(a *Accounts, f func(*Accounts) []string) []string { return f(a) }

func reasonLine(list []ReasonTime) string {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b ReasonTime) int { return cmp.Compare(a.Reason, b.Reason) })
	s := ""
	for _, r := range list {
		if r.Total != 0 {
			s += fmt.Sprintf(" %q=%d", r.Reason, r.Total)
		}
	}
	return s
}

func timesLine(x *Times) string {
	return fmt.Sprintf("run %d ready %d sys %d unknown %d blocked%s",
		x.Running, x.Runnable, x.Syscall+x.SyscallBlocked, x.Unknown, reasonLine(x.Blocked))
}

func histLine(h *Histogram) string {
	n := len(h.Counts)
	for n > 0 && h.Counts[n-1] == 0 {
		n--
	}
	return fmt.Sprint(h.N, h.Sum, h.Max, h.Counts[:n])
}

func goroutineLines(a *Accounts) (out []string) {
	for _, g := range a.Goroutines {
		first := g.First
		if g.Created == 0 {
			first = 0 // whether a run that began before the trace is one is open
		}
		out = append(out, fmt.Sprintf("%d %q %d %d %d runs %d %s ranges%s",
			g.ID, a.Groups[g.Group].Name, g.Created, first, g.Ended, g.Runs, timesLine(&g.Times), reasonLine(g.Ranges)))
	}
	return out
}

func groupLines(a *Accounts) (out []string) {
	for _, g := range a.Groups {
		out = append(out, fmt.Sprintf("%q %d %d %d runs %d %s ranges%s delay %s running %s life %s",
			g.Name, g.Count, g.Created, g.Ended, g.Runs, timesLine(&g.Times), reasonLine(g.Ranges),
			histLine(&g.Delay), histLine(&g.RunningEach), histLine(&g.Life)))
	}
	return out
}

func stackLine(a *Accounts, s Stack) string {
	out := ""
	for _, f := range a.Stacks[s] {
		out += fmt.Sprintf("%x ", f.PC)
	}
	if n := len(a.Stacks[s]); n > 0 {
		out += a.Stacks[s][0].Func
	}
	return out
}

func waitLines(a *Accounts) (out []string) {
	for _, w := range a.Waits {
		group := ""
		if w.Group >= 0 {
			group = a.Groups[w.Group].Name
		}
		out = append(out, fmt.Sprintf("%d %q %s %q %d %d open %d %d %d",
			w.State, w.Reason, stackLine(a, w.Stack), group, w.Count, w.Total, w.Open, w.Parked, w.OpenTotal))
	}
	return out
}

func lastLines(a *Accounts) (out []string) {
	for _, s := range a.Last {
		if s.State == Runnable {
			s.Stack = 0 // one made ready from a place of an earlier generation
		}
		out = append(out, fmt.Sprintf("%d %q %s %d %d %d", s.State, s.Reason, stackLine(a, s.Stack), s.Count, s.Still, s.Longest))
	}
	return out
}

func wakeLines(a *Accounts) (out []string) {
	for _, w := range a.Wakes {
		out = append(out, fmt.Sprintf("%s > %s %d", stackLine(a, w.Waker), stackLine(a, w.Woken), w.Count))
	}
	return out
}

func gcLines(a *Accounts) (out []string) {
	for _, c := range a.Cycles {
		out = append(out, fmt.Sprintf("cycle %d %d", c.Begin, c.End))
	}
	for _, p := range a.Pauses {
		out = append(out, fmt.Sprintf("pause %q %d %d %s", p.Kind, p.Begin, p.End, stackLine(a, p.Stack)))
	}
	return out
}

func loadLines(a *Accounts) (out []string) {
	for _, l := range a.Load {
		out = append(out, fmt.Sprintf("%+v", l))
	}
	return out
}

func userLines(a *Accounts) (out []string) {
	for _, x := range a.Tasks {
		out = append(out, fmt.Sprintf("task %q %d %d %s", x.Name, x.Count, x.Complete, histLine(&x.Latency)))
	}
	for _, x := range a.Regions {
		out = append(out, fmt.Sprintf("region %q %d %d %s %s", x.Name, x.Count, x.Open, histLine(&x.Latency), timesLine(&x.Times)))
	}
	for _, x := range a.Logs {
		out = append(out, fmt.Sprintf("log %q %d", x.Category, x.Count))
	}
	return out
}

func sampleLines(a *Accounts) (out []string) {
	for _, s := range a.Samples {
		group := ""
		if s.Group >= 0 {
			group = a.Groups[s.Group].Name
		}
		out = append(out, fmt.Sprintf("%s %q %d", stackLine(a, s.Stack), group, s.Count))
	}
	return out
}

func integrals(a *Accounts) (sum [3]time.Duration) {
	for _, b := range a.Buckets {
		sum[0] += b.Running
		sum[1] += b.Held
		sum[2] += b.Runnable
	}
	return sum
}

func TestReferenceEventsOfPrograms(t *testing.T) {
	eachTrace(t, func(t *testing.T, data []byte) { equalEvents(t, data) })
}

// What a window hands out is what the whole hands out within it.
func TestWindowOfEvents(t *testing.T) {
	data, err := recording()
	if err != nil {
		t.Skip("tracing is on already:", err)
	}
	var all []Event
	for e, err := range mustRead(t, data).Events(EventOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	from, to := all[len(all)/3].Time, all[len(all)/2].Time
	var want, got []string
	for i := range all {
		if e := &all[i]; e.Time >= from && e.Time < to {
			want = append(want, fmt.Sprint(e.Time, e.Name(), e.Thread, e.Goroutine, e.args))
		}
	}
	for e, err := range mustRead(t, data).Events(EventOptions{Window: Range{from, to}}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(e.Time, e.Name(), e.Thread, e.Goroutine, e.args))
	}
	if len(want) < 100 || !slices.Equal(got, want) {
		t.Errorf("Events(Window) = %d events, want the same %d as in the whole", len(got), len(want))
	}
}

// Damage does not end the iteration, and never makes states impossible.
func TestEventsOfDamage(t *testing.T) {
	data, err := recording()
	if err != nil {
		t.Skip("tracing is on already:", err)
	}
	whole := 0
	for range mustRead(t, data).Events(EventOptions{}) {
		whole++
	}
	for at := len(data) / 5; at < len(data); at += len(data) / 5 {
		hurt := bytes.Clone(data)
		clear(hurt[at:min(at+4096, len(hurt))])
		var d Damage
		n := consistent(t, hurt, &d)
		// What is lost is the rest of a batch, which may be most of a short trace: of
		// the bytes that are left, half have their events.
		left := float64(int64(len(data))-d.LostBytes) / float64(len(data))
		if want := int(left * float64(whole) / 2); n < want {
			t.Errorf("Events without 4 KiB at %d = %d, want %d or more: %.0f%% of the bytes are left", at, n, want, 100*left)
		}
		if d.LostBytes == 0 || d.LostBytes > 4096+64<<10 {
			t.Errorf("LostBytes without 4 KiB at %d = %d, want some and at most a batch", at, d.LostBytes)
		}
	}
}

// consistent checks that every goroutine is in the state that the events
// before said.
func consistent(t *testing.T, data []byte, d *Damage) (n int) {
	t.Helper()
	states := map[int64]State{}
	for e, err := range mustRead(t, data).Events(EventOptions{Damage: d}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if e.Kind != EventGoroutine {
			continue
		}
		g, from, to := e.GoTransition()
		if was, ok := states[g]; ok && was != from && was != Dead && from != Dead && from != Unknown {
			t.Fatalf("GoTransition of goroutine %d: from = %d, want %d", g, from, was)
		}
		states[g] = to
	}
	return n
}

func BenchmarkEvents(b *testing.B) {
	data, err := recording()
	if err != nil {
		b.Skip("tracing is on already:", err)
	}
	b.SetBytes(int64(len(data)))
	n := 0
	for b.Loop() {
		n = 0
		for range mustRead(b, data).Events(EventOptions{}) {
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*b.N), "ns/event")
}

// A goroutine is counted in a window in which it lived for a moment, and in no other.
func TestWindowCountsTheLiving(t *testing.T) {
	data, err := recording()
	if err != nil {
		t.Skip("tracing is on already:", err)
	}
	t.Run("replay", func(t *testing.T) {
		countsTheLiving(t, true, func(o Options) *Accounts { return replayAccounts(t, data, o) })
	})
	t.Run("ordered", func(t *testing.T) {
		countsTheLiving(t, false, func(o Options) *Accounts { return orderedAccounts(t, data, o) })
	})
}

// countsTheLiving compares windows with the whole. sleepers is whether goroutines are known
// that sleep through a window: ordered events may first tell of them behind it.
func countsTheLiving(t *testing.T, sleepers bool, account func(Options) *Accounts) {
	t.Helper()
	whole := account(Options{Keep: -1})
	length := whole.Info.End.Sub(whole.Info.Start)
	for _, share := range [][2]float64{{0, 0.3}, {0.4, 0.6}, {0.7, 1}} {
		w := Range{whole.Info.Start + Time(share[0]*float64(length)), whole.Info.Start + Time(share[1]*float64(length))}
		want, beside := map[string]int{}, 0
		for _, g := range whole.Goroutines {
			if g.Ended != 0 && g.Ended <= w.From || g.Created >= w.To {
				beside++
			} else {
				want[whole.Groups[g.Group].Name]++
			}
		}
		if beside == 0 {
			t.Fatalf("all goroutines live in %v", share)
		}
		part := account(Options{Keep: -1, Window: w})
		for _, g := range part.Groups {
			n := want[g.Name]
			most := n + 1 // one may end in the tick in which the window begins
			if !sleepers && g.Name == "" {
				continue // whose they are may be told behind the window; until then they are nobody's
			}
			if g.Count > most || sleepers && g.Count < n-1 || g.Peak > most || g.Created > most || g.Ended > most {
				t.Errorf("%v: %s: %d goroutines, %d at once, %d created and %d ended, want %d", share, g.Name, g.Count, g.Peak, g.Created, g.Ended, n)
			}
		}
		for _, g := range part.Goroutines {
			if g.Ended != 0 && g.Ended < w.From-64 || g.Created != 0 && g.Created < w.From-64 || g.Created > w.To+64 { // ns of a tick
				t.Errorf("goroutine %d, from %d to %d, is kept in the window %v", g.ID, g.Created, g.Ended, w)
			}
		}
	}
}
