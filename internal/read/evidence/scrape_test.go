package evidence

import (
	"bytes"
	"encoding/json"
	"expvar"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

const scraped = `# HELP go_goroutines Number of goroutines that currently exist.
# TYPE go_goroutines gauge
go_goroutines 1234
# TYPE go_info gauge
go_info{version="go1.24.1"} 1
# TYPE go_gc_duration_seconds summary
go_gc_duration_seconds{quantile="0.5"} 0.0001
go_gc_duration_seconds_sum 0.5
go_gc_duration_seconds_count 77
go_memstats_alloc_bytes_total 5e+09
go_memstats_heap_alloc_bytes 3.0e+07
go_memstats_heap_inuse_bytes 4.0e+07
go_sched_gomaxprocs_threads 8
process_cpu_seconds_total 120.5
process_resident_memory_bytes 9.0e+07
process_open_fds 990
process_max_fds 1024
http_requests_total{code="200"} 5
`

// A scrape is the runtime's metrics at one moment, and nothing that has a rate.
func TestScrape(t *testing.T) {
	m := load(t, Options{}, written(t, []byte(scraped)))
	for name, want := range map[string]float64{
		"/sched/goroutines:goroutines": 1234, "/gc/cycles/total:gc-cycles": 77, "/memory/classes/heap/unused:bytes": 1e7,
		model.ScrapedFiles: 990, model.ScrapedCPU: 120.5,
	} {
		if got, ok := m.Metrics.Last(name); !ok || got != want {
			t.Errorf("%s is %g, %v; want %g", name, got, ok, want)
		}
	}
	if _, ok := m.Metrics.Rate("/gc/cycles/total:gc-cycles"); ok || m.Run.Go != "go1.24.1" || m.Run.Procs != 8 {
		t.Errorf("a rate of one moment, or run %+v; want none, go1.24.1 on 8 Ps", m.Run)
	}
}

// Of several moments the last is used: the one with most CPU time. Instances of a
// federation are not mixed.
func TestScrapes(t *testing.T) {
	later := strings.NewReplacer("go_goroutines 1234", "go_goroutines 5000", "process_cpu_seconds_total 120.5", "process_cpu_seconds_total 130", "5e+09", "6e+09").Replace(scraped)
	m := load(t, Options{}, written(t, []byte(later)), written(t, []byte(scraped)))
	if n, _ := m.Metrics.Last("/sched/goroutines:goroutines"); n != 5000 || !noted(m, "only the last is used") {
		t.Errorf("%g goroutines, notes %q; want 5000, and a note of the one left out", n, m.Run.Coverage.Notes)
	}
	both := "go_goroutines{instance=\"a\"} 5\ngo_goroutines{instance=\"b\"} 7\n"
	if m := load(t, Options{}, written(t, []byte(both))); !noted(m, "several processes") {
		t.Errorf("notes %q; want that several processes are in it", m.Run.Coverage.Notes)
	}
}

// What expvar serves, and the JSON of a runtime.MemStats alone.
func TestMemStatsJSON(t *testing.T) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	bare, err := json.Marshal(stats)
	if err != nil {
		t.Fatal(err)
	}
	var vars bytes.Buffer
	fmt.Fprintf(&vars, "{\n\"cmdline\": %s", expvar.Get("cmdline"))
	fmt.Fprintf(&vars, ",\n\"memstats\": %s\n}\n", expvar.Get("memstats"))
	for name, text := range map[string][]byte{"bare": bare, "expvar": vars.Bytes()} {
		m := load(t, Options{}, written(t, text))
		if v, ok := m.Metrics.Last("/gc/heap/allocs:bytes"); !ok || v < float64(stats.TotalAlloc)/2 {
			t.Errorf("%s: %g bytes allocated, %v; want about %d", name, v, ok, stats.TotalAlloc)
		}
	}
	if _, err := Load(t.Context(), []string{written(t, []byte(`{"TotalAlloc":1,"HeapAlloc":`))}, Options{}); err == nil || !strings.Contains(err.Error(), "no JSON of memory statistics") {
		t.Errorf("Load() of a cut document: %v, want that it is none", err)
	}
}

func FuzzScrape(f *testing.F) {
	f.Add([]byte(scraped))
	f.Add([]byte(`{"memstats":{"TotalAlloc":1e400,"HeapAlloc":-1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, read := range []func(*loader, source) error{(*loader).readScrape, (*loader).readMemStats} {
			l := newLoader(t.Context(), Options{})
			if read(l, source{name: "x", r: bytes.NewReader(b)}) != nil {
				continue
			}
			if m, err := l.finish(); err == nil {
				for name, s := range m.Metrics.Series {
					if !(s[0].Value >= 0) {
						t.Fatalf("%s is %g", name, s[0].Value)
					}
				}
			}
		}
	})
}
