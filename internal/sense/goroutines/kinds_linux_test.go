package goroutines

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// kinds are the programs of testdata/kinds, with how many goroutines each has.
var kinds = []struct {
	name  string
	count int
	rests bool // none of its functions moves
}{
	{"nothing", 1, true},
	{"channels", 81, true},
	{"mutexes", 42, true},
	{"selects", 61, true},
	{"timers", 47, false},
	{"network", 30, false},
	{"files", 22, false},
	{"waits", 43, true},
	{"collecting", 85, false},
	{"spinning", 16, false},
	{"pipelines", 38, false},
	{"threads", 24, false},
	{"names", 43, true},
	{"deep", 21, true},
}

// TestKinds compares programs with what they themselves say before and after a
// reading: of what rests the states and reasons, and of what moves how many there
// are. Then the programs are stopped.
func TestKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe := build(t, "local", source(t, "kinds"))
	for _, c := range kinds {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, exe, c.name)
			r := s.open()
			compared := 0
			err := attempt.Repeat(t, func() error {
				for range 5 {
					rest, moving := split(s.tracebacks())
					got, err := r.Read()
					if err != nil {
						return err
					}
					restAgain, movingAgain := split(s.tracebacks())
					if !maps.Equal(rest, restAgain) || !maps.Equal(moving, movingAgain) {
						return fmt.Errorf("the program says\n%v %v, and then\n%v %v", rest, moving, restAgain, movingAgain)
					}
					if err := compare(got, rest, moving, c.count); err != nil {
						return err
					}
					compared++
				}
				return nil
			})
			if err != nil {
				t.Fatalf("after %d comparisons: %v", compared, err)
			}
			var got *Snapshot
			err = attempt.Repeat(t, func() error {
				s.goOn() // it was stopped at a bad moment
				rest, moving := split(s.tracebacks())
				s.rests() // when it reads commands again
				s.stop()
				if got, err = r.Read(); err != nil {
					return err
				}
				if told := told(got); c.rests && told["main.main syscall"]+told["main.main IO wait"] != 1 {
					return fmt.Errorf("%v, want main.main to read", told)
				}
				return compare(got, rest, moving, c.count)
			})
			if err != nil {
				t.Fatalf("stopped: %v", err)
			}
			again, err := r.Read()
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(told(got), told(again)) {
				t.Errorf("two readings of a stopped program differ:\n%v\n%v", told(got), told(again))
			}
		})
	}
}

// TestMetrics compares with the runtime's own counts by state, which Go 1.26 has,
// of programs that rest.
func TestMetrics(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe := build(t, "local", source(t, "kinds"))
	for _, c := range kinds {
		if !c.rests {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := start(t, exe, c.name)
			r := s.open()
			err := attempt.Repeat(t, func() error {
				got, err := r.Read()
				if err != nil {
					return err
				}
				fmt.Fprintln(s.in, "metrics")
				all := map[string]int{}
				for l := range strings.Lines(s.line("end of metrics")) {
					name, n, _ := strings.Cut(strings.TrimSpace(l), " ")
					all[name], _ = strconv.Atoi(n)
				}
				if len(all) < 2 {
					t.Skipf("the runtime counts no states: %v", all)
				}
				// The runtime counts its own too, and of these some come to work: the
				// scavenger, a collection's. Who asks runs, and reads commands otherwise.
				const own = 3
				waiting := got.State(Waiting) + got.System
				busy := all["/running:goroutines"] + all["/not-in-go:goroutines"] + all["/runnable:goroutines"]
				if all[":goroutines"] != got.Count+got.System || max(waiting, all["/waiting:goroutines"])-min(waiting, all["/waiting:goroutines"]) > own || busy > got.State(Running, Runnable, Syscall)+own {
					return fmt.Errorf("read %d that wait, of %d and %d of the runtime's, the runtime says %v", got.State(Waiting), got.Count, got.System, all)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestChurn reads a program whose goroutines come and go all the time, each with
// what another left. None may be seen at what only others do.
func TestChurn(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe := build(t, "local", source(t, "kinds"))
	began := time.Now()
	s := start(t, exe, "churn")
	r := s.open()
	never := map[string][]string{
		"main.movesOnceReceiving": {"select", "sleep", "chan send"},
		"main.movesOnceSelecting": {"chan receive", "sleep", "chan send"},
		"main.movesOnceSleeping":  {"chan receive", "select", "chan send"},
		"main.movesAndStarts":     {"chan receive", "select", "sleep"},
		"main.receives":           {"chan send", "select", "sleep"},
		"main.sendsInto":          {"chan receive", "select", "sleep"},
	}
	readings, times := 200, 0
	if attempt.All(t) {
		readings = 10_000
	}
	torn, most, stacks, cut := 0, 0, 0, 0
	for range readings {
		got, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		torn += got.Torn
		times += got.Count
		most = max(most, got.Count)
		rest, _ := split(told(got))
		if want := map[string]int{"main.receives chan receive": 20, "main.receives chan receive (nil chan)": 20, "main.sendsInto chan send": 20, "main.sendsInto chan send (nil chan)": 20}; !maps.Equal(rest, want) {
			t.Fatalf("of those that rest %v, want %v", rest, want)
		}
		for _, g := range got.Groups {
			if g.System || g.Start.Func == "runtime.main" {
				continue
			}
			if not, ok := never[g.Start.Func]; !ok || slices.Contains(not, g.Reason) || !strings.HasPrefix(g.Creator.Func, "main.") {
				t.Errorf("%d of %s by %s wait for %q, want a function of main, by one of main, not for %q",
					g.Count, g.Start.Func, g.Creator.Func, g.Reason, not)
			}
			if len(g.Stack) > 0 {
				stacks++
				if g.Stack[len(g.Stack)-1].Func != "runtime.goexit" {
					cut++
				}
			}
		}
	}
	fmt.Fprintln(s.in, "started")
	l, err := s.out.ReadString('\n')
	n, err2 := strconv.Atoi(strings.TrimSpace(l))
	rate := float64(n) / time.Since(began).Seconds()
	t.Logf("%d readings of %d goroutines, %d torn, %d stacks and %d cut; %.0f started a second", readings, times, torn, stacks, cut, rate)
	if err != nil || err2 != nil || rate < 10_000 {
		t.Errorf("%.0f goroutines a second, %v, %v, want many", rate, err, err2)
	}
	// On each P one may have ended, and be seen where it was.
	if bound := 1 + 3 + 300 + 80 + runtime.GOMAXPROCS(0); most > bound {
		t.Errorf("%d goroutines, want %d at most", most, bound)
	}
	// One that ran and waits again at the same place, with the same registers, is not
	// seen to have moved: its stack may be of both.
	if float64(cut) > max(2, 1e-4*float64(stacks)) {
		t.Errorf("%d of %d stacks do not go to their end, want two, or one in ten thousand, at most", cut, stacks)
	}
	if float64(torn) > 0.001*float64(times) {
		t.Errorf("%d torn of %d, want one in a thousand at most", torn, times)
	}
}

// TestSizes reads programs of many sizes, and measures what that takes.
func TestSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe := build(t, "local", source(t, "program"))
	for _, each := range []int{0, 1, 1_430, 14_300, 143_000} {
		t.Run(strconv.Itoa(7*each), func(t *testing.T) {
			if each > 100_000 {
				attempt.Only(t, "takes 3 GB of memory")
			}
			s := start(t, exe, "-each", strconv.Itoa(each))
			before := heap()
			r := s.open()
			got, err := r.Read()
			if err != nil {
				t.Fatal(err)
			}
			const readings = 5
			began := attempt.CPU()
			for range readings {
				if got, err = r.Read(); err != nil {
					t.Fatal(err)
				}
			}
			took, grown := (attempt.CPU()-began)/readings, heap()-before
			t.Logf("%d goroutines: %v of CPU, %d calls, %d KB", got.Count, took, got.Calls, grown>>10)
			fmt.Fprintln(s.in, "count")
			if l, err := s.out.ReadString('\n'); err != nil || strings.TrimSpace(l) != strconv.Itoa(got.Count) || got.Torn != 0 {
				t.Errorf("%d goroutines and %d torn, %v, the program says %s", got.Count, got.Torn, err, l)
			}
			if n := told(got)["main.selects select"]; n != each {
				t.Errorf("%d select, want %d", n, each)
			}
			// Bounds are for machines that do much else.
			if most := 20*time.Millisecond + time.Duration(got.Count)*3*time.Microsecond; took > most {
				t.Errorf("%v of CPU for a reading, want %v at most", took, most)
			}
			if most := int64(100 + got.Count/500); got.Calls > most {
				t.Errorf("%d system calls, want %d at most", got.Calls, most)
			}
			if most := int64(8<<20 + 100*got.Count); grown > most {
				t.Errorf("%d bytes of memory, want %d at most", grown, most)
			}
			r.Close()
		})
	}
}

// TestApart: goroutines that began at one function and stand at several lines are told
// apart by their stacks.
func TestApart(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	r := start(t, build(t, "local", source(t, "kinds")), "apart").open()
	r.Stacks = true
	want := map[string]int{"main.one": 3, "main.two": 1, "main.large": 20}
	err := attempt.Repeat(t, func() error {
		s, err := r.Read()
		if err != nil {
			return err
		}
		got := map[string]int{}
		for _, g := range s.Groups {
			for _, p := range g.Stack {
				if want[p.Func] > 0 {
					got[p.Func] += g.Count
				}
			}
		}
		if !maps.Equal(got, want) || s.Count < 24 {
			return fmt.Errorf("%v of %d, want %v", got, s.Count, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	time.Sleep(1100 * time.Millisecond) // each of them is then as old as is counted
	s, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range s.Groups {
		if n, _ := g.UnchangedFor(time.Second); n > g.Count {
			t.Errorf("%d of %d that stand at %v have stood for a second", n, g.Count, g.Stack)
		}
	}
}

// TestCleaner: the goroutine that calls finalizers is the program's while it is in one.
func TestCleaner(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	r := start(t, build(t, "local", source(t, "kinds")), "cleaner").open()
	r.Stacks = true
	err := attempt.Repeat(t, func() error {
		s, err := r.Read()
		if err != nil {
			return err
		}
		for _, g := range s.Groups {
			for _, p := range g.Stack {
				if p.Func == "main.closing" && !g.System && g.Reason == "chan send" {
					return nil
				}
			}
		}
		return fmt.Errorf("the groups are %+v, want one of the program in main.closing, chan send", s.Groups)
	})
	if err != nil {
		t.Error(err)
	}
}
