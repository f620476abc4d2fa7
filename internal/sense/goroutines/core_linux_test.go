package goroutines

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/sense/core"
	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/internal/testing/corefile"
)

// standing counts goroutines by all that is known of them, without what those that run have
// in a core alone.
func standing(s *Snapshot) map[string]int {
	all := map[string]int{}
	for _, g := range s.Groups {
		var labels []Label
		for _, p := range g.Parts {
			labels = append(labels, p.Labels...)
		}
		stack := g.Stack
		if g.State == Running {
			stack = nil
		}
		all[fmt.Sprint(g.Start, g.Creator, g.State, g.Reason, g.System, stack, labels)] += g.Count
	}
	return all
}

// TestArm64 reads the goroutines of cores of arm64: they stand where those of this machine's program do.
func TestArm64(t *testing.T) {
	attempt.Only(t, "downloads toolchains, and runs what they build in an emulator")
	if _, err := exec.LookPath(corefile.Emulator); err != nil {
		t.Skip(err)
	}
	for _, toolchain := range []string{"local", "go1.22.12", "go1.24.11", "go1.27.4"} {
		t.Run(toolchain, func(t *testing.T) {
			here, err := start(t, build(t, toolchain, source(t, "program")), "-each", "5").open().Read()
			if err != nil {
				t.Fatal(err)
			}
			exe := build(t, toolchain, source(t, "program"), "GOARCH=arm64")
			path, err := corefile.Arm64(t.Context(), t.TempDir(), exe, "-each", "5")
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := core.New(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			_, there := readCore(t, f, exe)
			if got, want := callers(there), callers(here); !reflect.DeepEqual(got, want) {
				t.Errorf("goroutines on arm64 stand in\n%v\nwant\n%v", got, want)
			}
		})
	}
}

// callers counts the program's goroutines by why they stand and who called the runtime there, without main, which may
// not read yet.
func callers(s *Snapshot) map[string]int {
	all := map[string]int{}
	for _, g := range s.Groups {
		if g.System || g.Start.Func == "runtime.main" {
			continue
		}
		var stack []string
		for _, at := range g.Stack {
			if !OfRuntime(at.Func) && !strings.HasPrefix(at.Func, "internal/") && !strings.HasPrefix(at.Func, "syscall.") {
				stack = append(stack, fmt.Sprintf("%s:%d", at.Func, at.Line))
			}
		}
		all[fmt.Sprint(g.Start.Func, g.Creator.Func, g.State, g.Reason, stack)] += g.Count
	}
	return all
}

// TestCore reads the goroutines of programs that are stopped, and then those of their cores.
func TestCore(t *testing.T) {
	if testing.Short() || runtime.GOARCH != "amd64" {
		t.Skip("builds programs, and writes cores of amd64")
	}
	const strip, pie, both = "GOFLAGS=-ldflags=-s", "GOFLAGS=-buildmode=pie", "GOFLAGS=-ldflags=-s -buildmode=pie"
	for _, c := range []struct{ toolchain, env string }{
		{"local", ""}, {"local", both}, {"local", "CGO_ENABLED=1"}, {"go1.22.12", ""}, {"go1.22.12", both}, {"go1.23.12", strip}, {"go1.24.11", ""},
		{"go1.25.5", pie}, {"go1.26.11", both}, {"go1.27.4", ""}, {"go1.27.4", both},
	} {
		t.Run(c.toolchain+" "+c.env, func(t *testing.T) {
			if c.toolchain != "local" || c.env != "" {
				attempt.Only(t, "downloads a toolchain, or builds the standard library")
			}
			exe := build(t, c.toolchain, source(t, "program"), c.env)
			s := start(t, exe, "-each", "5", "-spin", "1")
			s.stop()
			live := s.open()
			want, err := live.Read()
			if err != nil {
				t.Fatal(err)
			}
			made, err := corefile.Of(s.pid)
			if err != nil {
				t.Skip(err)
			}
			b := made.Bytes()
			whole, err := core.New(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			r, got := readCore(t, whole, exe)
			if a, b := standing(got), standing(want); !reflect.DeepEqual(a, b) {
				t.Errorf("the core has %v\nwant %v", a, b)
			}
			if got.Torn > 0 || got.Count != want.Count || got.System != want.System {
				t.Errorf("the core has %d and %d, %d torn; want %d and %d", got.Count, got.System, got.Torn, want.Count, want.System)
			}
			if a, b := r.Counters(), live.Counters(); a != b || a.Procs < 1 {
				t.Errorf("the core has counters %+v, want %+v", a, b)
			}
			half := len(b) / 2 // what lies behind is missing
			if f, err := core.New(bytes.NewReader(b[:half]), int64(half)); err != nil || f.Lost != int64(len(b)-half) {
				t.Errorf("half a core: %v", err)
			} else if r, err := OpenCore(f, exe); err == nil {
				r.Read()
				r.Close()
			}
		})
	}
}

func readCore(t *testing.T, f *core.File, exe string) (*Reader, *Snapshot) {
	t.Helper()
	r, err := OpenCore(f, exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	s, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

// A core of another build is refused.
func TestOtherCore(t *testing.T) {
	if testing.Short() || runtime.GOARCH != "amd64" {
		t.Skip("builds programs, and writes cores of amd64")
	}
	s := start(t, build(t, "local", source(t, "program")))
	s.stop()
	made, err := corefile.Of(s.pid)
	if err != nil {
		t.Skip(err)
	}
	b := made.Bytes()
	f, err := core.New(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	other := build(t, "local", strings.Replace(source(t, "program"), "time.Hour", "2*time.Hour", 1))
	if _, err := OpenCore(f, other); !errors.Is(err, ErrOther) {
		t.Errorf("error %v, want that it is another build", err)
	}
	if _, err := OpenCore(f, "/bin/sh"); err == nil {
		t.Error("a shell is read as the program")
	}
}

// What a core says may be anything: ever more of one is overwritten.
func TestHostileCore(t *testing.T) {
	if testing.Short() || runtime.GOARCH != "amd64" {
		t.Skip("builds programs, and writes cores of amd64")
	}
	exe := build(t, "local", source(t, "program"))
	s := start(t, exe, "-each", "5", "-spin", "1")
	s.stop()
	made, err := corefile.Of(s.pid)
	if err != nil {
		t.Skip(err)
	}
	b := made.Bytes()
	var used []int // pages with something in them
	for at := 0; at+4096 <= len(b); at += 4096 {
		if strings.Trim(string(b[at:at+4096]), "\x00") != "" {
			used = append(used, at)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	opened := 0
	for range 60 {
		for range 3 {
			at := used[r.IntN(len(used))] + 8*r.IntN(512)
			copy(b[at:], [][]byte{make([]byte, 64), bytes.Repeat([]byte{0xff}, 32), binary.LittleEndian.AppendUint64(nil, r.Uint64()>>16)}[r.IntN(3)])
		}
		f, err := core.New(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			continue
		}
		reader, err := OpenCore(f, exe)
		if err != nil {
			continue
		}
		opened++
		reader.Read()
		reader.LastWords()
		reader.Counters()
		reader.Arenas()
		if h, err := reader.HeapReader(); err == nil {
			h.Read()
			h.Close()
		}
		reader.Close()
	}
	if opened == 0 {
		t.Error("none could be opened")
	}
}

const crashes = `package main

import (
	"errors"
	"os"
	"sync/atomic"
	"time"
)

var kept [][]byte

var spinning atomic.Bool

func assigns(m map[string]int) { m["x"] = 1 }

func follows(p *int) int { return *p }

func takes(n int) { kept = append(kept, make([]byte, n)) }

func fails() { panic(errors.New("no such\norder")) }

func spins() {
	spinning.Store(true)
	for n := 0; ; n++ {
	}
}

func main() {
	if os.Args[1] != "asleep" {
		go spins()
		for !spinning.Load() {
			time.Sleep(time.Millisecond)
		}
	}
	switch os.Args[1] {
	case "map":
		assigns(nil)
	case "fault":
		follows(nil)
	case "memory":
		takes(1 << 46)
	case "error":
		fails()
	case "asleep":
		select {}
	}
}
`

// TestDeaths has a kernel write the cores of programs that die, and reads why.
func TestDeaths(t *testing.T) {
	pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
	if name := strings.TrimSpace(string(pattern)); testing.Short() || !fits() || name == "" || strings.ContainsAny(name[:1], "|/") {
		t.Skip("builds programs, and wants a core in the working directory")
	}
	for _, toolchain := range []string{"local", "go1.22.12", "go1.24.11", "go1.27.4"} {
		for kind, want := range map[string]struct{ text, at string }{
			"map":    {"panic: assignment to entry in nil map", "main.assigns"},
			"fault":  {"panic: runtime error: invalid memory address or nil pointer dereference", "main.follows"},
			"memory": {"fatal error: out of memory", ""}, // some say first who says it, and some stand where it was taken
			"error":  {`panic: no such\norder`, "main.fails"},
			"asleep": {"fatal error: all goroutines are asleep - deadlock!", ""},
		} {
			t.Run(toolchain+" "+kind, func(t *testing.T) {
				if toolchain != "local" || kind == "memory" { // the kernel takes seconds to write terabytes of nothing
					attempt.Only(t, "downloads a toolchain, or writes a sparse file of terabytes")
				}
				exe, dir := build(t, toolchain, crashes), t.TempDir()
				cmd := exec.Command("sh", "-c", `ulimit -c unlimited; exec "$0" "$1"`, exe, kind)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTRACEBACK=crash", "GOMAXPROCS=2")
				out, _ := cmd.CombinedOutput()
				list, _ := filepath.Glob(dir + "/*")
				if len(list) != 1 {
					t.Skipf("no core: %v: %s", list, out)
				}
				file, err := os.Open(list[0]) // never read whole: after the wish for memory it is of terabytes
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				info, err := file.Stat()
				if err != nil {
					t.Fatal(err)
				}
				f, err := core.New(file, info.Size())
				if err != nil {
					t.Fatal(err)
				}
				r, s := readCore(t, f, exe)
				w := r.LastWords()
				if kind == "memory" {
					w.Text, w.At.Func = strings.Replace(w.Text, "runtime: ", "", 1), ""
				}
				if w.Text != want.text || w.At.Func != want.at {
					t.Errorf("it said %q at %v, want %q at %s\n%s", w.Text, w.At, want.text, want.at, out)
				}
				spins := 0
				for _, g := range s.Groups {
					for _, p := range g.Stack {
						if p.Func == "main.spins" && p.Line > 0 {
							spins += g.Count
							break
						}
					}
				}
				if kind != "asleep" && spins != 1 {
					t.Errorf("%d goroutines stand in main.spins, want one: %+v", spins, s.Groups)
				}
				if f.Death.Name() != "SIGABRT" {
					t.Errorf("death %+v, want SIGABRT", f.Death)
				}
			})
		}
	}
}
