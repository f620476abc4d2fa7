package rules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/show/demo"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// Fixtures say what a rule makes of figures; these tests say whether real
// programs have such figures. They depend on timing: see package attempt.

// healthy are programs that do their work as they should. What looks like an
// illness in each is in its name.
var healthy = []struct {
	name string
	run  func(ctx context.Context)
}{
	{"a worker for each CPU computes", func(ctx context.Context) { crew(ctx, runtime.NumCPU()) }},
	{"sixteen workers compute", func(ctx context.Context) { crew(ctx, 16) }},
	{"sixty-four workers compute and hold nothing", func(ctx context.Context) { crew(ctx, 64) }},
	{"a server with nothing to do but a ticker", idleTicker},
	{"two hundred tickers of one period", tickers},
	{"a web server at moderate load", webServer},
	{"a fan-out of moderate size, again and again", fanOut},
	{"buffers from a pool", pooled},
	{"a bounded pipeline with buffered channels", pipeline},
	{"goroutines that come and go beside a large cache", cached},
}

func TestHealthyPrograms(t *testing.T) {
	attempt.Only(t, "records programs that run and judges what is said of them")
	for _, c := range healthy {
		t.Run(c.name, func(t *testing.T) {
			quiet(t, func() error {
				dir := t.TempDir()
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				count := startCounters()
				err := observe(dir, func() { c.run(ctx) })
				count.end()
				if err != nil {
					t.Fatal(err)
				}
				m := load(t, dir)
				count.add(m)
				checkSound(t, c.name, m)
				return silence(diagnosis.Run(m, All, diagnosis.Options{}).Findings)
			})
		})
	}
}

// TestDemos: of each program that gowhy brings along, its problem is what is said
// first, and not said when it is fixed.
func TestDemos(t *testing.T) {
	attempt.Only(t, "records programs that run and judges what is said of them")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range demo.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Held {
				t.Skip("needs heap profiles of both ends, which a recording has and this has not")
			}
			if c.NeedsBuild() {
				t.Skip("runs in a process of its own, which cmd/gowhy records")
			}
			quiet(t, func() error {
				found := demonstrated(t, c, demo.Variant{})
				if c.Fix == "" {
					return silence(found)
				}
				if len(found) == 0 || found[0].Rule != c.Name {
					return fmt.Errorf("said first: %v", summaries(found))
				}
				time.Sleep(leftover)
				found = demonstrated(t, c, demo.Variant{Fixed: true})
				if slices.ContainsFunc(found, func(f diagnosis.Finding) bool { return f.Rule == c.Name && !f.Remark }) {
					return fmt.Errorf("said of the fixed program: %v", summaries(found))
				}
				return nil
			})
		})
	}
}

// leftover is how long a demonstration goes on after its end: the deadlines that it
// leaks run out, which must not be told of the next one.
const leftover = 1500 * time.Millisecond

// demonstrated returns what is found in a demonstration.
func demonstrated(t *testing.T, c demo.Case, v demo.Variant) []diagnosis.Finding {
	t.Helper()
	dir := t.TempDir()
	count := startCounters()
	var failed error
	err := observe(dir, func() { failed = demo.Run(t.Context(), c, v, io.Discard) })
	count.end()
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	m := load(t, dir)
	count.add(m)
	checkSound(t, c.Name, m)
	return diagnosis.Run(m, All, diagnosis.Options{}).Findings
}

// quiet tries again what fails: one that is starved of CPU is another program.
// What is wrong with a rule is wrong each time.
func quiet(t *testing.T, try func() error) {
	t.Helper()
	if err := attempt.Repeat(t, try); err != nil {
		t.Error(err)
	}
}

// silence is broken by findings that are not of low confidence.
func silence(found []diagnosis.Finding) error {
	loud := slices.DeleteFunc(found, func(f diagnosis.Finding) bool { return f.Confidence == diagnosis.Low })
	if len(loud) > 0 {
		return fmt.Errorf("%s speaks, with %s confidence: %s", loud[0].Rule, loud[0].Confidence, loud[0].Summary)
	}
	return nil
}

func summaries(fs []diagnosis.Finding) (out []string) {
	for _, f := range fs {
		out = append(out, f.Rule+": "+f.Summary)
	}
	return out
}

// observe records a function as gowhy records a program.
func observe(dir string, run func()) (err error) {
	begin := func(name string, start func(io.Writer) error, end func()) func() {
		f, e := os.Create(filepath.Join(dir, name))
		if e == nil {
			e = start(f)
		}
		err = errors.Join(err, e)
		return func() {
			end()
			err = errors.Join(err, f.Close())
		}
	}
	endTrace := begin("trace", trace.Start, trace.Stop)
	endProfile := begin("cpu.pb.gz", pprof.StartCPUProfile, pprof.StopCPUProfile)
	if err == nil {
		run()
	}
	endProfile()
	endTrace()
	return err
}

// load reads the evidence in a directory.
func load(t *testing.T, dir string) *model.Model {
	t.Helper()
	m, err := evidence.Load(t.Context(), []string{filepath.Join(dir, "trace"), filepath.Join(dir, "cpu.pb.gz")}, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// burn computes for about n nanoseconds and returns a number that depends on all of it.
func burn(x uint64, n int) uint64 {
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// side runs n goroutines of one function until all are done.
func side(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func crew(ctx context.Context, workers int) {
	side(workers, func(i int) {
		for x := uint64(i); ctx.Err() == nil; {
			x = burn(x, 100_000)
		}
	})
}

func idleTicker(ctx context.Context) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			burn(1, 1000)
		case <-ctx.Done():
		}
	}
}

func tickers(ctx context.Context) {
	side(200, func(i int) {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for x := uint64(i); ctx.Err() == nil; x = burn(x, 20_000) {
			<-tick.C
		}
	})
}

// webServer answers eight clients that think for a millisecond between requests.
func webServer(ctx context.Context) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		burn(uint64(len(r.URL.Path)), 20_000)
		io.WriteString(w, "well\n")
	}))
	defer s.Close()
	client := s.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 8
	side(8, func(int) {
		for ctx.Err() == nil {
			if r, err := client.Get(s.URL); err == nil {
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
			}
			time.Sleep(time.Millisecond)
		}
	})
}

// fanOut asks sixteen for their part of an answer, and waits for all.
func fanOut(ctx context.Context) {
	for ctx.Err() == nil {
		parts := make([]uint64, 16)
		side(len(parts), func(i int) { parts[i] = burn(uint64(i), 200_000) })
	}
}

func pooled(ctx context.Context) {
	buffers := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	side(runtime.NumCPU(), func(i int) {
		for ctx.Err() == nil {
			b := buffers.Get().(*bytes.Buffer)
			b.Reset()
			for range 64 << 10 {
				b.WriteByte(byte(i))
			}
			buffers.Put(b)
		}
	})
}

// pipeline has a source, two stages of a worker for each CPU, and a sink.
func pipeline(ctx context.Context) {
	stage := func(in <-chan uint64) <-chan uint64 {
		out := make(chan uint64, 64)
		go func() {
			defer close(out)
			side(runtime.NumCPU(), func(int) {
				for x := range in {
					out <- burn(x, 50_000)
				}
			})
		}()
		return out
	}
	source := make(chan uint64, 64)
	go func() {
		defer close(source)
		for x := uint64(0); ctx.Err() == nil; x++ {
			source <- x
		}
	}()
	for range stage(stage(source)) {
	}
}

// cached looks things up in a map of some 60 MB that was there before.
func cached(ctx context.Context) {
	cache := make([][]byte, 1000)
	for i := range cache {
		cache[i] = bytes.Repeat([]byte{byte(i)}, 64<<10)
	}
	for ctx.Err() == nil {
		side(64, func(i int) {
			for x := uint64(i); x < uint64(i)+10; x++ {
				item := cache[burn(x, 10_000)%1000]
				burn(uint64(item[0]), 10_000)
			}
		})
	}
}
