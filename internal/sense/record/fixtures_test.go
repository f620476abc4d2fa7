package record

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
)

// sampleTrace is a trace of this process: eight goroutines of namedWorker that
// pass a token, and a task with a region.
var sampleTrace = sync.OnceValue(func() []byte {
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		panic(err)
	}
	ctx, task := trace.NewTask(context.Background(), "order")
	trace.WithRegion(ctx, "pay", func() {
		token := make(chan int)
		var wg sync.WaitGroup
		for range 8 {
			wg.Add(1)
			go namedWorker(&wg, token)
		}
		for i := range 1000 {
			token <- i
		}
		close(token)
		wg.Wait()
	})
	trace.Log(ctx, "paid", "yes")
	task.End()
	trace.Stop()
	return buf.Bytes()
})

func namedWorker(wg *sync.WaitGroup, token chan int) {
	defer wg.Done()
	for range token {
		runtime.Gosched()
	}
}

// cpuProfile returns a small CPU profile in the form that the runtime writes.
func cpuProfile(t testing.TB) []byte {
	f := &profile.Function{ID: 1, Name: "main.work", Filename: "work.go"}
	root := &profile.Function{ID: 2, Name: "runtime.main", Filename: "proc.go"}
	leaf := &profile.Location{ID: 1, Address: 0x10, Line: []profile.Line{{Function: f, Line: 7}}}
	top := &profile.Location{ID: 2, Address: 0x20, Line: []profile.Line{{Function: root, Line: 9}}}
	p := &profile.Profile{
		SampleType:    []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		DurationNanos: int64(2 * time.Second), TimeNanos: 1_700_000_000e9,
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		Function: []*profile.Function{f, root}, Location: []*profile.Location{leaf, top},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{leaf, top}, Value: []int64{3, 3e7}},
			{Location: []*profile.Location{leaf, top}, Value: []int64{1, 1e7}, Label: map[string][]string{"route": {"/a", "/b"}}},
		},
	}
	var buf bytes.Buffer
	if err := p.Write(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func heapProfile(t testing.TB) []byte {
	var buf bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&buf, 0); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// files writes files into a new directory and returns it.
func files(t testing.TB, content map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range content {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, o evidence.Options, paths ...string) *model.Model {
	t.Helper()
	m, err := evidence.Load(t.Context(), paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// begin is when the recordings of these tests begin.
var begin = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

const metricsText = `{"kind":"gowhy metrics","schema":1,"scalars":["/a:x","/b:x"],"histograms":[{"name":"/h:s","bounds":[null,1,2,null]}]}
{"t":1772600767000000000,"v":[1,null],"h":[[1,2,3]]}
{"t":1772600767500000000,"v":[2,5]}
{"t":1772600768000000000,"v":[4,6],"h":[[1,5,4]]}
`

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "read", "evidence", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
