package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// sickHeaps are programs with an illness of memory or of the CPU that the demo
// does not bring along. Each must be found, if only under its cause; what is
// said beside it is the business of other tests.
var sickHeaps = []struct {
	rule   string
	window time.Duration
	limit  int64 // of memory; 0 for none
	run    func(ctx context.Context)
}{
	{"tinyheap", 1500 * time.Millisecond, 0, tinyLive},
	{"gccost", 1500 * time.Millisecond, 0, treeKept},
	{"memorylimit", 1500 * time.Millisecond, 40 << 20, treeKept},
	{"stackgrowth", 3 * time.Second, 0, deepStacks}, // needs a second of CPU for its samples
	{"hotfunction", 3 * time.Second, 0, compileAlways},
	{"heapgrowth", 7500 * time.Millisecond, 0, func(ctx context.Context) { sessions(ctx, 0) }},
}

func TestSickHeaps(t *testing.T) {
	attempt.Only(t, "records programs that run and judges what is said of them")
	for _, c := range sickHeaps {
		t.Run(c.rule, func(t *testing.T) {
			quiet(t, func() error {
				found := diagnoseHere(t, c.window, c.limit, c.run)
				if !named(found, c.rule) {
					return fmt.Errorf("not found; said: %v", summaries(found))
				}
				return nil
			})
		})
	}
}

// TestHealthyLonger: programs that are well, for long enough to have the
// samples that shares of CPU are taken from. Only the rules that need them are asked.
func TestHealthyLonger(t *testing.T) {
	attempt.Only(t, "records programs that run and judges what is said of them")
	asked := []string{"tinyheap", "gccost", "memorylimit", "noheadroom", "heapgrowth", "stackgrowth", "hotfunction", "runtimetax", "idlespin"}
	for name, run := range map[string]func(context.Context){
		"a web server with small handlers under load": busyWebServer,
		"buffers from a pool":                         pooled,
		"a kept tree and little garbage":              moderate,
	} {
		t.Run(name, func(t *testing.T) {
			quiet(t, func() error {
				found := diagnoseHere(t, 2500*time.Millisecond, 0, run)
				return silence(slices.DeleteFunc(found, func(f diagnosis.Finding) bool { return !slices.Contains(asked, f.Rule) }))
			})
		})
	}
}

// busyWebServer answers sixteen clients that do not think.
func busyWebServer(ctx context.Context) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"path": r.URL.Path, "list": []int{1, 2, 3}})
	}))
	defer s.Close()
	client := s.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 16
	side(16, func(int) {
		for ctx.Err() == nil {
			if r, err := client.Get(s.URL); err == nil {
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
			}
		}
	})
}

// moderate computes beside a tree that it keeps, with some garbage.
func moderate(ctx context.Context) {
	kept.Store(tree(16))
	defer kept.Store(nil)
	side(2, func(i int) {
		for x := uint64(i); ctx.Err() == nil; {
			x = burn(x, 1_000_000)
			garbage()
		}
	})
}

// TestBoundedCache: the same program with a bound on what it keeps.
func TestBoundedCache(t *testing.T) {
	attempt.Only(t, "records programs that run and judges what is said of them")
	quiet(t, func() error {
		found := diagnoseHere(t, 7500*time.Millisecond, 0, func(ctx context.Context) { sessions(ctx, 2000) })
		if named(found, "heapgrowth") {
			return fmt.Errorf("said: %v", summaries(found))
		}
		return nil
	})
}

// diagnoseHere diagnoses a program that runs here.
func diagnoseHere(t *testing.T, window time.Duration, limit int64, run func(ctx context.Context)) []diagnosis.Finding {
	t.Helper()
	runtime.GC()
	if limit > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), window)
	defer cancel()
	count := startCounters()
	err := observe(dir, func() { run(ctx) })
	count.end()
	if err != nil {
		t.Fatal(err)
	}
	m := load(t, dir)
	count.add(m)
	checkSound(t, t.Name(), m)
	return diagnosis.Run(m, All, diagnosis.Options{}).Findings
}

// kept is what a sick program holds on to; the collector must not prove otherwise.
var kept atomic.Pointer[node]

type node struct {
	left, right *node
	_           [2]uint64
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

// tinyLive makes small objects of many kinds from many places, and keeps next
// to nothing.
func tinyLive(ctx context.Context) {
	side(2, func(int) {
		for ctx.Err() == nil {
			garbage()
		}
	})
}

var sinks [8]atomic.Pointer[node]

func garbage() {
	for i := range sinks {
		sinks[i].Store(tree(6))
	}
}

// treeKept keeps a large tree of pointers and allocates a little beside.
func treeKept(ctx context.Context) {
	kept.Store(tree(20))
	defer kept.Store(nil)
	side(2, func(i int) {
		for x := uint64(i); ctx.Err() == nil; {
			x = burn(x, 2_000)
			garbage()
		}
	})
}

// deepStacks starts a goroutine for each piece of work, with a large frame in it.
func deepStacks(ctx context.Context) {
	var wg sync.WaitGroup
	for ctx.Err() == nil {
		for range 100 {
			wg.Go(func() { sinkNumber.Add(large(3)) })
		}
		wg.Wait()
	}
}

var sinkNumber atomic.Uint64

//go:noinline
func large(depth int) uint64 {
	var buf [4096]byte
	buf[depth] = byte(depth)
	if depth == 0 {
		return uint64(buf[0])
	}
	return large(depth-1) + uint64(buf[depth])
}

// compileAlways compiles its pattern for each line.
func compileAlways(ctx context.Context) {
	side(2, func(i int) {
		for n := i; ctx.Err() == nil; n++ {
			if ok, _ := regexp.MatchString(`^(a+|b*)[0-9]{1,3}\.(com|org)$`, "host42.com"); ok {
				sinkNumber.Add(1)
			}
			burn(uint64(n), 5_000)
		}
	})
}

// sessions keeps something for each request: the last most of them, all for 0.
func sessions(ctx context.Context, most int) {
	var all [][]byte
	for n := 0; ctx.Err() == nil; n++ {
		all = append(all, make([]byte, 4<<10))
		if most > 0 && len(all) > most {
			all = all[1:]
		}
		for range 10 {
			garbageBytes.Store(new([16 << 10]byte))
		}
		burn(uint64(n), 300_000)
	}
	sinkNumber.Add(uint64(len(all)))
}

var garbageBytes atomic.Pointer[[16 << 10]byte]
