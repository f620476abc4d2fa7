package model

import (
	"testing"
)

// What recording does in a program is not the program's, wherever it was
// called from.
func TestOfRecording(t *testing.T) {
	work := Frame{Func: "main.work", File: "main.go", Line: 4}
	for leaf, want := range map[string]bool{
		"github.com/gowhy/gowhy/agent.snapshot":      true,
		"github.com/gowhy/gowhy/agent.(*conn).serve": true,
		"net/http/pprof.Index":                       true,
		"github.com/other/gowhy/agent.snapshot":      false,
		"runtime/pprof.StartCPUProfile":              false, // the program's own idea
		"net/http.(*conn).serve":                     false,
	} {
		frames := []Frame{{Func: "bytes.growSlice", Line: 9}, {Func: leaf, File: "f.go", Line: 7}, work}
		if got := OfRecording(frames); got != want {
			t.Errorf("OfRecording(%s) = %v, want %v", leaf, got, want)
		}
		if place, ok := UserFrame(frames); ok == want {
			t.Errorf("UserFrame(%s) = %v, found: %v, want %v", leaf, place, ok, !want)
		}
	}
}

// The main function that go test writes is nobody's, and what package testing does
// between the rounds is its own; what a benchmark asks of it is the benchmark's.
func TestOfHarness(t *testing.T) {
	round := Frame{Func: "testing.(*B).runN", File: "benchmark.go", Line: 200}
	generated := Frame{Func: "main.main", File: "_testmain.go", Line: 47}
	bench := Frame{Func: "example.com/sort_test.BenchmarkStable", File: "sort_test.go", Line: 31}
	forced := Frame{Func: "runtime.GC", File: "mgc.go", Line: 500}
	for _, c := range []struct {
		what   string
		frames []Frame
		want   bool
	}{
		{"before a round", []Frame{forced, round, {Func: "testing.(*M).Run", Line: 9}, generated}, true},
		{"in a benchmark", []Frame{forced, bench, round}, false},
		{"a benchmark's timer", []Frame{{Func: "testing.(*B).StopTimer", Line: 3}, bench, round}, false},
		{"a program", []Frame{forced, {Func: "main.main", File: "main.go", Line: 3}}, false},
		{"the runtime", []Frame{forced}, false},
	} {
		if got := OfHarness(c.frames); got != c.want {
			t.Errorf("%s: OfHarness = %v, want %v", c.what, got, c.want)
		}
	}
	if f, ok := UserFrame([]Frame{generated}); ok {
		t.Errorf("UserFrame is %v, the generated main function", f)
	}
}

func TestIsStd(t *testing.T) {
	std := []string{
		"runtime.gopark", "net/http.(*conn).serve", "internal/poll.(*FD).Read", "sync.(*Mutex).Lock",
		"slices.SortFunc[go.shape.[]main.T,go.shape.struct { x/y.Z }]", "vendor/golang.org/x/net/dns/dnsmessage.(*Parser).Start",
		"maps.Keys[...]", "context.WithDeadlineCause.func2", "encoding/json.(*decodeState).object",
	}
	user := []string{
		"main.main", "main.(*T).f.func1", "main.f[go.shape.int]", "main_test.TestX", "github.com/a/b.F",
		"example.com/m.(*R[go.shape.string]).next-fm", "gopkg.in/yaml%2ev3.Unmarshal", "app/queue.Run",
		"golang.org/x/net/http2.(*Framer).ReadFrame",
	}
	for _, f := range std {
		if !IsStd(f) {
			t.Errorf("%s is the library's", f)
		}
	}
	for _, f := range user {
		if IsStd(f) {
			t.Errorf("%s is a user's", f)
		}
	}
}

func TestSplitSymbol(t *testing.T) {
	for symbol, want := range map[string][2]string{
		"gopkg.in/yaml%2ev3.Unmarshal":             {"gopkg.in/yaml.v3", "Unmarshal"},
		"example.com/m.(*R[a/b.T]).next-fm":        {"example.com/m", "(*R[a/b.T]).next-fm"},
		"github.com/a/b/v4.(*Iterator).fill.func1": {"github.com/a/b/v4", "(*Iterator).fill.func1"},
		"main.main":     {"main", "main"},
		"do_syscall_64": {},
	} {
		if pkg, name := SplitSymbol(symbol); pkg != want[0] || name != want[1] {
			t.Errorf("SplitSymbol(%s) = %q, %q, want %q", symbol, pkg, name, want)
		}
	}
}
