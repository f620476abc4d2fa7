package goroutines

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A subject is the program of testdata, running.
type subject struct {
	t   *testing.T
	pid int
	in  io.Writer
	out *bufio.Reader
}

func start(t *testing.T, exe string, args ...string) *subject {
	t.Helper()
	return startCommand(t, exec.Command(exe, args...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *subject {
	t.Helper()
	if !fits() {
		t.Skip("goroutines are read on Linux only")
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	s := &subject{t, cmd.Process.Pid, in, bufio.NewReader(out)}
	s.line("ready")
	s.rests()
	return s
}

// rests waits until the goroutines of a program stand, but those that never do, and main
// reads: on a busy machine some have not run yet when it says that it is ready. Of a
// program that cannot be read others say why.
func (s *subject) rests() {
	r, err := Open(s.pid)
	if err != nil {
		return
	}
	defer r.Close()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if got, err := r.Read(); err == nil && !slices.ContainsFunc(got.Groups, unrest) {
			return
		}
	}
}

// unrest reports whether goroutines have yet to come to where they stand.
func unrest(g Group) bool {
	fn := g.Start.Func
	switch {
	case g.System, fn == "", strings.HasPrefix(fn, "main.moves"), fn == "main.spins", fn == "main.comesAndGoes", strings.HasPrefix(fn, "main.comesAndGoes."):
		return false
	case fn == "runtime.main":
		return g.State != Syscall && g.Reason != "IO wait"
	}
	return g.State != Waiting && g.State != Syscall
}

// line reads up to a line, and returns what was before.
func (s *subject) line(want string) string {
	s.t.Helper()
	var b strings.Builder
	for {
		l, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the program's output ends: %v", err)
		}
		if strings.TrimSpace(l) == want {
			return b.String()
		}
		b.WriteString(l)
	}
}

func (s *subject) open() *Reader {
	s.t.Helper()
	r, err := Open(s.pid)
	if errors.Is(err, fs.ErrPermission) {
		s.t.Skip(err)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(r.Close)
	return r
}

// source returns a program of testdata.
func source(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + "/main.go")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// header is a goroutine's first line in a traceback.
var header = regexp.MustCompile(`^goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[([^,\]]+).*\]:$`)

// outermost is the last function of a goroutine in a traceback.
var outermost = regexp.MustCompile(`^(\S+)\(`)

// tracebacks counts goroutines by their first function and their state, as
// written by the program itself.
func (s *subject) tracebacks() map[string]int {
	s.t.Helper()
	fmt.Fprintln(s.in, "stacks")
	text := s.line("end of stacks")
	all := map[string]int{}
	for _, g := range strings.Split(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(g, "\n")
		m := header.FindStringSubmatch(lines[0])
		if m == nil {
			s.t.Fatalf("no goroutine: %q", lines[0])
		}
		fn := ""
		for _, l := range lines[1:] {
			if f := outermost.FindStringSubmatch(l); f != nil && !strings.HasPrefix(l, "\t") {
				fn = f[1]
			}
		}
		all[fn+" "+m[1]]++
	}
	return all
}

// told counts goroutines in the same way, as read from outside.
func told(s *Snapshot) map[string]int {
	all := map[string]int{}
	for _, g := range s.Groups {
		if g.System {
			continue
		}
		fn := g.Start.Func
		switch fn { // tracebacks leave out what is the runtime's
		case "runtime.main":
			fn = "main.main"
		case "runtime.corostart":
			fn = "iter.Pull[...].func1"
		}
		all[fn+" "+cmp.Or(g.Reason, g.State.String())] += g.Count
	}
	return all
}

// split parts what rests from what moves, by the names that the programs give.
// The goroutine that reads commands and writes profiles is left out. Of what
// moves only the functions are kept.
func split(all map[string]int) (rest, moving map[string]int) {
	rest, moving = map[string]int{}, map[string]int{}
	for k, n := range all {
		switch fn, _, _ := strings.Cut(k, " "); {
		case n == 0 || fn == "main.main":
		case strings.HasPrefix(fn, "main.moves"):
			moving[fn] += n
		default:
			rest[k] += n
		}
	}
	return rest, moving
}

// compare compares with what a program says.
func compare(s *Snapshot, rest, moving map[string]int, count int) error {
	gotRest, gotMoving := split(told(s))
	switch {
	case s.Torn != 0 || s.Count != count:
		return fmt.Errorf("%d goroutines and %d torn, want %d", s.Count, s.Torn, count)
	case !maps.Equal(gotRest, rest):
		return fmt.Errorf("read\n%v, the program says\n%v", gotRest, rest)
	case !maps.Equal(gotMoving, moving):
		return fmt.Errorf("that move: read\n%v, the program says\n%v", gotMoving, moving)
	}
	return nil
}

// TestRead compares with the tracebacks of programs that do nothing meanwhile:
// of several toolchains, without symbols, and at any address.
func TestRead(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	const strip, pie, both = "GOFLAGS=-ldflags=-s", "GOFLAGS=-buildmode=pie", "GOFLAGS=-ldflags=-s -buildmode=pie"
	const cgo = "CGO_ENABLED=1"
	for _, c := range []struct {
		name, toolchain string
		env             []string
		each            int
		slow            bool
	}{
		{"none", "local", nil, 0, false},
		{"some", "local", nil, 10, false},
		{"many", "local", nil, 3000, false},
		{"stripped", "local", []string{strip}, 10, false},
		{"anywhere", "local", []string{pie}, 10, true}, // TestShared has one
		{"stripped, anywhere", "local", []string{both}, 10, true},
		{"without inlining", "local", []string{"GOFLAGS=-gcflags=all=-l"}, 10, true},
		{"without optimization", "local", []string{`GOFLAGS="-gcflags=all=-N -l"`}, 10, true},
		{"without paths, for newer CPUs", "local", []string{"GOFLAGS=-trimpath", "GOAMD64=v3"}, 10, true},
		{"the other collector", "local", []string{"GOEXPERIMENT=nogreenteagc", strip}, 10, true},
		{"with C", "local", []string{cgo}, 10, true},
		{"with C, stripped", "local", []string{cgo, strip}, 10, true},
		{"with C, anywhere", "local", []string{cgo, pie}, 10, true},
		{"with C, stripped, anywhere", "local", []string{cgo, both}, 10, true},
		{"with C, of one piece", "local", []string{cgo, `GOFLAGS="-ldflags=-linkmode=external -extldflags=-static"`}, 10, true},
		{"with the race detector", "local", []string{cgo, "GOFLAGS=-race"}, 10, true},
		{"go1.22", "go1.22.12", nil, 10, true},
		{"go1.22 stripped", "go1.22.12", []string{strip}, 10, true},
		{"go1.22 stripped, anywhere", "go1.22.12", []string{both}, 10, true},
		{"go1.23", "go1.23.12", nil, 10, true},
		{"go1.23 stripped, anywhere", "go1.23.12", []string{both}, 10, true},
		{"go1.24", "go1.24.11", []string{strip}, 10, true},
		{"go1.24 stripped, anywhere", "go1.24.11", []string{both}, 10, true},
		{"go1.25", "go1.25.5", nil, 10, true},
		{"go1.25 stripped, anywhere", "go1.25.5", []string{both}, 10, true},
		{"go1.25 experiments", "go1.25.5", []string{"GOEXPERIMENT=greenteagc,nosynchashtriemap", strip}, 10, true},
		{"go1.26", "go1.26.11", []string{strip}, 10, true},
		{"go1.27", "go1.27.4", nil, 10, true},
		{"go1.27 stripped", "go1.27.4", []string{strip}, 10, true},
		{"go1.27 stripped, anywhere", "go1.27.4", []string{both}, 10, true},
		{"go1.27 with C, stripped, anywhere", "go1.27.4", []string{cgo, both}, 10, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.slow {
				attempt.Only(t, "downloads a toolchain, or builds the standard library")
			}
			text := source(t, "program")
			if slices.Contains(c.env, cgo) {
				text = strings.Replace(text, "import (", "import \"C\"\n\nimport (", 1)
			}
			s := start(t, build(t, c.toolchain, text, c.env...), "-each", strconv.Itoa(c.each))
			r := s.open()
			err := attempt.Repeat(t, func() error { // the runtime's own goroutine for finalizers may just start
				got, err := r.Read()
				if err != nil {
					return err
				}
				if got.Torn > 0 {
					return fmt.Errorf("%d torn of goroutines that do nothing", got.Torn)
				}
				if err := wholeStacks(got, r.layout); err != nil {
					return err
				}
				want := s.tracebacks()
				// While it writes them the first goroutine runs; else it reads.
				want["main.main running"]--
				want["main.main syscall"]++
				have := told(got)
				if have["main.main IO wait"] > 0 { // standard input may be polled
					have["main.main IO wait"]--
					have["main.main syscall"]++
				}
				for _, m := range []map[string]int{want, have} {
					maps.DeleteFunc(m, func(_ string, n int) bool { return n == 0 })
				}
				if !maps.Equal(have, want) {
					return fmt.Errorf("read\n%v, the program says\n%v", have, want)
				}
				if got.Count != sum(want) {
					return fmt.Errorf("%d goroutines, want %d", got.Count, sum(want))
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// wholeStacks returns an error unless each stack goes to the function with which the
// goroutine began.
func wholeStacks(s *Snapshot, l *layout) error {
	for _, g := range s.Groups {
		if g.State == Running || g.State == Syscall && l.at[gSyscallBP] == missing {
			continue
		}
		if n := len(g.Stack); n == 0 || g.Stack[n-1].Func != "runtime.goexit" {
			return fmt.Errorf("%s, %v %s: its stack is %v", g.Start.Func, g.State, g.Reason, g.Stack)
		}
	}
	return nil
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// TestLeaks reads goroutines that the runtime's profile of leaks has marked.
func TestLeaks(t *testing.T) {
	attempt.Only(t, "downloads a toolchain")
	s := start(t, build(t, "go1.27.4", source(t, "kinds")), "leaks")
	r := s.open()
	fmt.Fprintln(s.in, "leaks")
	s.line("looked for")
	got, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	leaks, want := 0, map[string]int{}
	for k, n := range s.tracebacks() {
		k, leaked := strings.CutSuffix(k, " (leaked)")
		if want[k] += n; leaked {
			leaks += n
		}
	}
	have := told(got)
	for _, k := range []string{"main.receives chan receive", "main.locks sync.Mutex.Lock", "main.sleeps sleep"} {
		if have[k] != want[k] || want[k] == 0 {
			t.Errorf("%s: read %d, the program says %d", k, have[k], want[k])
		}
	}
	if leaks < 15 { // one may still be seen on a stack
		t.Errorf("%d leak, want about 20", leaks)
	}
}

// TestStacks reads where goroutines wait.
func TestStacks(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	s := start(t, build(t, "local", source(t, "program")), "-each", "3")
	r := s.open()
	got, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, g := range got.Groups {
		if g.System || g.Start.Func == "runtime.main" {
			continue
		}
		seen++
		at := 0
		for i, p := range g.Stack {
			if p.Func == g.Start.Func {
				at = i
			}
		}
		if at == 0 || g.Stack[at].Line == 0 {
			t.Errorf("%s, %s: its own function is not on its stack: %v", g.Start.Func, g.Reason, g.Stack)
		}
		if g.Creator.Func != "main.main" || !strings.HasSuffix(g.Creator.File, "main.go") || g.Creator.Line == 0 {
			t.Errorf("%s was started at %v, want a line of main.main", g.Start.Func, g.Creator)
		}
	}
	if seen != 9 {
		t.Errorf("%d groups of the program, want 9", seen)
	}
}

// TestOldest asks how long goroutines have waited at least: since they were first
// seen, or since the last collection but one that found them waiting.
func TestOldest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	began := time.Now()
	s := start(t, build(t, "local", source(t, "program")), "-each", "2", "-spin", "1")
	for range 2 {
		fmt.Fprintln(s.in, "collect")
		s.line("collected")
	}
	time.Sleep(50 * time.Millisecond)
	r := s.open()
	got, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range got.Groups {
		if g.System || g.Start.Func == "runtime.main" || g.State == Running {
			continue
		}
		if g.Oldest < 50*time.Millisecond || g.Oldest > time.Since(began) {
			t.Errorf("%s, %s: waits %v at least, want some more than 50ms and less than %v", g.Start.Func, g.Reason, g.Oldest, time.Since(began))
		}
	}
	// Nothing is said of goroutines that only the last collection found waiting.
	_, r = goroutinesOf(3)
	if s, err := r.Read(); err != nil || s.Groups[0].Oldest != 0 {
		t.Errorf("goroutines seen for the first time: %+v, %v, want no time", s, err)
	}
}

// TestAges counts those that have been so for a time and longer.
func TestAges(t *testing.T) {
	var of Ages
	for _, d := range []time.Duration{-time.Second, 0, 900 * time.Millisecond, time.Second, 3 * time.Second, 8 * time.Second, 10 * time.Second, 24 * time.Hour} {
		of.add(d)
	}
	g := Group{Ages: of}
	for _, c := range []struct {
		watched, of time.Duration
		want        int
	}{{0, 0, 0}, {time.Second, time.Second, 5}, {3 * time.Second, 2 * time.Second, 4}, {10 * time.Second, 8 * time.Second, 3}, {time.Hour, 2048 * time.Second, 1}} {
		if n, by := g.UnchangedFor(c.watched); n != c.want || by != c.of {
			t.Errorf("Still(%v) = %d for %v, want %d for %v", c.watched, n, by, c.want, c.of)
		}
	}
}

// TestAgesOfRead sees three goroutines twice, of which one ran between.
func TestAgesOfRead(t *testing.T) {
	m, r := goroutinesOf(3)
	at := structureSize + int(r.layout.at[gTrackingSeq])
	for i := range 2 {
		s, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := s.Groups[0].UnchangedFor(time.Second); n != 2*i {
			t.Errorf("look %d: %d are still, want %d", i, n, 2*i)
		}
		for g := range r.seen { // they were seen long ago
			r.seen[g].since -= int64(2 * time.Second)
		}
		m[structuresAt][at]++
	}
}

// TestWaited gives the notes of three collections in any order.
func TestWaited(t *testing.T) {
	_, r := goroutinesOf(0)
	for _, c := range []struct{ noted, want int64 }{
		{20, 100}, {10, 20}, {20, 100}, {30, 100}, {20, 30}, {10, 20}, {0, 100}, {200, 100},
	} {
		if got := r.waited(c.noted, 100); got != c.want {
			t.Errorf("waited(%d) = %d with marks %v, want %d", c.noted, got, r.marks, c.want)
		}
	}
}

// TestCounters compares with what the program was started with, and with what
// runtime/metrics says in it.
func TestCounters(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	const strip, both = "GOFLAGS=-ldflags=-s", "GOFLAGS=-ldflags=-s -buildmode=pie"
	for _, c := range []struct {
		toolchain, gogc, limit, env string
	}{
		{"local", "200", "", ""}, {"local", "off", "1GiB", ""}, {"local", "200", "", strip}, {"local", "off", "1GiB", strip}, {"local", "200", "", both},
		{"go1.22.12", "200", "", ""}, {"go1.22.12", "200", "", strip}, {"go1.22.12", "200", "", both},
		{"go1.23.12", "200", "", ""}, {"go1.23.12", "200", "", strip}, {"go1.23.12", "200", "", both},
		{"go1.24.11", "200", "", ""}, {"go1.24.11", "200", "", strip}, {"go1.24.11", "200", "", both},
		{"go1.25.5", "200", "", ""}, {"go1.25.5", "200", "", strip}, {"go1.25.5", "200", "", both},
		{"go1.27.4", "200", "", ""}, {"go1.27.4", "200", "", strip}, {"go1.27.4", "200", "", both},
	} {
		t.Run(c.toolchain+" GOGC="+c.gogc+" "+c.env, func(t *testing.T) {
			if c.toolchain != "local" || c.env == both {
				attempt.Only(t, "downloads a toolchain, or builds the standard library")
			}
			t.Setenv("GOMAXPROCS", "3")
			t.Setenv("GOGC", c.gogc)
			t.Setenv("GOMEMLIMIT", c.limit)
			exe := build(t, c.toolchain, source(t, "program"), c.env)
			// What the runtime has by two sums may be a span apart, for as long as nothing else happens.
			if err := attempt.Repeat(t, func() error { return countersAre(t, exe, c.gogc, c.limit) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// countersAre runs a program; the error is that its counters are read as others than they are.
func countersAre(t *testing.T, exe, gogc, limit string) error {
	t.Helper()
	s := start(t, exe, "-spin", "1")
	r := s.open()
	g, err := r.Gauge()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for i := range 3 { // beside those that the program asked for when it began
		if i > 0 {
			fmt.Fprintln(s.in, "collect")
			s.line("collected")
		}
		if err := s.comparesCounters(r, g); err != nil {
			return err
		}
	}
	got := g.Read()
	if got.Procs != 3 || got.IdleProcs < 0 || got.IdleProcs > 2 || got.Collections < 3 || got.Forced < 3 || got.HeapLive <= 0 {
		return fmt.Errorf("Read() = %+v, want 3 Ps, one of them at work, and three collections that were forced", got)
	}
	if gogc == "off" != (got.GOGC == Off) || limit == "" != (got.MemoryLimit == Off) || gogc == "off" != (got.HeapGoal < 0) {
		return fmt.Errorf("Read() with GOGC=%s GOMEMLIMIT=%s = GOGC %v, limit %v, goal %v, "+
			"want %v where it is off, no goal without GOGC", gogc, limit, got.GOGC, got.MemoryLimit, got.HeapGoal, Off)
	}
	if timed := r.layout.at[workTotalTime] != missing; timed && (got.GCTime <= 0 || got.TotalTime < got.GCTime) || !timed && got.GCTime >= 0 {
		return fmt.Errorf("Read() = %+v, want the time of collections only where it is known", got)
	}
	return nil
}

// comparesCounters compares what is read with what the program says in between.
func (s *subject) comparesCounters(r *Reader, g *Gauge) (err error) {
	list := func(c Runtime) []int64 {
		return []int64{int64(c.Procs), c.HeapMarked, c.HeapGoal, c.GOGC, c.MemoryLimit, c.Allocated, c.Mapped + c.Released, c.Released, c.Collections, c.Forced}
	}
	for range 20 { // the runtime gives memory back when it wants to
		before := list(r.Counters())
		fmt.Fprintln(s.in, "counters")
		told := strings.TrimSpace(s.line("end of counters"))
		after := list(g.Read())
		err = nil
		for i, text := range strings.Fields(strings.Trim(told, "[]")) {
			want, perr := strconv.ParseInt(text, 10, 64)
			if perr != nil {
				return fmt.Errorf("the program says %q", told)
			}
			switch {
			case i == 2 && (before[i] < 0 || before[4] != Off): // the goal, which the limit sets
			case i == 3 && want < 0 && before[i] == Off:
			case want < min(before[i], after[i]) || want > max(before[i], after[i]):
				err = errors.Join(err, fmt.Errorf("number %d is %d before and %d after, and the program says %d", i, before[i], after[i], want))
			}
		}
		if err == nil {
			return nil
		}
	}
	return err
}
