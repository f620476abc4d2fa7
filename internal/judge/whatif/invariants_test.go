package whatif

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// Programs that run are replayed near to what they took, and what must hold
// of any replay holds of theirs.
func TestCorpus(t *testing.T) {
	for _, s := range corpus.Specs(t) {
		if s.Toolchain != "" {
			continue
		}
		switch s.Program {
		case "compute", "selects", "timers", "annotations":
		default:
			continue // torture: wake-ups every microsecond, generations every few ms
		}
		t.Run(s.String(), func(t *testing.T) {
			tr, err := exectrace.Open(corpus.Trace(t, s))
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			p, err := Read(t.Context(), tr, Options{})
			var refused *RefusedError
			if errors.As(err, &refused) && p != nil && p.Outside > maxOutside {
				if p.ReplayExcess() > 0.1 || p.ReplayExcess() < -0.1 {
					t.Errorf("a replay of waits is %.1f%% off, want at most 10%%", 100*p.ReplayExcess())
				}
				return // refused for a good reason
			}
			if err != nil {
				t.Fatal(err)
			}
			if off := p.ReplayExcess(); off > 0.1 || off < -0.1 {
				t.Errorf("the replay is %.1f%% off, want at most 10%%", 100*off)
			}
			invariants(t, p)
		})
	}
}

func invariants(t *testing.T, p *Program) {
	t.Helper()
	run := func(e ...Edit) Result {
		res, err := p.Run(e...)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	const slack = 1.02 // of slices and slots
	same := run()
	if same.Ratio != 1 || !reflect.DeepEqual(same, run()) {
		t.Errorf("Run() without edits = %+v, and then %+v, want ratio 1, and the same", same, run())
	}
	last := math.Inf(1)
	for n := 1; n <= 4*p.Procs; n *= 2 {
		r := run(WithProcs(n)).Ratio
		if len(p.Locks) == 0 && r > last*slack {
			t.Errorf("%d Ps take %.3f, want at most the %.3f of half of them", n, r, last)
		}
		last = r
	}
	for _, g := range p.UserGroups() {
		if g.Name == "" {
			continue
		}
		if r := run(WithScale(g.Name, 0.5)).Ratio; r > slack {
			t.Errorf("%s twice as fast makes the program slower: %.3f", g.Name, r)
		}
		if r := run(WithScale(g.Name, 3)).Ratio; r < 1/slack {
			t.Errorf("%s three times as slow makes the program faster: %.3f, want 1 or more", g.Name, r)
		}
	}
	for _, l := range p.Locks {
		if r := run(WithLock(l.Sites[0], 0)).Ratio; r > slack {
			t.Errorf("without the lock at %s the program is slower: %.3f", l.Site, r)
		}
	}
}

func TestInvariantsByHand(t *testing.T) {
	for _, data := range [][]byte{joined(t), chained(t), contended(t), collected(t)} {
		invariants(t, program(t, data))
	}
}

// A replay that shares cores among Ps is no faster than these allow.
func TestCores(t *testing.T) {
	p, err := read(t, joined(t), Options{Cores: 1})
	if err != nil {
		t.Fatal(err)
	}
	if work := 14 * time.Millisecond; p.Work > work+work/50 || p.Work < work-work/50 {
		t.Errorf("10 ms on two Ps of one core and 4 on one are %v of work, want 14ms", p.Work)
	}
	res, err := p.Run(WithProcs(64))
	if err != nil || res.Ratio < 0.98 || len(res.Notes) == 0 {
		t.Errorf("64 Ps on one core: %+v, %v; want a ratio of 0.98 or more and a note", res, err)
	}
}

func TestUnknownNames(t *testing.T) {
	p := program(t, contended(t))
	for _, e := range []Edit{WithLock("main.nothing", 0), WithScale("main.nothing", 0.5), WithScale("", 0.5)} {
		var unknown *problem.Error
		if _, err := p.Run(e); !errors.As(err, &unknown) || !strings.HasPrefix(unknown.Hint, "--") {
			t.Errorf("Run(%s): error %v, want a problem with a flag as its hint", e, err)
		}
	}
	for _, e := range []Edit{WithProcs(0), WithProcs(1 << 20), WithScale("main.worker", -1), WithGC(math.NaN()),
		WithGC(math.Inf(1)), WithShards("main.worker", 0), WithLock("main.worker", 1e6)} {
		if _, err := p.Run(e); !problem.Is(err, problem.Misuse) {
			t.Errorf("Run(%s): error %v, want misuse", e, err)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"main.f=0.5": "--lock main.f=0.5", "main.f:12=0": "--lock main.f:12=0", "a=b=shard:4": "--lock a=b=shard:4",
		"main.f": "", "=0.5": "", "main.f=": "", "main.f=half": "", "main.f=NaN": "", "main.f=shard:x": "", "main.f=-1": "",
	} {
		e, err := ParseLock(text)
		if (err == nil) != (want != "") || err == nil && e.String() != want {
			t.Errorf("ParseLock(%s) = %s, %v; want %q", text, e, err, want)
		}
	}
	if e, err := ParseScale("main.f=2"); err != nil || e.String() != "--scale main.f=2" || e.Kind() != Scale {
		t.Errorf("ParseScale(main.f=2) = %s, %v; want --scale main.f=2", e, err)
	}
	if _, err := ParseScale("main.f"); err == nil {
		t.Error("a scale without a factor")
	}
}

// The menu is the same each time and names the lock first where all wait for it.
func TestMenu(t *testing.T) {
	p := program(t, contended(t))
	menu, err := p.Menu(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Menu(t.Context(), nil)
	if err != nil || !reflect.DeepEqual(menu, again) {
		t.Errorf("the menu changes: %v, want the same each time", err)
	}
	best := map[Kind]float64{}
	for i, r := range menu {
		if i > 0 && r.Ratio < menu[i-1].Ratio {
			t.Error("not in order")
		}
		if old, ok := best[r.Kind]; !ok || r.Ratio < old {
			best[r.Kind] = r.Ratio
		}
	}
	if !(best[LockEdit] < 0.8 && best[Procs] >= 0.99) {
		t.Errorf("best ratios %+v, want less than 0.8 of a lock and 0.99 or more of Ps", best)
	}
}

func TestEditFor(t *testing.T) {
	p := program(t, contended(t))
	for _, c := range []struct {
		ask  Prescription
		want string
	}{
		{Prescription{Rule: "hotmutex", Functions: []string{"main.worker"}}, "--lock main.worker:" + lineOf(p) + "=0"},
		{Prescription{Rule: "hotmutex", Functions: []string{"main.other"}}, ""},
		{Prescription{Rule: "fewprocs", Set: []string{"GOMAXPROCS=4"}}, "--procs 4"},
		{Prescription{Rule: "fewprocs"}, ""},
		{Prescription{Rule: "gccost"}, ""}, // nothing was collected
		{Prescription{Rule: "smallio"}, ""},
	} {
		e, assumes, ok := p.EditFor(c.ask)
		if ok != (c.want != "") || ok && (e.String() != c.want || assumes == "") {
			t.Errorf("EditFor(%+v) = %q, %q, %v; want %q and what it assumes", c.ask, e, assumes, ok, c.want)
		}
	}
	gc := program(t, collected(t))
	if e, _, ok := gc.EditFor(Prescription{Rule: "gccost", Set: []string{"GOGC=400"}}); !ok || e.String() != "--gc 0.25" {
		t.Errorf("EditFor(gccost) = %s, %v; want --gc 0.25", e, ok)
	}
}

func lineOf(p *Program) string {
	s := p.Locks[0].Site
	return s[len("main.worker:"):]
}

func TestBands(t *testing.T) {
	if _, err := ReadBands(bytes.NewReader(bandsFile)); err != nil {
		t.Fatal(err)
	}
	b := &Bands{Schema: BandsSchema, Pairs: []Pair{
		{Program: "a", Kind: Scale, Predicted: 0.5, Measured: 0.5},                 // no error
		{Program: "b", Kind: Scale, Predicted: 0.6, Measured: 0.7},                 // a third of the effect
		{Program: "c", Kind: Procs, Predicted: 1.015, Measured: 1.01},              // of no effect: a tenth of 5%
		{Program: "d", Kind: Procs, Predicted: 3, Measured: 2},                     // all of it
		{Program: "e", Kind: Procs, Predicted: 0, Measured: 0, Refused: "nothing"}, // does not count
	}}
	var out bytes.Buffer
	if err := WriteBands(&out, b); err != nil {
		t.Fatal(err)
	}
	back, err := ReadBands(&out)
	if err != nil || !reflect.DeepEqual(b, back) {
		t.Errorf("ReadBands() = %+v, %v; want %+v", back, err, b)
	}
	if all := back.Band(""); all.Pairs != 4 || all.Within20 != 0.5 || all.Within50 != 0.75 {
		t.Errorf("Of(all) = %+v, want 4 pairs, 0.5 within 20%% and 0.75 within 50%%", all)
	}
	if none := back.Band(LockEdit); none.Pairs != 0 || none.String() != "how far predictions of lock edits are off is not yet measured" {
		t.Errorf("Of(locks) = %v, want not yet measured", none)
	}
	for _, bad := range []string{"", "{}", `{"schema":9,"pairs":[]}`, `{"schema":1,"pairs":[{"program":"a","predicted":0}]}`, `{"schema":1,"x":1}`} {
		if _, err := ReadBands(bytes.NewReader([]byte(bad))); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// What a trace cannot carry is refused with a reason.
// A program that worked until its time was up is one that does not end, also when
// the runtime was unfair: what a fair replay leaves to the one that had most is not
// the program's length.
func TestUntilTimeIsUp(t *testing.T) {
	const end = 90_000
	p := program(t, traced(t, func(w *tracer) {
		main, spin, clock := w.Stack("main.main"), w.Stack("main.spin"), w.Stack("main.clock")
		for g := range uint64(3) {
			w.at(1, 10+g, corpus.GoCreate, 2+g, spin, main)
		}
		w.at(1, 13, corpus.GoCreate, 5, clock, main)
		w.at(1, 14, corpus.GoBlock, w.String("sync"), w.Stack("sync.(*WaitGroup).Wait", "main.main"))
		w.at(1, 15, corpus.GoStart, 5, 1)
		w.at(1, 16, corpus.GoBlock, w.String("sleep"), clock)
		w.at(2, 21, corpus.GoStart, 2, 1)
		seq := [5]uint64{}
		for at := uint64(20); at < end-10_000; at += 10_000 { // two share a P, the third has its own
			g := 3 + at/10_000%2
			seq[g]++
			w.at(1, at+2, corpus.GoStart, g, seq[g])
			w.at(1, at+9_999, corpus.GoStop, w.String("preempted"), spin)
		}
		w.at(1, end, corpus.GoUnblock, 5, 2, 0)
		w.at(1, end+1, corpus.GoStart, 5, 3)
		w.at(1, end+2, corpus.GoDestroy)
		for g := range uint64(2) {
			w.at(1, end+3+3*g, corpus.GoStart, 3+g, seq[3+g]+1)
			w.at(1, end+4+3*g, corpus.GoDestroy)
		}
		w.at(2, end+7_000, corpus.GoUnblock, 1, 1, w.Stack("sync.(*WaitGroup).Done", "main.spin"))
		w.at(2, end+7_001, corpus.GoDestroy)
		w.at(2, end+7_002, corpus.GoStart, 1, 2)
		w.at(2, end+7_100, corpus.HeapAlloc, 1)
	}))
	if b := p.Baseline(); b.Ends {
		t.Errorf("Baseline() of a program whose time was up has ends %v, want false", b.Ends)
	}
}

func TestRefused(t *testing.T) {
	empty := traced(t, func(w *tracer) { w.at(1, 5, corpus.GoBlock, w.String("sleep"), 0) })
	asleep := traced(t, func(w *tracer) {
		w.at(1, 2, corpus.GoBlock, w.String("sleep"), w.Stack("main.main"))
		w.at(2, 900_000, corpus.GoUnblock, 1, 1, 0)
		w.at(1, 900_001, corpus.GoStart, 1, 2)
		w.at(1, 900_002, corpus.HeapAlloc, 1)
	})
	for _, data := range [][]byte{empty, asleep} {
		var refused *RefusedError
		if _, err := read(t, data, Options{}); !errors.As(err, &refused) || refused.Why == "" {
			t.Errorf("a trace without work: error %v, want a refusal", err)
		}
	}
	if _, err := read(t, empty[:16], Options{}); err == nil {
		t.Error("a header is a program")
	}
}

// A large trace is cut to the busiest of its generations.
func TestBusiest(t *testing.T) {
	info := exectrace.Info{Size: 300, End: 4e9, Generations: []exectrace.Generation{
		{Start: 0, End: 1e9, Bytes: 50}, {Start: 1e9, End: 2e9 + 9, Bytes: 40}, {Start: 2e9, End: 3e9, Bytes: 150}, {Start: 3e9, End: 4e9, Bytes: 60}}}
	w, cut := busiest(info, 30)
	if want := (exectrace.Range{From: 2e9 + 10, To: 3e9}); !cut || w != want {
		t.Errorf("busiest() = %v, %v; want %v", w, cut, want)
	}
	if w, cut := busiest(info, 1000); cut || !w.IsZero() {
		t.Errorf("busiest(all events) = %v, %v; want all of it", w, cut)
	}
	p, err := read(t, joined(t), Options{Events: 12})
	if p == nil || !p.Cut || p.Ends {
		t.Errorf("a read of 12 events: %+v, %v; want it cut before its end", p, err)
	}
}

// Whatever a trace says, reading and replaying end without a panic.
func FuzzRead(f *testing.F) {
	for _, c := range corpus.Sick() {
		f.Add(c.Trace, uint8(1))
	}
	for _, data := range [][]byte{joined(f), chained(f), contended(f), collected(f)} {
		f.Add(data, uint8(3))
		for i, d := range corpus.Damages {
			f.Add(d.Do(data, uint64(i)), uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint8) {
		tr, err := exectrace.NewReaderAt(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		p, err := Read(t.Context(), tr, Options{Cores: int(n % 8), Events: 20_000})
		if p == nil || err != nil {
			return
		}
		edits := []Edit{WithProcs(1 + int(n)), WithGC(float64(n) / 16)}
		for _, l := range p.worstLocks() {
			edits = append(edits, WithShards(l.Site, 1+int(n%5)), WithLock(l.Site, float64(n%3)/2))
		}
		res, err := p.Run(edits...)
		if err == nil && (math.IsNaN(res.Ratio) || math.IsInf(res.Ratio, 0) || res.Elapsed < 0) {
			t.Errorf("result %+v, want finite numbers, nothing below 0", res)
		}
	})
}

// Nobody is told to use CPUs that are not there, or that nobody knows of.
func TestMenuHasNoMorePsThanCPUs(t *testing.T) {
	for _, c := range []struct {
		procs, cores int
		want         []string
	}{
		{2, 8, []string{"--procs 1", "--procs 4"}},
		{2, 3, []string{"--procs 1", "--procs 3"}},
		{2, 2, []string{"--procs 1"}},
		{4, 2, []string{"--procs 2"}},
		{1, 0, nil},
	} {
		var got []string
		for _, e := range (&Program{Procs: c.procs, Cores: c.cores}).usual() {
			got = append(got, e.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d Ps on %d CPUs: %q, want %q", c.procs, c.cores, got, c.want)
		}
	}
}

// What the recorder does is nobody's to change: neither its functions nor a group that
// serves nothing else are in the menu.
func TestMenuLeavesTheRecorderOut(t *testing.T) {
	const agent = "github.com/gowhy/gowhy/agent.serveTrace"
	p := &Program{Procs: 1, Work: 100, Groups: []Group{{Name: "net/http.(*conn).serve", Work: 20}, {Name: "main.worker", Work: 30}},
		Functions: []Function{{agent, 0.2}, {"main.parse", 0.3}}, shares: map[string][]float64{agent: {0.9, 0}, "main.parse": {0, 1}}}
	var got []string
	for _, e := range p.usual() {
		got = append(got, e.String())
	}
	if want := []string{"--scale main.worker=0.5", "--scale main.parse=0.5"}; !slices.Equal(got, want) {
		t.Errorf("menu %q, want %q", got, want)
	}
	p.shares[agent] = []float64{0.1, 0} // a server of its own, which is recorded too
	if got := p.usual(); len(got) != 3 {
		t.Errorf("menu %v, want the server in it", got)
	}
	p.shares[agent] = []float64{0, 0}
	if got := p.usual(); len(got) != 2 {
		t.Errorf("menu %v, want no server of which there is no sample", got)
	}
}

// A system call is one line of the menu, by whichever functions it was seen.
func TestMenuHasASystemCallOnce(t *testing.T) {
	p := &Program{Functions: []Function{
		{"internal/runtime/syscall/linux.Syscall6", 0.5}, {"syscall.RawSyscall6", 0.5}, {"syscall.Syscall", 0.5},
		{"syscall.Write", 0.4}, {"syscall.write", 0.4}, {"os.(*File).Write", 0.4}, {"syscall.read", 0.1}, {"main.parse", 0.1},
	}}
	if got, want := p.usualFunctions(), []string{"syscall.Write", "os.(*File).Write", "syscall.read", "main.parse"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
