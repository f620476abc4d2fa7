package evidence

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// lockProgram is the source of the goroutines in the dumps below, by line.
const lockProgram = `package main

import "sync"

type cache struct {
	mu   sync.Mutex
	rw   sync.RWMutex
	next *cache
}

var all sync.Mutex

func (c *cache) get() {
	c.mu.Lock()
	defer c.mu.Unlock()
}

func (c *cache) load() {
	c.mu.Lock()
	fetch()
	c.mu.Unlock()
	fetch()
	if !c.mu.TryLock() {
		return
	}
	fetch()
	if done() {
		c.mu.Unlock()
		return
	}
	fetch()
}

func (c *cache) read() {
	c.rw.RLock()
	defer c.rw.RUnlock()
	c.size()
}

func (c *cache) size() {
	c.rw.RLock()
	defer c.rw.RUnlock()
}

func sweep() {
	all.Lock()
	for {
		func() {
			fetch()
		}()
	}
}

func stop() {
	all.Lock()
}

func (c *cache) deep() {
	c.rw.RLock()
	c.next.size()
	c.rw.RUnlock()
}

func fetch() {}
func done() bool { return false }

type pair struct{ left, right *cache }

func (p *pair) pay() {
	p.left.mu.Lock()
	p.right.mu.Lock()
}

func (p *pair) refund() {
	p.right.mu.Lock()
	p.left.mu.Lock()
}

func with(mu *sync.Mutex) {
	mu.Lock()
	fetch()
}

func within(mu *sync.Mutex) {
	mu.Lock()
}

func (c *cache) loop() {
	c.mu.Lock()
	c.flush()
	c.mu.Unlock()
}

// flush wants mu held, and is without it while it writes.
func (c *cache) flush() {
	done()
	c.mu.Unlock()
	fetch()
	c.mu.Lock()
}

func (c *cache) retry() {
	c.mu.Lock()
	c.other(c.next)
}

func (c *cache) other(o *cache) {
	o.rw.Unlock()
	fetch()
}
`

// dumpOf returns a dump of goroutines: each is a state and frames, leaf first, like
// "main.(*cache).get(0xc000010000) 14".
func dumpOf(file string, goroutines ...[]string) []byte {
	var b strings.Builder
	for i, g := range goroutines {
		fmt.Fprintf(&b, "goroutine %d [%s]:\n", i+1, g[0])
		for _, f := range g[1:] {
			call, line, user := cutLast(f, ") ")
			if user {
				call += ")"
				fmt.Fprintf(&b, "%s\n\t%s:%s +0x1\n", call, file, line)
			} else {
				fmt.Fprintf(&b, "%s\n\t/go/src/x.go:1 +0x1\n", call)
			}
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

func momentOf(t *testing.T, file string, goroutines ...[]string) *model.Moment {
	t.Helper()
	m := load(t, Options{}, files(t, map[string][]byte{"dump": dumpOf(file, goroutines...)}))
	if m.Moment == nil {
		t.Fatal("a dump is no moment")
	}
	return m.Moment
}

func lockSource(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(lockProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// holder describes who holds the only lock of a moment.
func holder(t *testing.T, m *model.Moment) string {
	t.Helper()
	if len(m.Locks) != 1 {
		t.Fatalf("locks %+v, want one", m.Locks)
	}
	var all []string
	for _, s := range m.Goroutines {
		for _, h := range s.Holds {
			all = append(all, fmt.Sprintf("goroutine %d since %s:%d sure=%t shared=%t", s.Goroutine, h.Taken.Func, h.Taken.Line, h.Sure, h.Shared))
		}
	}
	return strings.Join(all, ", ")
}

// TestHolderBySource: who holds a lock is who stands between Lock and Unlock.
func TestHolderBySource(t *testing.T) {
	file := lockSource(t)
	waits := []string{"sync.Mutex.Lock, 3 minutes", "internal/sync.(*Mutex).lockSlow(0xc000010000)", "sync.(*Mutex).Lock(...)", "main.(*cache).get(0x0?) 14"}
	for stands, want := range map[string]string{
		"main.(*cache).load(0xc000010000) 20": "goroutine 2 since main.(*cache).load:19 sure=true shared=false",
		"main.(*cache).load(0xc000020000) 20": "",                                                                // its receiver is far from the lock
		"main.(*cache).load(0xc00000fff0) 20": "goroutine 2 since main.(*cache).load:19 sure=false shared=false", // it may be in that value, or the next
		"main.(*cache).load(0x0?) 20":         "goroutine 2 since main.(*cache).load:19 sure=false shared=false",
		"main.(*cache).load(0xc000010000) 22": "", // given back
		"main.(*cache).load(0xc000010000) 26": "goroutine 2 since main.(*cache).load:23 sure=true shared=false",
		"main.(*cache).load(0xc000010000) 31": "goroutine 2 since main.(*cache).load:23 sure=true shared=false",
		"main.(*cache).load(0xc000010000) 21": "", // no call of fetch in that line: another source
	} {
		m := momentOf(t, file, waits, []string{"IO wait, 3 minutes", "main.fetch()", stands})
		if got := holder(t, m); got != want {
			t.Errorf("%s: %q, want %q", stands, got, want)
		}
		if l := m.Locks[0]; l.Name != "main.cache.mu" || l.Naming != model.BySource || l.Address != 0xc000010000 {
			t.Errorf("lock %+v, want main.cache.mu by source with its address", l)
		}
	}
	for _, c := range [][3]string{
		{"main.done()", "main.(*cache).flush(0xc000010000) 96", "goroutine 2 since main.(*cache).loop:89 sure=true shared=false"},
		{"main.fetch()", "main.(*cache).flush(0xc000010000) 98", ""},            // flush has given it back
		{"sync.(*Mutex).Lock(...)", "main.(*cache).flush(0xc000010000) 99", ""}, // and takes it again: that is no deadlock
	} {
		m := momentOf(t, file, waits, []string{"IO wait, 3 minutes", c[0], c[1], "main.(*cache).loop(0xc000010000) 90"})
		if got := holder(t, m); got != c[2] {
			t.Errorf("%s in %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
	m := momentOf(t, file, waits, []string{"IO wait, 3 minutes", "main.fetch()", "main.(*cache).other(0xc000010000) 109", "main.(*cache).retry(0xc000010000) 104"})
	if got, want := holder(t, m), "goroutine 2 since main.(*cache).retry:103 sure=true shared=false"; got != want {
		t.Errorf("another lock was given back: %q, want %q", got, want)
	}
	m = momentOf(t, file, []string{"sync.Mutex.Lock", "sync.(*Mutex).Lock(...)", "main.stop() 55"},
		[]string{"sleep", "main.fetch()", "main.sweep.func1() 49", "main.sweep() 50"})
	if got, want := holder(t, m), "goroutine 2 since main.sweep:46 sure=true shared=false"; got != want {
		t.Errorf("a variable of the package, past a literal: %q, want %q", got, want)
	}
}

// TestHolderOnCPU: of who holds a lock and runs a moment has no stack; samples of the CPU
// have it.
func TestHolderOnCPU(t *testing.T) {
	file := lockSource(t)
	at := func(function string, line int) model.Frame {
		return model.Frame{Func: function, File: file, Line: line}
	}
	for name, c := range map[string]struct {
		other model.Standing
		want  int
	}{"one runs": {model.Standing{Count: 1, State: "running"}, 20}, "one holds it": {model.Standing{Count: 1, State: "sleep"}, 0}} {
		l := newLoader(t.Context(), Options{})
		add := func(frames ...model.Frame) model.Stack { return l.m.Stacks.Add(frames) }
		if c.other.State == "sleep" {
			c.other.Stack = add(at("main.fetch", 64), at("main.(*cache).load", 20))
		}
		l.m.Moment = &model.Moment{Source: model.Trace, Goroutines: []model.Standing{
			{Count: 9, State: "sync", Stack: add(model.Frame{Func: "sync.(*Mutex).Lock"}, at("main.(*cache).get", 14))}, c.other}}
		l.m.CPU = &model.Profile{Samples: []model.Sample{
			{Stack: add(at("main.fetch", 64), at("main.(*cache).load", 20)), Values: []int64{5}},
			{Stack: add(at("main.fetch", 64), at("main.(*cache).load", 26)), Values: []int64{3}},
			{Stack: add(at("main.fetch", 64), at("main.(*cache).load", 22)), Values: []int64{90}}}}
		l.resolveMoment()
		l.joinHolders()
		if got := l.m.Moment.Locks[0].Computes; got.Line != c.want || got.Line > 0 && got != at("main.(*cache).load", c.want) {
			t.Errorf("%s: who holds it computes at %+v, want line %d", name, got, c.want)
		}
	}
}

// TestReadAgain: a reader that takes its lock again waits for itself.
func TestReadAgain(t *testing.T) {
	m := momentOf(t, lockSource(t), []string{"sync.RWMutex.RLock, 2 minutes", "sync.(*RWMutex).RLock(...)", "main.(*cache).size(0xc000010000) 41", "main.(*cache).read(0xc000010000) 37"})
	if got, want := holder(t, m), "goroutine 1 since main.(*cache).read:35 sure=true shared=true"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if s := m.Goroutines[0]; s.Wants != 1 || s.Waited != 2*time.Minute {
		t.Errorf("standing %+v, want one that waits for what it holds, for two minutes", s)
	}
	// Without addresses the call on the receiver itself tells that it is one value, and one
	// on another value does not.
	for call, want := range map[string]string{
		"main.(*cache).read(0x0?) 37": "goroutine 1 since main.(*cache).read:35 sure=true shared=true",
		"main.(*cache).deep(0x0?) 60": "",
	} {
		m = momentOf(t, lockSource(t), []string{"sync.RWMutex.RLock", "sync.(*RWMutex).RLock(...)", "main.(*cache).size(0x0?) 41", call})
		if got := holder(t, m); got != want {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}

// TestHolderByStacks: without source, who is in code of the same value and does not
// wait for the lock probably holds it.
func TestHolderByStacks(t *testing.T) {
	waits := []string{"semacquire, 80 minutes", "sync.runtime_Semacquire(0xc820010010)", "sync.(*RWMutex).RLock(0xc820010004)", "a/b.(*state).list(0xc820010000, 0x1) 5", "main.serve() 3"}
	idle := []string{"chan receive, 80 minutes", "a/b.(*state).loop(0xc820020000) 30"} // another value
	holds := []string{"select, 80 minutes", "net.read(0xc820055555)", "a/b.(*state).sync(0xc820010000, 0x0) 9", "a/b.(*state).run(0xc820010000) 20"}
	m := momentOf(t, "/nowhere/state.go", waits, waits, idle, holds)
	if got, want := holder(t, m), "goroutine 4 since a/b.(*state).sync:9 sure=false shared=false"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if s := m.Goroutines[0]; s.Count != 2 || s.State != model.StateRLock || s.Waited != 80*time.Minute {
		t.Errorf("standing %+v, want two that wait to read for 80 minutes", s)
	}
	m = momentOf(t, "/nowhere/main.go", []string{"sync.Mutex.Lock", "sync.(*Mutex).Lock(...)", "main.refresh() 14"}, []string{"sleep", "time.Sleep(0x1)", "main.refresh() 15"},
		[]string{"sleep", "time.Sleep(0x1)", "main.refresh() 9"}) // before the line that locks
	if got, want := holder(t, m), "goroutine 2 since main.refresh:15 sure=false shared=false"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLockOfAnotherValue: a method that takes the lock of another value does not make its
// receiver that lock's, and of many who stand alike nobody is named.
func TestLockOfAnotherValue(t *testing.T) {
	waits := func(address, frame string) []string {
		return []string{"sync.Mutex.Lock, 3 minutes", "internal/sync.(*Mutex).lockSlow(" + address + ")", "sync.(*Mutex).Lock(...)", frame}
	}
	const a, b = "0xc000010000", "0xc000310000"
	dump := [][]string{waits(b, "main.(*account).move("+a+", "+b+") 21"), waits(a, "main.(*account).move("+b+", "+a+") 21")}
	for range 9 {
		dump = append(dump, waits(a, "main.(*account).report("+a+") 33"))
	}
	m := momentOf(t, "/nowhere/main.go", dump...)
	if len(m.Locks) != 2 {
		t.Fatalf("locks %+v, want two", m.Locks)
	}
	for _, s := range m.Goroutines {
		if f := m.Locks[s.Wants-1]; s.Count == 9 && (f.Address != 0xc000010000 || len(s.Holds) > 0) {
			t.Errorf("those who ask for a report wait for %#x and hold %v, want %s and nothing", f.Address, s.Holds, a)
		}
		if s.Count == 1 && (len(s.Holds) != 1 || s.Holds[0].Lock == s.Wants) {
			t.Errorf("goroutine %d holds %v and wants %d, want each to hold what the other wants", s.Goroutine, s.Holds, s.Wants)
		}
	}
}

// TestOnceIsALock: who runs the function of a sync.Once holds up the others.
func TestOnceIsALock(t *testing.T) {
	m := momentOf(t, "/nowhere/main.go",
		[]string{"sync.Mutex.Lock, 5 minutes", "internal/sync.(*Mutex).lockSlow(0xc000010004)", "sync.(*Mutex).Lock(...)", "sync.(*Once).doSlow(0xc000010000, 0x1)", "sync.(*Once).Do(...)", "main.conn() 8"},
		[]string{"IO wait, 5 minutes", "net.dial()", "main.conn.func1() 9", "sync.(*Once).doSlow(0xc000010000, 0x1)", "sync.(*Once).Do(...)", "main.conn() 8"})
	if got, want := holder(t, m), "goroutine 2 since main.conn:8 sure=true shared=false"; got != want || m.Locks[0].Naming != model.ByOnce {
		t.Errorf("%q of %+v, want %q of a Once", got, m.Locks[0], want)
	}
}

// TestDumpOfTheDead: the runtime's own finding is kept.
func TestDumpOfTheDead(t *testing.T) {
	dump := append([]byte("fatal error: all goroutines are asleep - deadlock!\n\n"), dumpOf("/x.go", []string{"chan receive", "main.main() 5"})...)
	l := newLoader(t.Context(), Options{})
	if err := l.readLog(source{name: "dump", r: strings.NewReader(string(dump))}); err != nil {
		t.Fatal(err)
	}
	m, err := l.finish()
	if err != nil || !m.Moment.Dead || m.Moment.Goroutines[0].State != "chan receive" {
		t.Errorf("moment %+v, %v; want a dead one", m.Moment, err)
	}
}

func TestFirstArgument(t *testing.T) {
	for args, want := range map[string]uint64{
		"0xc000012000)": 0xc000012000, "0xc000012000, 0x1)": 0xc000012000, "0xc000012000?, 0x1)": 0, "...)": 0, ")": 0, "{0xc000012000, 0x1})": 0, "0x5)": 0,
	} {
		if got := firstArgument(args); got != want {
			t.Errorf("%q: %#x, want %#x", args, got, want)
		}
	}
}

// TestParkedInText: a text has no frames of the runtime at the leaf, and who waits is not
// taken for one that runs.
func TestParkedInText(t *testing.T) {
	text := "goroutine profile: total 3\n2 @ 0x47d92e 0x4158ee 0x4d9639 0x483de1\n#\t0x4d9638\tmain.leak+0x18\t/src/a.go:3\n\n" +
		"1 @ 0x4d9739 0x483de1\n#\t0x4d9738\tmain.work+0x18\t/src/a.go:9\n\n"
	m := load(t, Options{}, files(t, map[string][]byte{"x": []byte(text)})).Moment
	if len(m.Goroutines) != 2 || m.Goroutines[0].State != model.StateWaiting || m.Goroutines[1].State != model.StateRunning {
		t.Errorf("standings %+v, want two that wait and one that runs", m.Goroutines)
	}
}

// TestLabelsInText: the text of a profile has the program's labels before the frames.
func TestLabelsInText(t *testing.T) {
	const place = "#\t0x4d9638\tmain.leak+0x18\t/src/a.go:3\n\n"
	text := "# labels: {\"none\":\"yet\"}\ngoroutine profile: total 9\n" +
		"2 @ 0x47d92e 0x4158ee 0x4d9639 0x483de1\n# labels: {\"a zone\":\"b\", \"route\":\"/us\\\"ers {a}, b: c\"}\n" + place +
		"3 @ 0x47d92e 0x4158ee 0x4d9639 0x483de1\n# labels: {\"route\":\"/orders\", \"cut\n" + place +
		"4 @ 0x4d9639 0x483de1\n# labels: {\"state\":\"theirs\"}\n" + place
	want := []map[string]string{{"a zone": "b", "route": "/us\"ers {a}, b: c", "state": "waiting"}, {"route": "/orders", "state": "waiting"}, {}}
	p := load(t, Options{}, files(t, map[string][]byte{"x": []byte(text)})).Goroutines.End
	if len(p.Samples) != len(want) {
		t.Fatalf("samples %+v, want %d", p.Samples, len(want))
	}
	for i, s := range p.Samples {
		if !maps.Equal(s.Labels, want[i]) {
			t.Errorf("labels %q, want %q", s.Labels, want[i])
		}
	}
}

// TestFormsOfTwoMoments: a text beside a profile is the same moment in another form, unless
// their numbers say that it is not.
func TestFormsOfTwoMoments(t *testing.T) {
	text := "goroutine profile: total 900\n900 @ 0x47d92e 0x4158ee 0x4d9639 0x483de1\n#\t0x4d9638\tmain.leak+0x18\t/src/a.go:3\n\n"
	other := snapshotOf(t, "goroutine", nil)
	m := load(t, Options{}, files(t, map[string][]byte{"a": []byte(text), "b": other}))
	if m.Goroutines.Start == nil || total(m.Goroutines.Start, "goroutine") != 900 || !noted(m, "taken as given") {
		t.Errorf("goroutines %+v, notes %q; want two ends as given, and a note", m.Goroutines, m.Run.Coverage.Notes)
	}
}

// A profile that was read from outside says who made no step while it was watched.
func TestMomentWatched(t *testing.T) {
	frame := func(id uint64, name string) *profile.Location {
		return &profile.Location{ID: id, Line: []profile.Line{{Function: &profile.Function{ID: id, Name: name}, Line: 5}}}
	}
	locks, waits, work := frame(1, "sync.(*Mutex).Lock"), frame(2, "main.work"), frame(3, "main.idle")
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "goroutine", Unit: "count"}}, TimeNanos: begin.UnixNano(),
		Location: []*profile.Location{locks, waits, work},
		Sample: []*profile.Sample{
			{Value: []int64{40}, Location: []*profile.Location{locks, waits}, Label: map[string][]string{"state": {"sync.Mutex.Lock"}, artifact.StillLabel: {"39"}}},
			{Value: []int64{3}, Location: []*profile.Location{work}, Label: map[string][]string{"state": {"chan receive"}}},
		}}
	for _, l := range p.Location {
		p.Function = append(p.Function, l.Line[0].Function)
	}
	for _, c := range []struct {
		comments       []string
		watched        time.Duration
		still          int64
		waited, others time.Duration
	}{
		{nil, 0, 0, 0, 0},
		{[]string{"gowhy watched goroutines for ever"}, 0, 0, 0, 0},
		{[]string{"other", artifact.StillComment(8 * time.Second)}, 8 * time.Second, 39, 8 * time.Second, 0},
	} {
		p.Comments = c.comments
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		m := load(t, Options{}, files(t, map[string][]byte{"goroutine.pb.gz": b.Bytes()})).Moment
		if m == nil || len(m.Goroutines) != 2 {
			t.Fatalf("moment %+v, want two standings", m)
		}
		if s, o := m.Goroutines[0], m.Goroutines[1]; m.Watched != c.watched || s.Still != c.still || s.Waited != c.waited || o.Still != 0 || o.Waited != c.others {
			t.Errorf("with comments %q: watched %v, still %d for %v, others %d for %v", c.comments, m.Watched, s.Still, s.Waited, o.Still, o.Waited)
		}
	}
}

// TestLockBehindField: a lock behind a pointer lies anywhere, and is the same for those
// who come to it through one value.
func TestLockBehindField(t *testing.T) {
	file := lockSource(t)
	line := func(code string, after int) int {
		for i, l := range strings.Split(lockProgram, "\n") {
			if i >= after && strings.TrimSpace(l) == code {
				return i + 1
			}
		}
		t.Fatalf("no line %q", code)
		return 0
	}
	pay := line("func (p *pair) pay() {", 0)
	refund := line("func (p *pair) refund() {", 0)
	waits := func(lock, function, receiver string, at int) []string {
		return []string{"sync.Mutex.Lock, 3 minutes", "internal/sync.(*Mutex).lockSlow(" + lock + ")", "sync.(*Mutex).Lock(...)", fmt.Sprintf("main.(*pair).%s(%s) %d", function, receiver, at)}
	}
	right, left := line("p.right.mu.Lock()", pay), line("p.left.mu.Lock()", refund)
	for receiver, want := range map[string]string{
		"0xc000010000": "1: holds 2 sure=true; 2: holds 1 sure=true;",
		"0xc000020000": "", // of another pair
		"0x0?":         "1: holds 2 sure=false; 2: holds 1 sure=false;",
	} {
		m := momentOf(t, file, waits("0xc000a00000", "pay", "0xc000010000", right), waits("0xc000b00000", "refund", receiver, left))
		var got []string
		for _, s := range m.Goroutines {
			for _, h := range s.Holds {
				got = append(got, fmt.Sprintf("%d: holds %d sure=%t;", s.Wants, h.Lock, h.Sure))
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", receiver, got, want)
		}
	}
	// A parameter is no variable of the package, which all could mean.
	with, within := line("fetch()", line("func with(mu *sync.Mutex) {", 0)), line("mu.Lock()", line("func within(mu *sync.Mutex) {", 0))
	m := momentOf(t, file, []string{"sync.Mutex.Lock, 3 minutes", "sync.(*Mutex).Lock(...)", fmt.Sprintf("main.within(0x0?) %d", within)},
		[]string{"sleep, 3 minutes", "main.fetch()", fmt.Sprintf("main.with(0x0?) %d", with)})
	if got := holder(t, m); got != "" {
		t.Errorf("who holds a parameter of that name of another function: %s", got)
	}
}

// channelProgram is the source of goroutines that send and receive, by line.
const channelProgram = `package main

type spool struct {
	lines chan string
	acks  chan bool
}

var all = make(chan int)

func (s *spool) add() {
	s.lines <- "a"
}

func (s *spool) ship() {
	for range s.lines {
		<-s.acks
	}
}

func report(results chan<- int) {
	results <- 1
}

func store(results <-chan int) {
	for range results {
		fetch()
	}
}

func start() {
	results := make(chan int)
	go store(results)
	report(results)
}

func other() {
	results := make(chan int)
	report(results)
}

func (s *spool) once() {
	<-s.lines
	fetch()
}

func (s *spool) run(job func()) {
	for {
		select {
		case <-s.lines:
			job()
		case <-s.acks:
		}
	}
}

func count() {
	for {
		fetch()
		<-all
	}
}

func tell() {
	all <- 1
}

func fetch() {}
`

func channelSource(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(channelProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestReceiverBySource: who should receive from a channel is who stands in a loop that
// does, and elsewhere than at the receive.
func TestReceiverBySource(t *testing.T) {
	file := channelSource(t)
	add := []string{"chan send, 3 minutes", "runtime.chansend1(0x0?)", "main.(*spool).add(0xc000010000) 11"}
	tell := []string{"chan send", "runtime.chansend1(0x0?)", "main.tell() 64"}
	reportOf := func(caller string) []string {
		return []string{"chan send", "runtime.chansend1(0x0?)", "main.report(0x0?) 21", caller}
	}
	receives := "runtime.chanrecv1(0x0?)"
	for name, c := range map[string]struct {
		sender   []string
		receiver []string
		want     string
	}{
		"in the loop":            {add, []string{"chan receive", receives, "main.(*spool).ship(0xc000010000) 16"}, "main.spool.lines from main.(*spool).ship:15 waits=false"},
		"of another value":       {add, []string{"chan receive", receives, "main.(*spool).ship(0xc000020000) 16"}, "main.spool.lines nobody"},
		"of a value not known":   {add, []string{"chan receive", receives, "main.(*spool).ship(0x0?) 16"}, "main.spool.lines from main.(*spool).ship:15 waits=false"},
		"at the receive":         {add, []string{"chan receive", receives, "main.(*spool).ship(0xc000010000) 15"}, "main.spool.lines from main.(*spool).ship:15 waits=true"},
		"without a loop":         {add, []string{"sleep", "main.fetch() 67", "main.(*spool).once(0xc000010000) 43"}, "main.spool.lines nobody"},
		"a case of select":       {add, []string{"sleep", "main.fetch() 67", "main.(*spool).run(0xc000010000) 50"}, "main.spool.lines from main.(*spool).run:49 waits=false"},
		"in the select":          {add, []string{"select", "runtime.selectgo(0x0?)", "main.(*spool).run(0xc000010000) 48"}, "main.spool.lines from main.(*spool).run:49 waits=true"},
		"a variable":             {tell, []string{"sleep", "main.fetch() 67", "main.count() 58"}, "main.all from main.count:59 waits=false"},
		"another source":         {tell, []string{"sleep", "main.gone() 67", "main.count() 58"}, "main.all nobody"},
		"a parameter":            {reportOf("main.start() 33"), []string{"sleep", "main.fetch() 67", "main.store(0x0?) 26"}, "results of main.report from main.store:25 waits=false"},
		"another's variable":     {reportOf("main.other() 38"), []string{"sleep", "main.fetch() 67", "main.store(0x0?) 26"}, "results of main.report nobody"},
		"a caller of no source":  {reportOf("main.lost() 3"), []string{"sleep", "main.fetch() 67", "main.store(0x0?) 26"}, "no channel"},
		"a line without sending": {[]string{"chan send", "runtime.chansend1(0x0?)", "main.tell() 63"}, []string{"sleep", "main.fetch() 67", "main.count() 58"}, "no channel"},
	} {
		m := momentOf(t, file, c.sender, c.receiver)
		got := "no channel"
		if len(m.Channels) == 1 {
			got = m.Channels[0].Name + " nobody"
		}
		for _, s := range m.Goroutines {
			for _, v := range s.Serves {
				got = fmt.Sprintf("%s from %s:%d waits=%t", m.Channels[v.Channel-1].Name, v.From.Func, v.From.Line, v.Waits)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestAllReceivers: whether others could receive is what the package's lines say.
func TestAllReceivers(t *testing.T) {
	file := channelSource(t)
	tell := []string{"chan send", "runtime.chansend1(0x0?)", "main.tell() 64"}
	count := []string{"sleep", "main.fetch() 67", "main.count() 58"}
	if m := momentOf(t, file, tell, count); len(m.Channels) != 1 || !m.Channels[0].All {
		t.Errorf("the channels are %+v, want one with All: only count receives from it", m.Channels)
	}
	add := []string{"chan send", "runtime.chansend1(0x0?)", "main.(*spool).add(0x0?) 11"}
	ship := []string{"chan receive", "runtime.chanrecv1(0x0?)", "main.(*spool).ship(0x0?) 16"}
	if m := momentOf(t, file, add, ship); len(m.Channels) != 1 || m.Channels[0].All {
		t.Errorf("the channels are %+v, want one without All: once and run receive from lines, too", m.Channels)
	}
}

// TestTrimmedSource: of a program built with -trimpath the source is found in its module.
func TestTrimmedSource(t *testing.T) {
	dir := filepath.Dir(channelSource(t))
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/spool\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	m := momentOf(t, "example.com/spool/main.go", []string{"chan send", "runtime.chansend1(0x0?)", "main.report(0x0?) 21", "main.start() 33"},
		[]string{"sleep", "main.fetch() 67", "main.store(0x0?) 26"})
	if len(m.Channels) != 1 || m.Channels[0].Name != "results of main.report" {
		t.Fatalf("the channels are %+v, want results of main.report", m.Channels)
	}
	if !slices.ContainsFunc(m.Goroutines, func(s model.Standing) bool { return len(s.Serves) == 1 && s.Serves[0].From.Line == 25 }) {
		t.Errorf("the goroutines are %+v, want one that serves from line 25: store receives", m.Goroutines)
	}
}

// FuzzSource reads any Go file beside any frames: what cannot be parsed or means something
// else must only say nothing.
func FuzzSource(f *testing.F) {
	for line := range 70 {
		f.Add([]byte(channelProgram), "main.(*spool).run", uint16(line), "main.start", uint16(33))
		f.Add([]byte(lockProgram), "main.(*cache).load", uint16(line), "main.sweep.func1", uint16(46))
	}
	for line := range strings.Count(absenceProgram, "\n") {
		f.Add([]byte(absenceProgram), "example.com/shop.fetch", uint16(line), "example.com/shop.(*desk).ask", uint16(40))
	}
	f.Add([]byte("package main\nvar f = func(c chan int) { for range c { c <- 1 } }\nfunc g(c chan int) { go g(c); c <- <-c }"), "main.g", uint16(3), "main.init.func1", uint16(2))
	f.Add([]byte("package main\nfunc (t T[K]) m(a, _ chan int, b ...chan int) { x := a; x <- 1; for { <-x } }"), "main.(*T[...]).m", uint16(2), "main.(*T[...]).m", uint16(2))
	f.Add([]byte("package main\nimport \"context\"\nfunc m(ctx context.Context, c chan int) { a := make(chan int)\nselect { case <-a: case c <- 1: case <-ctx.Done(): } }\nfunc g() { m(context.TODO(), nil) }"), "main.m", uint16(4), "main.g", uint16(5))
	f.Fuzz(func(t *testing.T, source []byte, function string, line uint16, caller string, called uint16) {
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, source, 0o600); err != nil {
			t.Fatal(err)
		}
		frames := []model.Frame{{Func: "runtime.chansend1", File: "/go/src/chan.go", Line: 1}, {Func: function, File: file, Line: int(line)}, {Func: caller, File: file, Line: int(called)}}
		r := newSourceReader()
		for _, state := range []string{"chan send", "select"} {
			if c, at, ok := r.sendsTo(state, frames); ok && (len(c.ids) == 0 || at < 0 || at >= len(frames)) {
				t.Errorf("sendsTo(%q) = %+v, %d, true, want ids, a frame below %d", state, c, at, len(frames))
			}
		}
		for _, s := range r.serves(frames) {
			if len(s.ids) == 0 || s.frame >= len(frames) {
				t.Errorf("serves() has %+v, want ids, a frame below %d", s, len(frames))
			}
		}
		for _, h := range r.heldOn(frames) {
			if h.name == "" || h.frame >= len(frames) {
				t.Errorf("heldOn() has %+v, want a name, a frame below %d", h, len(frames))
			}
		}
		r.lockAt(frames[1])
		r.onReceiver(frames, 2)
		for _, state := range lacking {
			if a, ok := r.lacks(state, frames); ok {
				if e, ok := a.pkg.endersOf("main", a.target...); ok && len(e.units) < len(e.at) && len(e.units) == 0 {
					t.Errorf("endersOf() = no functions at %v, true, want some", e.at)
				}
			}
		}
	})
}
