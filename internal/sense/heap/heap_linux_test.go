package heap

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// toolchains are those whose programs are read; "local" is the one that runs the test.
var toolchains = []string{"local", "go1.22.12", "go1.23.12", "go1.24.11", "go1.25.5", "go1.27.4"}

// holding is who must be first, by what the program does.
var holding = []struct{ does, kind, name, way string }{
	{"map", model.HeldByVariable, "main.cache", "main.cache.sessions → map[string]*main.Session → main.Session.raw → []byte"},
	{"static", model.HeldByVariable, "main.direct", "main.direct → main.Cache.sessions → map[string]*main.Session → main.Session.raw → []byte"},
	{"lru", model.HeldByVariable, "main.cache", "main.cache.recent → list.List.root.next → list.Element.Value → main.entry.value → []byte"},
	{"substring", model.HeldByVariable, "main.lines", "main.lines → []string → string (0.02% in use)"},
	{"reuse", model.HeldByVariable, "main.free", "main.free → [][]uint8 → []byte"},
	{"emptied", model.HeldByVariable, "main.numbers", "main.numbers → map[int][2]int (0."},
	{"stack", model.HeldByGoroutines, "main.park (sleep)", "main.park"},
	{"local", model.HeldByGoroutines, "main.main (syscall)", "main.main (syscall) in main.main → map[string]*main.Session → main.Session.raw → []byte"},
	{"handler", model.HeldByGoroutines, "main.main (syscall)", " → main.Server.sessions → map[string]*main.Session → main.Session.raw → []byte"},
	{"channel", model.HeldByVariable, "main.messages", "main.messages → chan []uint8 buffer → [][]uint8 → []byte"},
	{"timer", model.HeldByTimers, "runtime.allp", "later.func1 → 40960-byte objects"},
	{"pool", model.HeldByVariable, "main.blocks", "main.blocks"},
	{"interface", model.HeldByVariable, "main.values", "main.values → []interface {} → main.Session.raw → []byte"},
	{"made", model.HeldByVariable, "main.values", "main.values → []interface {} → reflect.StructOf.Raw → []byte"},
	{"wide", model.HeldByVariable, "main.chunks", "main.chunks → [][]*main.Session → []*main.Session → main.Session.raw → []byte"},
	{"left", model.HeldByGoroutines, "main.keep (sleep)", "main.keep (sleep) in main.keep"},
	{"finalizer", model.HeldByFinalizers, "finalizers that wait to be called", "finalizers that wait to be called → main.Session.raw → []byte"},
}

func TestHolders(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for _, toolchain := range toolchains {
		t.Run(toolchain, func(t *testing.T) {
			if toolchain != "local" {
				attempt.Only(t, "downloads a toolchain")
			}
			exe := build(t, toolchain, "program")
			for _, c := range holding {
				t.Run(c.does, func(t *testing.T) {
					var look *model.HeapLook
					var got *model.Holder
					err := attempt.Repeat(t, func() error { // what main does may be that it does not read yet
						look = lookAt(t, exe, c.does)
						if got = &look.Holders[0]; got.Kind != c.kind || got.Name != c.name || got.Bytes < 38<<20 || !strings.Contains(got.Way(), c.way) {
							return fmt.Errorf("first is %s %q with %d MiB by %q, want %s %q by %q", got.Kind, got.Name, got.Bytes>>20, got.Way(), c.kind, c.name, c.way)
						}
						return nil
					})
					if err != nil {
						t.Error(err)
					}
					if c.does == "reuse" && strings.Contains(got.Way(), "in use") {
						t.Errorf("%q says how much of buffers for their next users is in use", got.Way())
					}
					if c.does == "stack" && got.Count != 1000 {
						t.Errorf("%d goroutines, want 1000", got.Count)
					}
					if apart := float64(look.Reached.Bytes)/float64(look.Marked) - 1; c.does != "pool" && (apart < -0.03 || apart > 0.03) {
						t.Errorf("%d bytes reached, the collector found %d alive: %.1f%% apart", look.Reached.Bytes, look.Marked, 100*apart)
					}
					checkTree(t, look)
					if t.Failed() || testing.Verbose() {
						describe(t, look)
					}
				})
			}
		})
	}
}

// TestDuplicates reads lists of rows whose names are made anew, differ, or are shared.
func TestDuplicates(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	exe := build(t, "local", "program")
	for does, want := range map[string]struct {
		least, most float64
		way         string
	}{
		"duplicates": {0.95, 1, "[]main.row.city → string (9"},
		"distinct":   {0, 0, "[]main.row.city → string"},
		"shared":     {0, 0, "main.rows → []main.row"},
	} {
		t.Run(does, func(t *testing.T) {
			var holder *model.Holder
			err := attempt.Repeat(t, func() error { // what main does may be that it does not read yet
				holder = &lookAt(t, exe, does).Holders[0]
				if !strings.Contains(holder.Way(), want.way) {
					return fmt.Errorf("the way is %q, want %q in it", holder.Way(), want.way)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			share := 0.0
			for _, s := range holder.Path {
				if s.Duplicate != nil {
					share = *s.Duplicate
				}
				if len(s.Examples) > 0 {
					t.Errorf("contents %q, want none where nobody asked", s.Examples)
				}
			}
			if share < want.least || share > want.most {
				t.Errorf("%v of the strings are duplicates, want %v to %v", share, want.least, want.most)
			}
		})
	}
}

// TestExamples reads beginnings of strings where that is asked for, each once.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	pid := start(t, build(t, "local", "program"), "duplicates")
	want := []string{strings.Repeat("0", exampleBytes)} // of a hundred digits each the first forty are zeros
	err := attempt.Repeat(t, func() error {             // what main does may be that it does not read yet
		look, err := Read(t.Context(), pid, Options{Examples: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range look.Holders[0].Path {
			got = append(got, s.Examples...)
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("examples are %q, want %q", got, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestGarbage has two lines make garbage that nothing collects, four times as much at the first, in a process and in a
// dump of it; and beside it objects without a type that one line makes.
func TestGarbage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for _, toolchain := range toolchains {
		t.Run(toolchain, func(t *testing.T) {
			if toolchain != "local" {
				attempt.Only(t, "downloads a toolchain")
			}
			exe := build(t, toolchain, "program")
			path := filepath.Join(t.TempDir(), "heap.dump")
			pid := start(t, exe, "garbage", path)
			path = written(t, path)
			look, err := Read(t.Context(), pid, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for kind, l := range map[string]*model.HeapLook{"the process": look, "the dump": readDump(t, path, exe)} {
				if len(l.Garbage) < 2 {
					t.Fatalf("of %s garbage is %+v, want two places", kind, l.Garbage)
				}
				for i, want := range []struct {
					place string
					bytes float64
				}{{"main.litter main.go:", 32 << 20}, {"strings.Repeat for ", 8 << 20}} {
					g := l.Garbage[i]
					if !strings.HasPrefix(g.Place, want.place) || !strings.Contains(g.Place, "main.litter main.go:") || g.Bytes < want.bytes/3 || g.Bytes > want.bytes*3 || g.Samples == 0 {
						t.Errorf("of %s garbage %d is %+v, want %q with about %v bytes", kind, i, g, want.place, want.bytes)
					}
				}
				sum := 0.0
				for _, g := range l.Garbage {
					sum += g.Bytes
				}
				if of := float64(l.Unreached.Bytes); sum < of*0.6 || sum > of*1.6 {
					t.Errorf("of %s the places made %.0f bytes, want about all that is reached from nowhere, %.0f", kind, sum, of)
				}
			}
			way := lookAt(t, exe, "timer").Holders[0].Way()
			if want := "40960-byte objects made by main.main main.go:"; !strings.Contains(way, want) {
				t.Errorf("the way to what timers hold is %q, want %q in it", way, want)
			}
		})
	}
}

// checkTree holds that the tree of a look has all that is reached, each holder as much as it holds, and that most of
// the largest type is held by one of them.
func checkTree(t *testing.T, look *model.HeapLook) {
	t.Helper()
	var all model.ObjectSum
	held, root := map[string]uint64{}, make([]int, len(look.Tree))
	for i, n := range look.Tree {
		if root[i] = i; n.Parent >= 0 {
			root[i] = root[n.Parent]
		}
		all.Objects, all.Bytes = all.Objects+n.Objects, all.Bytes+n.Bytes
		held[look.Tree[root[i]].Type] += n.Bytes
	}
	if all != look.Reached {
		t.Errorf("the tree has %+v, want %+v, as is reached", all, look.Reached)
	}
	first := &look.Holders[0]
	if got := held[first.Words()]; got > first.Bytes || got < first.Bytes*99/100 {
		t.Errorf("the tree has %d bytes of %s, want %d", got, first.Words(), first.Bytes)
	}
	if most := look.Types[0]; most.HolderBytes > most.Bytes || most.HolderBytes < most.Bytes/2 || held[most.Holder] == 0 {
		t.Errorf("most of %+v is held by %q, want a holder of half of it or more", most.ObjectSum, most.Holder)
	}
}

// TestCleanups has a thousand cleanups wait behind one that blocks. Go 1.24 has them among the
// finalizers.
func TestCleanups(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for toolchain, name := range map[string]string{"local": "cleanups", "go1.24.11": "finalizers", "go1.25.5": "cleanups", "go1.27.4": "cleanups"} {
		t.Run(toolchain, func(t *testing.T) {
			if toolchain != "local" {
				attempt.Only(t, "downloads a toolchain")
			}
			look := lookAt(t, build(t, toolchain, "cleanups"))
			if first := look.Holders[0]; first.Kind != model.HeldByFinalizers || first.Name != name+" that wait to be called" || first.Bytes < 38<<20 {
				t.Errorf("first is %q with %d bytes, want %s", first.Name, first.Bytes, name)
				describe(t, look)
			}
		})
	}
}

// TestGone reads a program that ends in the middle of it.
func TestGone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	pid := start(t, build(t, "local", "program"), "map")
	_, err := Read(t.Context(), pid, Options{Progress: func(string, float64) {
		syscall.Kill(pid, syscall.SIGKILL)
		for { // until its memory is gone
			if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)); err != nil || strings.HasPrefix(string(b), "0 ") {
				return
			}
		}
	}})
	if !errors.Is(err, goroutines.ErrGone) {
		t.Errorf("killed in the middle: %v, want %v", err, goroutines.ErrGone)
	}
}

// TestBusy reads a program that goes on allocating and starting goroutines, several times. What
// it holds for long is found each time. Of its thousands of spans few change hands meanwhile: at
// least once, for a machine that takes the reader's CPU stretches a reading.
func TestBusy(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	pid := start(t, build(t, "local", "program"), "busy")
	least := math.MaxInt
	for range 5 {
		var look *model.HeapLook
		err := attempt.Repeat(t, func() (err error) { // a program that moves may leave the reader unsure
			look, err = Read(t.Context(), pid, Options{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if first := look.Holders[0]; first.Name != "main.cache" || first.Bytes < 38<<20 || first.Bytes > 42<<20 {
			t.Errorf("first is %q with %d bytes, and %d spans were left out", first.Name, first.Bytes, look.Dropped)
			describe(t, look)
		}
		least = min(least, look.Dropped)
	}
	if least > 100 {
		t.Errorf("at least %d spans were left out each time", least)
	}
}

func describe(t *testing.T, look *model.HeapLook) {
	l := *look
	l.Holders, l.Types, l.Tree, l.Free, l.Garbage = nil, nil, nil, nil, nil
	t.Logf("the look without its lists is %+v", l)
	for _, h := range look.Holders[:min(8, len(look.Holders))] {
		t.Logf("%9d %8d shared %9d, with stacks %9d %s ×%d %s", h.Bytes, h.Objects, h.Shared, h.OnStacks, h.Kind, h.Count, h.Way())
	}
	for _, y := range look.Types[:min(5, len(look.Types))] {
		t.Logf("%9d %8d %s", y.Bytes, y.Objects, y.Name)
	}
}

// built are the programs that were built, by toolchain and name.
var built = struct {
	dir  string
	exes map[[2]string]string
}{exes: map[[2]string]string{}}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gowhy-heap-")
	if err != nil {
		panic(err)
	}
	built.dir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build makes the program of a name, once.
func build(t *testing.T, toolchain, name string, flags ...string) string {
	t.Helper()
	key := [2]string{toolchain, name + strings.Join(flags, " ")}
	if exe, ok := built.exes[key]; ok {
		return exe
	}
	text, err := os.ReadFile(filepath.Join("testdata", name+".go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(built.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	for file, b := range map[string][]byte{"main.go": text, "go.mod": []byte("module program\n\ngo 1.22\n")} {
		if err := os.WriteFile(filepath.Join(dir, file), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	exe := filepath.Join(dir, "program")
	cmd := exec.Command("go", slices.Concat([]string{"build", "-o", exe}, flags, []string{"."})...)
	cmd.Dir = dir
	release, arch, other := strings.Cut(toolchain, " ")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+release, "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	if other {
		cmd.Env = append(cmd.Env, "GOARCH="+arch)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("go build with %s: %v\n%s", toolchain, err, out)
	}
	built.exes[key] = exe
	return exe
}

// start runs a program until it is ready.
func start(t *testing.T, exe string, args ...string) (pid int) {
	t.Helper()
	cmd := exec.Command(exe, args...)
	cmd.Stderr = os.Stderr
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
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatal(fmt.Sprint(line, err))
	}
	return cmd.Process.Pid
}

// TestFreeze stops a program while its variables and stacks are read, and lets it go.
func TestFreeze(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	pid := start(t, build(t, "local", "program"), "map")
	look, err := Read(t.Context(), pid, Options{Freeze: true})
	if err != nil {
		t.Fatal(err)
	}
	if look.StoodBy == "" || look.Stood <= 0 || look.Holders[0].Name != "main.cache" {
		t.Errorf("stopped by %q for %v, %s holds most; want a time, and main.cache", look.StoodBy, look.Stood, look.Holders[0].Name)
	}
	state := func() string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0]
	}
	if state() == "T" {
		t.Error("it is still stopped")
	}
	if look, err := Read(t.Context(), pid, Options{}); err != nil {
		t.Errorf("Read() without a stop: %v", err)
	} else if look.Stood != 0 || look.StoodBy != "" {
		t.Errorf("Read() without a stop stands %v by %q, want 0s by nothing", look.Stood, look.StoodBy)
	}
	syscall.Kill(pid, syscall.SIGSTOP)
	for state() != "T" {
		time.Sleep(time.Millisecond)
	}
	if _, err := Read(t.Context(), pid, Options{Freeze: true}); !errors.Is(err, ErrNotStopped) {
		t.Errorf("of one that somebody else stopped: %v, want %v", err, ErrNotStopped)
	}
	if state() != "T" {
		t.Error("what somebody else stopped was let go")
	}
}

func lookAt(t *testing.T, exe string, args ...string) *model.HeapLook {
	t.Helper()
	look, err := Read(t.Context(), start(t, exe, args...), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return look
}

// TestStripped reads programs without symbols: what leads to the heap is found by the runtime's code, and
// a variable is known by the address that it has in a build with symbols. What that records of its flags
// has to be as long: it is before the variables.
func TestStripped(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for _, toolchain := range toolchains {
		for _, mode := range []string{"exe", "pie"} {
			t.Run(toolchain+" "+mode, func(t *testing.T) {
				if toolchain != "local" {
					attempt.Only(t, "downloads a toolchain")
				}
				low, high := variable(t, build(t, toolchain, "program", "-buildmode="+mode, "-ldflags=-w"), "main.cache")
				exe := build(t, toolchain, "program", "-buildmode="+mode, "-ldflags=-s")
				for does, want := range map[string]struct{ kind, name, way string }{
					"map":       {model.HeldByVariable, "variable at 0x", " → map[string]*main.Session → main.Session.raw → []byte"},
					"stack":     {model.HeldByGoroutines, "main.park (sleep)", "main.park"},
					"finalizer": {model.HeldByFinalizers, "finalizers that wait to be called", "main.Session.raw → []byte"},
				} {
					look := lookAt(t, exe, does)
					got := &look.Holders[0]
					if got.Kind != want.kind || !strings.HasPrefix(got.Name, want.name) || got.Bytes < 38<<20 || !strings.Contains(got.Way(), want.way) || !look.Nameless {
						t.Errorf("%s: first is %s %q with %d MiB by %q, want %s %q by %q", does, got.Kind, got.Name, got.Bytes>>20, got.Way(), want.kind, want.name, want.way)
						describe(t, look)
					}
					var at uint64
					if does == "map" {
						if _, err := fmt.Sscanf(got.Name, "variable at 0x%x", &at); err != nil || at < low || at >= high {
							t.Errorf("%s is not within main.cache, which is from %#x to %#x: %v", got.Name, low, high, err)
						}
					}
				}
			})
		}
	}
}

// variable returns where a program's file has a variable.
func variable(t *testing.T, exe, name string) (low, high uint64) {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(s elf.Symbol) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("%s has no %s", exe, name)
	}
	return list[i].Value, list[i].Value + list[i].Size
}
