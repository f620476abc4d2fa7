package exectrace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/testing/corpus"
	"github.com/gowhy/gowhy/internal/testing/oracle"
	"golang.org/x/exp/trace"
)

// A subject is a trace to compare two readings of.
type subject struct {
	name string
	data []byte
}

func (s subject) old() bool { return bytes.HasPrefix(s.data, []byte("go 1.21")) }

// each runs f on every trace that there is: those of programs, with -short by
// the local toolchain only, the hand-made ones, and one of many threads.
func each(t *testing.T, f func(t *testing.T, s subject)) {
	for _, c := range corpus.Sick() {
		t.Run("sick/"+c.Name, func(t *testing.T) { f(t, subject{c.Name, c.Trace}) })
	}
	t.Run("synthetic", func(t *testing.T) {
		var b bytes.Buffer
		if err := corpus.Synthetic(&b, corpus.Shape{Threads: 64, Events: 300_000, Cross: 10, Minor: 25}); err != nil {
			t.Fatal(err)
		}
		f(t, subject{"synthetic", b.Bytes()})
	})
	for _, s := range corpus.Specs(t) {
		t.Run(s.String(), func(t *testing.T) {
			data, err := os.ReadFile(corpus.Trace(t, s))
			if err != nil {
				t.Fatal(err)
			}
			x := subject{s.String(), data}
			if x.old() {
				// Only the reference reads the old format, and not all of it.
				if _, err := trace.NewReader(bytes.NewReader(data)); err != nil {
					t.Skip("the reference cannot open it:", err)
				}
			}
			f(t, x)
		})
	}
}

func account(t *testing.T, data []byte, o exectrace.Options) *exectrace.Accounts {
	t.Helper()
	tr, err := exectrace.NewReaderAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	a, err := tr.Account(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func reference(t *testing.T, s subject, o oracle.Options) *oracle.Report {
	t.Helper()
	rep, err := oracle.Analyze(bytes.NewReader(s.data), o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// eventCount returns the number of events in the file, by a decoder of its own.
func eventCount(t *testing.T, data []byte) (n int64) {
	t.Helper()
	times, err := oracle.RawTimes(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range times {
		n += int64(len(list))
	}
	tally, err := oracle.Count(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return n + tally.Kinds[trace.EventStackSample] // of which threads have no part
}

func TestNothingIsLost(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		a := account(t, s.data, exectrace.Options{})
		if d := a.Info.Damage; d.LostBytes != 0 || d.LostEvents != 0 || d.LostTime != 0 || d.Forced != 0 || d.Missing != 0 {
			t.Errorf("Account(%s).Info.Damage = %+v, want none", s.name, d)
		}
		if s.old() {
			return
		}
		var n int64
		for _, g := range a.Info.Generations {
			n += g.Events
			if !g.Trusted {
				t.Errorf("generation %d: Trusted = false, want true", g.Number)
			}
		}
		if want := eventCount(t, s.data); n != want {
			t.Errorf("events of all generations = %d, want %d", n, want)
		}
	})
}

// kinds translates the kinds of events from the reference's.
var kinds = map[trace.EventKind]exectrace.EventKind{
	trace.EventSync: exectrace.EventSync, trace.EventMetric: exectrace.EventMetric,
	trace.EventLabel: exectrace.EventLabel, trace.EventStackSample: exectrace.EventSample,
	trace.EventRangeBegin: exectrace.EventRangeBegin, trace.EventRangeActive: exectrace.EventRangeActive,
	trace.EventRangeEnd: exectrace.EventRangeEnd, trace.EventTaskBegin: exectrace.EventTaskBegin,
	trace.EventTaskEnd: exectrace.EventTaskEnd, trace.EventRegionBegin: exectrace.EventRegionBegin,
	trace.EventRegionEnd: exectrace.EventRegionEnd, trace.EventLog: exectrace.EventLog,
	trace.EventExperimental: exectrace.EventExperimental,
}

// Per kind, and for state changes per kind of resource, the same events.
func TestSameEvents(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		want := make(map[exectrace.EventKind]int)
		r, err := trace.NewReader(bytes.NewReader(s.data))
		if err != nil {
			t.Fatal(err)
		}
		for {
			ev, err := r.ReadEvent()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			kind := kinds[ev.Kind()]
			if ev.Kind() == trace.EventStateTransition {
				kind = exectrace.EventGoroutine
				if ev.StateTransition().Resource.Kind == trace.ResourceProc {
					kind = exectrace.EventProc
				}
			}
			want[kind]++
		}
		tr, err := exectrace.NewReaderAt(bytes.NewReader(s.data), int64(len(s.data)))
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[exectrace.EventKind]int)
		for e, err := range tr.Events(exectrace.EventOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			got[e.Kind]++
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("events by kind:\n got %v\nwant %v", got, want)
		}
	})
}

// sums are the accounts of a goroutine in a form to compare.
type sums struct {
	running, runnable, syscall time.Duration
	blocked                    string
}

func parts(list []oracle.Part, leaveOut string) string {
	var b []string
	for _, p := range list {
		if p.Time != 0 && p.Name != leaveOut {
			b = append(b, fmt.Sprintf("%q %d", p.Name, p.Time))
		}
	}
	sort.Strings(b)
	return strings.Join(b, ", ")
}

func reasons(list []exectrace.ReasonTime, leaveOut string) string {
	var p []oracle.Part
	for _, r := range list {
		p = append(p, oracle.Part{Name: r.Reason, Time: r.Total})
	}
	return parts(p, leaveOut)
}

type entry struct {
	count int64
	time  time.Duration
}

// profileOf makes a profile of the reference's kind from the waits.
func profileOf(a *exectrace.Accounts, which int) map[string]entry {
	m := make(map[string]entry)
	for _, w := range a.Waits {
		if !inProfile(w, which) {
			continue
		}
		var frames []trace.StackFrame
		for _, f := range a.Stacks[w.Stack] {
			frames = append(frames, trace.StackFrame{PC: f.PC})
		}
		k := oracle.Record{Frames: frames}.Key()
		m[k] = entry{m[k].count + w.Count, m[k].time + w.Total}
	}
	return m
}

func inProfile(w exectrace.Wait, which int) bool {
	switch which {
	case oracle.Net:
		return w.State == exectrace.Waiting && w.Reason == "network"
	case oracle.Sync:
		return w.State == exectrace.Waiting && (strings.Contains(w.Reason, "chan") ||
			strings.Contains(w.Reason, "sync") || strings.Contains(w.Reason, "select"))
	case oracle.Syscall:
		return w.State == exectrace.Syscall
	}
	return w.State == exectrace.Runnable
}

var profileNames = map[int]string{oracle.Net: "net", oracle.Sync: "sync", oracle.Syscall: "syscall", oracle.Sched: "sched"}

// compareProfiles holds waits against the four profiles of the reference. It
// leaves out what ended before a goroutine's first run, so there may be more.
func compareProfiles(t *testing.T, got *exectrace.Accounts, want *oracle.Report) {
	t.Helper()
	for i, name := range profileNames {
		p := profileOf(got, i)
		for _, r := range want.Profiles[i] {
			if g := p[r.Key()]; (g.count < r.Count || g.time < r.Time) && !parkedAt(p, r) {
				t.Errorf("%s profile at %v = %d waits of %v, want at least %d of %v", name, r.Frames, g.count, g.time, r.Count, r.Time)
			}
		}
	}
}

// parkedAt reports whether a profile has what the reference has of a goroutine that was found
// waiting, whose stack goes down to runtime.gopark: here it is that of an event.
func parkedAt(p map[string]entry, r oracle.Record) bool {
	if len(r.Frames) == 0 || r.Frames[0].Func != "runtime.gopark" {
		return false
	}
	for i := range r.Frames {
		if g := p[oracle.Record{Frames: r.Frames[i:]}.Key()]; g.count >= r.Count && g.time >= r.Time {
			return true
		}
	}
	return false
}

// Each value equals what the reference's own order of events gives with the
// times as the threads wrote them, so every difference from the reference is the
// clamp's, but for its other faults: a life that it forgot, a system call whose
// lost P it missed or that lasts at the end, a wait before the first run.
func TestTrueTimes(t *testing.T) {
	each(t, compareTrueTimes)
	for _, program := range corpus.OldPrograms {
		t.Run("old/"+program, func(t *testing.T) {
			data, err := os.ReadFile(corpus.Trace(t, corpus.Old(program)))
			if err != nil {
				t.Fatal(err)
			}
			compareTrueTimes(t, subject{program, data})
		})
	}
}

func compareTrueTimes(t *testing.T, s subject) {
	// The old format is sorted by time as a whole: there the reference moves none.
	want := reference(t, s, oracle.Options{RawTimes: !s.old()})
	got := account(t, s.data, exectrace.Options{Keep: -1})
	last := make(map[int64]exectrace.Goroutine) // the reference keeps that life
	lives := make(map[int64]int)
	for _, g := range got.Goroutines {
		if lives[g.ID]++; lives[g.ID] == 1 || g.Created > last[g.ID].Created {
			last[g.ID] = g
		}
	}
	if len(last) != len(want.Goroutines) {
		t.Fatalf("len(Goroutines) by id = %d, want %d", len(last), len(want.Goroutines))
	}
	for id, g := range last {
		w := want.Goroutines[trace.GoID(id)]
		if w == nil {
			t.Fatalf("Goroutines has %d, which the reference has not", id)
		}
		if lives[id] != w.Earlier+1 {
			t.Fatalf("lives of goroutine %d = %d, want %d", id, lives[id], w.Earlier+1)
		}
		compareTrue(t, &g, w)
		if name := got.Groups[g.Group].Name; name != w.Name {
			t.Fatalf("group of goroutine %d = %q, want %q", id, name, w.Name)
		}
	}
	compareProfiles(t, got, want)
}

// The groups are what their goroutines are together.
func TestGroupsAddUp(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		a := account(t, s.data, exectrace.Options{Keep: -1})
		if !a.AllKept {
			t.Fatal("Account(Keep: -1).AllKept = false, want true")
		}
		sums := make([]exectrace.Group, len(a.Groups))
		for _, g := range a.Goroutines {
			sum := &sums[g.Group]
			sum.Count++
			sum.Running += g.Running
			sum.Runnable += g.Runnable
			sum.Syscall += g.Syscall
			sum.SyscallBlocked += g.SyscallBlocked
			sum.Unknown += g.Unknown
			sum.Runs += g.Runs
			for _, r := range g.Blocked {
				addReason(&sum.Blocked, r)
			}
		}
		for i, g := range a.Groups {
			text := func(g *exectrace.Group) string {
				return fmt.Sprint(g.Count, g.Runs, g.Running, g.Runnable, g.Syscall, g.SyscallBlocked, g.Unknown, reasons(g.Blocked, ""))
			}
			if x, y := text(&g), text(&sums[i]); x != y {
				t.Errorf("group %q = %s, want %s, the sum of its goroutines", g.Name, x, y)
			}
		}
	})
}

// The states within regions add up to the length of the regions.
func TestRegionsAddUp(t *testing.T) {
	text, err := os.ReadFile("testdata/text/regions.txt")
	if err != nil {
		t.Fatal(err)
	}
	data, err := corpus.ParseText(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, s subject) {
		for _, r := range account(t, s.data, exectrace.Options{}).Regions {
			sum := r.Running + r.Runnable + r.Syscall + r.SyscallBlocked
			for _, b := range r.Blocked {
				sum += b.Total
			}
			if r.Open == 0 && sum != r.Latency.Sum {
				t.Errorf("region %q of %s: sum of states = %v, want %v", r.Name, s.name, sum, r.Latency.Sum)
			}
		}
	}
	check(t, subject{"regions.txt", data})
	each(t, check)
}

func addReason(list *[]exectrace.ReasonTime, r exectrace.ReasonTime) {
	for i := range *list {
		if (*list)[i].Reason == r.Reason {
			(*list)[i].Total += r.Total
			return
		}
	}
	*list = append(*list, r)
}

func compareTrue(t *testing.T, g *exectrace.Goroutine, w *oracle.Goroutine) {
	t.Helper()
	// What the reference calls "forever" ends a goroutine's account.
	const forever = "forever"
	a := sums{running: g.Running, runnable: g.Runnable, syscall: g.Syscall + g.SyscallBlocked, blocked: parts(untold(g.Blocked, w.Blocked), forever)}
	b := sums{running: w.Running, runnable: w.Runnable, syscall: w.Syscall + w.SyscallBlocked, blocked: parts(w.Blocked, forever)}
	if w.State == trace.GoSyscall {
		a.runnable, a.syscall, b.runnable, b.syscall = 0, 0, 0, 0
	}
	if a != b {
		t.Fatalf("goroutine %d:\n got %+v\nwant %+v", g.ID, a, b)
	}
	if g.Unknown != 0 {
		t.Fatalf("goroutine %d: Unknown = %v, want 0 in a sound trace", g.ID, g.Unknown)
	}
}

// untold returns what a goroutine was blocked on without the reasons that only the stack of
// a wait tells, which the reference does not look at.
func untold(list []exectrace.ReasonTime, want []oracle.Part) (out []oracle.Part) {
	reference := map[string]time.Duration{}
	for _, w := range want {
		reference[w.Name] += w.Time
	}
	rest := reference[""]
	for _, r := range list {
		more := min(max(r.Total-reference[r.Reason], 0), rest)
		if r.Reason == "" {
			more = r.Total
		}
		rest -= more
		out = append(out, oracle.Part{Name: r.Reason, Time: r.Total - more})
	}
	return append(out, oracle.Part{Time: reference[""] - rest})
}

func TestSickIsHealed(t *testing.T) {
	for _, c := range corpus.Sick() {
		t.Run(c.Name, func(t *testing.T) {
			a := account(t, c.Trace, exectrace.Options{Keep: -1})
			var got []corpus.Truth
			for _, g := range a.Goroutines {
				var waiting time.Duration
				for _, r := range g.Blocked {
					waiting += r.Total
				}
				got = append(got, corpus.Truth{G: uint64(g.ID), Running: int64(g.Running), Runnable: int64(g.Runnable),
					Waiting: int64(waiting), Syscall: int64(g.Syscall), SyscallBlocked: int64(g.SyscallBlocked)})
			}
			want := slices.Clone(c.Want)
			for _, list := range [][]corpus.Truth{got, want} {
				slices.SortFunc(list, func(a, b corpus.Truth) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s\n got %+v\nwant %+v", c.Story, got, want)
			}
		})
	}
}

// The wait before a goroutine's first run is in the profile.
func TestFirstWaitCounts(t *testing.T) {
	for _, c := range corpus.Sick() {
		if c.Name != "first-run" {
			continue
		}
		a := account(t, c.Trace, exectrace.Options{})
		p := profileOf(a, oracle.Sched)
		if len(p) != 1 {
			t.Fatalf("stacks in the sched profile = %d, want 1, that made G2 ready", len(p))
		}
		for _, e := range p {
			if e != (entry{1, 4000}) {
				t.Errorf("sched profile = %+v, want one wait of 4000 ns", e)
			}
		}
	}
}

// A mark worker counts from its label until it leaves the P, each time anew.
func TestLoadOfRestartedWorker(t *testing.T) {
	for _, c := range corpus.Sick() {
		if c.Load == nil {
			continue
		}
		a := account(t, c.Trace, exectrace.Options{})
		var got []corpus.LoadStep
		ps := int64(0)
		for _, l := range a.Load {
			if l.Kind == exectrace.LoadBackground {
				ps += int64(l.Delta)
				got = append(got, corpus.LoadStep{At: int64(l.At) - corpus.Epoch, Ps: ps})
			}
		}
		if !slices.Equal(got, c.Load) {
			t.Errorf("background load of %s = %v, want %v", c.Name, got, c.Load)
		}
	}
}

// comparable brings accounts into an order of their own, so that equal ones
// are deeply equal, and names stacks by their content.
func comparable(a *exectrace.Accounts) map[string][]string {
	stack := func(s exectrace.Stack) string {
		var b strings.Builder
		for _, f := range a.Stacks[s] {
			fmt.Fprintf(&b, "%x %s %d;", f.PC, f.Func, f.Line)
		}
		return b.String()
	}
	group := func(i int) string {
		if i < 0 {
			return "none"
		}
		return a.Groups[i].Name + " " + fmt.Sprint(a.Groups[i].Start.PC)
	}
	m := make(map[string][]string)
	add := func(what string, v ...any) { m[what] = append(m[what], fmt.Sprintf("%+v", v)) }
	times := func(x exectrace.Times) string {
		return fmt.Sprint(x.Running, x.Runnable, x.Syscall, x.SyscallBlocked, x.Unknown, reasons(x.Blocked, ""))
	}
	for i, g := range a.Groups {
		add("groups", group(i), g.Count, g.Created, g.Ended, times(g.Times), reasons(g.Ranges, ""), g.Runs, g.Delay, g.RunningEach, g.Life)
	}
	for _, g := range a.Goroutines {
		add("goroutines", g.ID, group(g.Group), g.Created, g.First, g.Ended, g.Runs, times(g.Times), reasons(g.Ranges, ""))
	}
	for _, w := range a.Waits {
		add("waits", w.State, w.Reason, stack(w.Stack), group(w.Group), w.Count, w.Total, w.Open, w.Parked, w.OpenTotal)
	}
	for _, w := range a.Wakes {
		add("wakes", stack(w.Waker), stack(w.Woken), w.Count)
	}
	for _, b := range a.Bursts {
		add("bursts", stack(b.Waker), b.Count, b.Woken, b.Max, b.Futile)
	}
	for _, x := range a.Samples {
		add("samples", stack(x.Stack), group(x.Group), x.Count)
	}
	for _, p := range a.Pauses {
		add("pauses", p.Kind, p.Begin, p.End, stack(p.Stack))
	}
	for _, r := range a.Regions {
		add("regions", r.Name, r.Count, r.Open, r.Latency, times(r.Times))
	}
	add("rest", a.Window, a.Procs, a.Buckets, a.Delay, a.Slice, a.Threads, a.Cycles, a.Heap, a.Load, a.Tasks, a.Slow, a.Logs, a.SamplePeriod)
	for _, list := range m {
		sort.Strings(list)
	}
	return m
}

// keep returns how many goroutines of a group to compare one by one: where they are
// many, their sums in the groups must do.
func keep(s subject) int {
	if len(s.data) > 200<<10 {
		return 0
	}
	return -1
}

func mustEqual(t *testing.T, what string, x map[string][]string, b *exectrace.Accounts) {
	t.Helper()
	y := comparable(b)
	for k, list := range x {
		if slices.Equal(list, y[k]) {
			continue
		}
		for i := range min(len(list), len(y[k])) {
			if list[i] != y[k][i] {
				at := 0 // where they differ
				for at < min(len(list[i]), len(y[k][i])) && list[i][at] == y[k][i][at] {
					at++
				}
				from := max(0, at-200)
				t.Fatalf("%s: %s %d, from byte %d:\n got %.600s\nwant %.600s", what, k, i, from, y[k][i][from:], list[i][from:])
			}
		}
		t.Fatalf("%s: len(%s) = %d, want %d", what, k, len(y[k]), len(list))
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		one := comparable(account(t, s.data, exectrace.Options{Workers: 1, Keep: keep(s)}))
		for _, n := range []int{2, 4} {
			mustEqual(t, fmt.Sprint(n, " workers"), one, account(t, s.data, exectrace.Options{Workers: n, Keep: keep(s)}))
		}
	})
}

func TestSourceDoesNotMatter(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		want := comparable(account(t, s.data, exectrace.Options{}))
		tr, err := exectrace.NewReader(bytes.NewBuffer(s.data)) // hides all but Read
		if err != nil {
			t.Fatal(err)
		}
		got, err := tr.Account(context.Background(), exectrace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mustEqual(t, "stream", want, got)

		path := t.TempDir() + "/trace"
		if err := os.WriteFile(path, s.data, 0o666); err != nil {
			t.Fatal(err)
		}
		if tr, err = exectrace.Open(path); err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		if got, err = tr.Account(context.Background(), exectrace.Options{}); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, "file", want, got)
	})
}

// In which order the threads' batches stand in a generation means nothing.
func TestBatchOrderDoesNotMatter(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		if s.old() {
			t.Skip("the old format has no generations")
		}
		p, err := corpus.Permute(s.data, 1)
		if err != nil {
			t.Fatal(err)
		}
		o := exectrace.Options{Keep: keep(s)}
		mustEqual(t, "permuted", comparable(account(t, s.data, o)), account(t, p, o))
	})
}

// Damage costs at most the generations that it touches, is reported, and
// makes no state last longer than the trace.
func TestDamage(t *testing.T) {
	cases, lost := 0, 0
	each(t, func(t *testing.T, s subject) {
		if s.old() {
			t.Skip("the old format is the reference's to read")
		}
		_, gens, err := corpus.Split(s.data)
		if err != nil {
			t.Fatal(err)
		}
		whole := account(t, s.data, exectrace.Options{})
		for _, d := range corpus.Damages {
			for seed := range uint64(3) {
				data := d.Do(s.data, seed)
				if bytes.Equal(data, s.data) {
					continue
				}
				cases++
				switch err := checkDamage(whole, gens, data); {
				case errors.Is(err, errUntouched):
					lost++
					t.Logf("%s, seed %d: %v", d.Name, seed, err)
				case err != nil:
					t.Errorf("%s, seed %d: %v", d.Name, seed, err)
				}
			}
		}
	})
	// Where a batch ends is known by what follows only, and some bytes within
	// batches look like it.
	if lost*25 > cases {
		t.Errorf("in %d of %d cases whole generations suffered from damage elsewhere", lost, cases)
	}
	t.Logf("%d of %d cases cost more than was damaged", lost, cases)
}

// What lies centuries ahead is damage, and must not stretch the trace.
func TestFarTime(t *testing.T) {
	const text = `Trace Go1.22
EventBatch gen=1 m=7 time=10
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=7 gstatus=2
GoStop dt=5 reason_string=1 stack=0
GoStart dt=2200000000000000000 g=1 g_seq=1
EventBatch gen=1 m=18446744073709551615 time=20
Frequency freq=15625000
`
	data, err := corpus.ParseText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	a := account(t, data, exectrace.Options{})
	if length := a.Window.To.Sub(a.Window.From); length > time.Second || a.Info.Damage.LostBytes == 0 {
		t.Errorf("Account: Window of %v, LostBytes %d, want under a second and some", length, a.Info.Damage.LostBytes)
	}
	tr, err := exectrace.NewReaderAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var last exectrace.Time
	for e, err := range tr.Events(exectrace.EventOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		last = max(last, e.Time)
	}
	if last > exectrace.Time(time.Second) {
		t.Errorf("the last of Events is at %d, want under a second", last)
	}
}

// errUntouched is that of a generation that suffers from damage elsewhere.
var errUntouched = errors.New("the damage lies elsewhere")

func checkDamage(whole *exectrace.Accounts, gens [][]byte, data []byte) error {
	tr, err := exectrace.NewReaderAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	a, err := tr.Account(context.Background(), exectrace.Options{Workers: 2})
	untouched := untouchedGenerations(gens, data)
	if errors.Is(err, exectrace.ErrNoEvents) && len(untouched) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	events := make(map[uint64]int64)
	for _, g := range a.Info.Generations {
		if g.Trusted {
			events[g.Number] += g.Events
		}
	}
	for i, g := range whole.Info.Generations {
		if slices.Contains(untouched, i) && events[g.Number] != g.Events {
			return fmt.Errorf("generation %d has %d of %d events, though %w", g.Number, events[g.Number], g.Events, errUntouched)
		}
	}
	for _, g := range a.Goroutines {
		total := g.Running + g.Runnable + g.Syscall + g.SyscallBlocked + g.Unknown
		for _, r := range g.Blocked {
			total += r.Total
		}
		if life := a.Window.To.Sub(a.Window.From); total > life {
			return fmt.Errorf("goroutine %d: %v in a trace of %v", g.ID, total, life)
		}
	}
	return checkCapacity(whole, a)
}

// checkCapacity: what was lost must not make Ps out of nothing, nor leave the
// collector at work for ever.
func checkCapacity(whole, a *exectrace.Accounts) error {
	for _, b := range a.Buckets {
		if most := time.Duration(max(len(whole.Procs), len(a.Procs))) * b.Width; b.Held > most+most/100 {
			return fmt.Errorf("Ps were held for %v of %v at %v", b.Held, most, b.From)
		}
	}
	if a.Info.Generations[len(a.Info.Generations)-1].Trusted {
		return nil
	}
	open := make(map[exectrace.LoadChange]int32)
	for _, c := range a.Load {
		if c.Kind != exectrace.LoadProcs {
			open[exectrace.LoadChange{Proc: c.Proc, Kind: c.Kind, Dedicated: c.Dedicated}] += c.Delta
		}
	}
	for c, n := range open {
		if n != 0 {
			return fmt.Errorf("the load %+v adds up to %d after the end, want 0", c, n)
		}
	}
	return nil
}

// TestCutEnd: a trace that was cut says no more of any state than the whole
// one does of the same time.
func TestCutEnd(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		if s.old() {
			t.Skip("the old format is the reference's to read")
		}
		for _, share := range []float64{0.3, 0.6, 0.9, 0.99} {
			data := s.data[:int(share*float64(len(s.data)))]
			tr, err := exectrace.NewReaderAt(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			a, err := tr.Account(t.Context(), exectrace.Options{})
			if errors.Is(err, exectrace.ErrNoEvents) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			whole := account(t, s.data, exectrace.Options{Window: a.Window})
			got, most := states(a), states(whole)
			for i, name := range []string{"running", "runnable", "in system calls", "blocked", "held"} {
				// Stacks may be written before the last threads' events, so that
				// some of a generation may be taken for all of it.
				if got[i] > most[i]+most[i]/2+10*time.Millisecond {
					t.Errorf("with %.0f%% of it: %s %v, of %v in the whole trace", 100*share, name, got[i], most[i])
				}
			}
		}
	})
}

// states returns the times of all goroutines by state, and of all Ps that were held.
func states(a *exectrace.Accounts) (sum [5]time.Duration) {
	for _, g := range a.Groups {
		sum[0] += g.Running
		sum[1] += g.Runnable
		sum[2] += g.Syscall + g.SyscallBlocked
		for _, r := range g.Blocked {
			sum[3] += r.Total
		}
	}
	for _, p := range a.Procs {
		sum[4] += p.User + p.GC + p.GCIdle + p.Syscall + p.Scheduler
	}
	return sum
}

// untouchedGenerations returns the indices of those generations whose bytes are
// all there.
func untouchedGenerations(gens [][]byte, data []byte) (list []int) {
	for i, g := range gens {
		if bytes.Contains(data, g) {
			list = append(list, i)
		}
	}
	return list
}

// A program that is killed leaves the begin of a generation behind, since Go
// 1.25 at least the clocks. What was known before stays so.
func TestCutBegin(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		if s.old() {
			t.Skip("the old format is the reference's to read")
		}
		gens := account(t, s.data, exectrace.Options{}).Info.Generations
		if len(gens) < 2 || len(s.data) > 4<<20 {
			t.Skip("one generation only, or too large to be read this often")
		}
		last := gens[len(gens)-1].Offset
		unknown, all := totals(account(t, s.data[:last], exectrace.Options{}))
		for more := int64(20); more < 80; more += 3 {
			a := account(t, s.data[:last+more], exectrace.Options{})
			got, total := totals(a)
			// What is left may be of a later time than the generations before it,
			// or of an earlier one, where these ran into each other.
			allowed := unknown + (total - all) + all/100
			if n := len(a.Info.Generations); n == len(gens) {
				for _, g := range a.Groups {
					allowed += time.Duration(g.Count-g.Ended) * a.Info.Generations[n-2].Overlap
				}
			}
			if got > allowed {
				t.Fatalf("%d bytes more make %v unknown of %v, instead of %v of %v", more, got, total, unknown, all)
			}
		}
	})
}

// totals returns the time of all goroutines whose state is unknown, and of any state.
func totals(a *exectrace.Accounts) (unknown, all time.Duration) {
	for _, g := range a.Groups {
		unknown += g.Unknown
		all += g.Unknown
	}
	s := states(a)
	return unknown, all + s[0] + s[1] + s[2] + s[3]
}
