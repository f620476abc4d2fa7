package evidence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// What a program tells of itself at one moment where it is monitored: a scrape in
// Prometheus' text format with the metrics that its client library takes from the runtime
// (go_*) and of the process (process_*), and expvar's /debug/vars or the JSON of a
// runtime.MemStats. Both become the runtime's metrics, under the names of
// runtime/metrics, at one moment: nothing about rates is known from it.

// scrapedFields are what a scrape calls fields of runtime.MemStats.
var scrapedFields = map[string]string{
	"go_memstats_alloc_bytes_total":   "TotalAlloc",
	"go_memstats_mallocs_total":       "Mallocs",
	"go_memstats_frees_total":         "Frees",
	"go_memstats_next_gc_bytes":       "NextGC",
	"go_gc_duration_seconds_count":    "NumGC",
	"go_memstats_heap_alloc_bytes":    "HeapAlloc",
	"go_memstats_heap_inuse_bytes":    "HeapInuse",
	"go_memstats_heap_idle_bytes":     "HeapIdle",
	"go_memstats_heap_released_bytes": "HeapReleased",
	"go_memstats_stack_inuse_bytes":   "StackInuse",
	"go_memstats_stack_sys_bytes":     "StackSys",
	"go_memstats_mspan_inuse_bytes":   "MSpanInuse",
	"go_memstats_mspan_sys_bytes":     "MSpanSys",
	"go_memstats_mcache_inuse_bytes":  "MCacheInuse",
	"go_memstats_mcache_sys_bytes":    "MCacheSys",
	"go_memstats_gc_sys_bytes":        "GCSys",
	"go_memstats_buck_hash_sys_bytes": "BuckHashSys",
	"go_memstats_other_sys_bytes":     "OtherSys",
	"go_memstats_sys_bytes":           "Sys",
}

// scrapedMetrics are what a scrape calls other metrics.
var scrapedMetrics = map[string]string{
	"go_goroutines":                 "/sched/goroutines:goroutines",
	"go_sched_gomaxprocs_threads":   "/sched/gomaxprocs:threads",
	"go_gc_gogc_percent":            "/gc/gogc:percent",
	"go_gc_gomemlimit_bytes":        "/gc/gomemlimit:bytes",
	"go_threads":                    model.ScrapedThreads,
	"process_cpu_seconds_total":     model.ScrapedCPU,
	"process_resident_memory_bytes": model.ScrapedResident,
	"process_open_fds":              model.ScrapedFiles,
	"process_max_fds":               model.ScrapedMaxFiles,
}

// A scrape is what is known of one moment.
type scrape struct {
	file    string
	fields  map[string]float64 // of runtime.MemStats
	metrics map[string]float64 // that the fields do not tell
	goes    string             // the version of Go
	others  int                // lines of other processes
}

func newScrape(s source) *scrape {
	return &scrape{file: s.name, fields: map[string]float64{}, metrics: map[string]float64{}}
}

// set keeps the value of a name that scrapes have, if it is one that is read.
func (p *scrape) set(name string, v float64) {
	if field, ok := scrapedFields[name]; ok {
		p.fields[field] = v
	} else if metric, ok := scrapedMetrics[name]; ok {
		p.metrics[metric] = v
	}
}

// values returns the metrics of the moment.
func (p *scrape) values() map[string]float64 {
	all := maps.Clone(p.metrics)
	for _, m := range artifact.MemMetrics {
		if v, ok := m.Value(p.fields); ok {
			all[m.Name] = v
		}
	}
	return all
}

func isScrape(head []byte) bool {
	for line := range bytes.Lines(head) {
		if bytes.HasPrefix(line, []byte("# TYPE go_")) || bytes.HasPrefix(line, []byte("# TYPE process_cpu_")) || bytes.HasPrefix(line, []byte("go_goroutines")) {
			return true
		}
	}
	return false
}

// readScrape keeps the metrics of the runtime and the process. Labels tell instances of a
// federation apart: the first is used.
func (l *loader) readScrape(s source) error {
	p := newScrape(s)
	labels := map[string]string{}
	err := l.lines(s, func(line []byte) error {
		name, label, v, ok := sampleLine(string(line))
		switch {
		case !ok:
		case name == "go_info":
			_, version, _ := strings.Cut(label, `version="`)
			version, _, _ = strings.Cut(version, `"`)
			p.goes = cmp.Or(p.goes, clipName(version))
		case !wanted(name):
		default:
			if first, seen := labels[name]; seen && first != label {
				p.others++
				return nil
			}
			labels[name] = label
			p.set(name, v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if p.others > 0 {
		l.note("%s has metrics of several processes: those of the first are used", s.name)
	}
	return l.addScrape(s, p)
}

// wanted reports whether a scraped name is read.
func wanted(name string) bool { return scrapedFields[name] != "" || scrapedMetrics[name] != "" }

// sampleLine reads "name{labels} value" and, behind it, perhaps a time.
func sampleLine(line string) (name, labels string, v float64, ok bool) {
	if !strings.HasPrefix(line, "go_") && !strings.HasPrefix(line, "process_") {
		return "", "", 0, false
	}
	rest := ""
	if i := strings.IndexByte(line, '{'); i >= 0 {
		j := strings.LastIndexByte(line, '}')
		if j < i {
			return "", "", 0, false
		}
		name, labels, rest = line[:i], line[i:j+1], line[j+1:]
	} else {
		name, rest, _ = strings.Cut(line, " ")
	}
	f := strings.Fields(rest)
	if len(f) == 0 {
		return "", "", 0, false
	}
	v, err := strconv.ParseFloat(f[0], 64)
	return name, labels, v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

func isMemStats(head []byte) bool {
	head = bytes.TrimSpace(head)
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	return bytes.Contains(head, []byte(`"TotalAlloc"`)) && bytes.Contains(head, []byte(`"HeapAlloc"`)) || bytes.HasPrefix(head, []byte("{\n\"cmdline\": ["))
}

// maxVars bounds a JSON document of variables.
const maxVars = 64 << 20

// readMemStats keeps memory statistics: expvar has them under a name of their own.
func (l *loader) readMemStats(s source) error {
	data, err := l.readAll(s, maxVars)
	if data == nil {
		return err
	}
	var vars struct {
		MemStats map[string]any `json:"memstats"`
	}
	var bare map[string]any
	err = json.Unmarshal(data, &vars)
	if fields := vars.MemStats; err == nil && fields == nil {
		err = json.Unmarshal(data, &bare)
	}
	if err != nil {
		return l.pass(problem.New(problem.Failure, "save what /debug/vars of the program answers", "%q is no JSON of memory statistics: %w", s.name, err))
	}
	p := newScrape(s)
	for _, fields := range []map[string]any{vars.MemStats, bare} {
		for name, v := range fields {
			if n, ok := v.(float64); ok {
				p.fields[name] = n
			}
		}
	}
	return l.addScrape(s, p)
}

// addScrape keeps the values of a moment for the end, when it is known which is the last.
func (l *loader) addScrape(s source, p *scrape) error {
	if len(p.values()) == 0 {
		return l.pass(notEvidence(artifact.Text, s.name, nil))
	}
	if len(l.scrapes) >= maxScrapes {
		return problem.New(problem.Misuse, "gowhy FIRST LAST   # two of them", "more than %d scrapes were given; a run has one at its start and one at its end", maxScrapes)
	}
	l.uses++
	l.from[model.MetricsLog] = cmp.Or(l.from[model.MetricsLog], s.name)
	l.scrapes = append(l.scrapes, p)
	return nil
}

// maxScrapes is how many moments are read: those before the last only say what grew.
const maxScrapes = 16

// joinScrapes makes metrics of the last moment, by what only grows, unless a log of them
// was given.
func (l *loader) joinScrapes() {
	if len(l.scrapes) == 0 {
		return
	}
	slices.SortStableFunc(l.scrapes, func(a, b *scrape) int {
		return cmp.Or(cmp.Compare(a.fields["TotalAlloc"], b.fields["TotalAlloc"]), cmp.Compare(a.fields["NumGC"], b.fields["NumGC"]),
			cmp.Compare(a.metrics[model.ScrapedCPU], b.metrics[model.ScrapedCPU]))
	})
	last := l.scrapes[len(l.scrapes)-1]
	if len(l.scrapes) > 1 {
		l.note("of %d moments that do not tell their time only the last is used, %s: gowhy compare says what changed between two", len(l.scrapes), last.file)
	}
	if l.m.Metrics != nil {
		l.note("%s is left out: there is a log of the runtime's metrics", last.file)
		return
	}
	l.m.Metrics = &model.Metrics{Series: map[string]model.Series{}, Histograms: map[string]model.MetricHistogram{}}
	for name, v := range last.values() {
		if v >= 0 {
			l.m.Metrics.Series[name] = model.Series{{Value: v}}
		}
	}
	l.m.Run.Go = cmp.Or(l.m.Run.Go, last.goes)
	if procs, ok := l.m.Metrics.Last("/sched/gomaxprocs:threads"); ok && l.m.Run.Procs == 0 && procs < 1<<16 {
		l.m.Run.Procs = int(procs)
	}
}
