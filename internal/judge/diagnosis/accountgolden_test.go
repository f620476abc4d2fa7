package diagnosis

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

var update = flag.Bool("update", false, "write testdata from what the accounts say now")

// stackOf adds a stack, the leaf first: "sync.(*Mutex).Unlock main.put@put.go:31". A function
// without a file is in x.go.
func stackOf(m *model.Model, text string) model.Stack {
	var frames []model.Frame
	for _, word := range strings.Fields(text) {
		function, place, _ := strings.Cut(word, "@")
		file, number, ok := strings.Cut(place, ":")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			file, n = "x.go", 9
		}
		frames = append(frames, model.Frame{Func: function, File: file, Line: n})
	}
	return m.Stacks.Add(frames)
}

// A part is one sample of a profile: its stack, as of stackOf, and its values.
type part struct {
	stack  string
	values []int64
}

// profileOf adds the stacks to a model and returns their profile.
func profileOf(m *model.Model, types []model.ValueType, parts ...part) *model.Profile {
	p := &model.Profile{Types: types}
	for _, x := range parts {
		p.Samples = append(p.Samples, model.Sample{Stack: stackOf(m, x.stack), Values: x.values})
	}
	return p
}

func delays(m *model.Model, parts ...part) *model.Profile { return profileOf(m, delayTypes, parts...) }

// waited returns a sample of a profile of delays.
func waited(stack string, d time.Duration) part { return part{stack, []int64{3, int64(d)}} }

// inUse returns a sample of a heap profile, in MiB and objects of that size.
func inUse(stack string, inUse, allocated int64) part {
	return part{stack, []int64{allocated, allocated * mib, inUse, inUse * mib}}
}

// everything writes all that an account says.
func everything(a *Account) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", a.Source, a.Text)
	for _, r := range a.Rows {
		fmt.Fprintf(&b, "  %s: %s", r.Name, r.Value.Text)
		if r.Share != 0 {
			fmt.Fprintf(&b, ", share %.4g", r.Share)
		}
		if r.Where != nil {
			fmt.Fprintf(&b, ", at %s %s:%d", r.Where.Function, r.Where.File, r.Where.Line)
		}
		if r.Note != "" {
			fmt.Fprintf(&b, " (%s)", r.Note)
		}
		fmt.Fprintf(&b, "\n    %s, %s\n", r.Value.Name, r.Value.Origin.String())
		for _, o := range r.Value.Operands {
			fmt.Fprintf(&b, "      %s %s, %s\n", o.Name, o.Text, o.Origin.String())
		}
	}
	return b.String()
}

// TestAccountsGolden compares all that the accounts of small models say, down to the origins
// of their numbers, with testdata/accounts.txt.
func TestAccountsGolden(t *testing.T) {
	const file = "testdata/accounts.txt"
	want := map[string]string{}
	if b, err := os.ReadFile(file); err == nil {
		for _, section := range strings.Split(string(b), "== ")[1:] {
			name, text, _ := strings.Cut(section, "\n")
			want[name] = text
		}
	}
	var all strings.Builder
	for _, c := range accountCases {
		t.Run(c.name, func(t *testing.T) {
			m := &model.Model{}
			c.model(m)
			got := ""
			for _, a := range accountsOf(m) {
				got += everything(&a)
			}
			if got != want[c.name] && !*update {
				t.Errorf("the accounts are\n%s\nwant\n%s", got, want[c.name])
			}
			fmt.Fprintf(&all, "== %s\n%s", c.name, got)
		})
	}
	if *update {
		if err := os.WriteFile(file, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// accountCases are models, each with little more than what one account reads.
var accountCases = []struct {
	name  string
	model func(*model.Model)
}{
	{"benchmarks of two packages", func(m *model.Model) {
		m.Load = &model.Load{}
		for i, ns := range []float64{100, 150, 120, 900, 300, 310, 700, 80, 60, 110} {
			m.Load.Benchmarks = append(m.Load.Benchmarks, model.Benchmark{Package: "example.com/" + string("ab"[i%2]), Name: "BenchmarkGet-2", N: 1, Values: map[string]float64{"ns/op": ns}})
			m.Load.Benchmarks[i].Name = fmt.Sprintf("BenchmarkGet%d-2", i/2)
		}
	}},
	{"system calls", func(m *model.Model) {
		m.Counts = []*model.Counts{{File: "strace.txt", Tool: "strace", Window: 4 * time.Second, CPU: time.Second,
			Calls:  []model.Count{{Name: "futex", N: 50, Errors: 20}, {Name: "read", N: 20}, {Name: "write", N: 14}, {Name: "mmap", N: 8}, {Name: "close", N: 8}},
			Events: []model.Count{{Name: "page-faults", N: 30}, {Name: "context-switches", N: 40}}}}
	}},
	{"one system call", func(m *model.Model) {
		m.Counts = []*model.Counts{{File: "strace.txt", Tool: "strace", Window: 2 * time.Second, Calls: []model.Count{{Name: "futex", N: 1}}}}
	}},
	{"two system calls", func(m *model.Model) {
		m.Counts = []*model.Counts{{File: "strace.txt", Tool: "strace", Calls: []model.Count{{Name: "futex", N: 1}, {Name: "read", N: 1}}}}
	}},
	{"many system calls", func(m *model.Model) {
		c := &model.Counts{File: "strace.txt", Tool: "strace"}
		for i := range 8 {
			c.Calls = append(c.Calls, model.Count{Name: fmt.Sprint("call", i), N: float64(10 - i)})
		}
		m.Counts = []*model.Counts{c}
	}},
	{"events", func(m *model.Model) {
		m.Counts = []*model.Counts{{File: "perf.txt", Tool: "perf stat", Window: 4 * time.Second, CPU: 10 * time.Second, Events: []model.Count{{Name: "page-faults", N: 30}}}}
	}},
	{"events of no known time", func(m *model.Model) {
		m.Counts = []*model.Counts{{File: "perf.txt", Tool: "perf stat", CPU: 10 * time.Second, Events: []model.Count{{Name: "page-faults", N: 30}}}}
	}},
	{"events of no known CPU", func(m *model.Model) {
		m.Counts = []*model.Counts{{File: "perf.txt", Tool: "perf stat", Window: 10 * time.Second, Events: []model.Count{{Name: "page-faults", N: 30}}}}
	}},
	{"initialised packages", func(m *model.Model) {
		c := &model.Counts{File: "init.txt", Tool: "inittrace"}
		for i, took := range []time.Duration{4, 3, 9, 5, 6, 8, 7} {
			c.Inits = append(c.Inits, model.Init{Package: fmt.Sprint("example.com/p", i), At: time.Duration(100-12*i) * time.Millisecond, Took: took * time.Millisecond, Bytes: float64(100 * i), Allocs: float64(i)})
		}
		m.Counts = []*model.Counts{c}
	}},
	{"two initialised packages", func(m *model.Model) {
		m.Counts = []*model.Counts{{File: "init.txt", Tool: "inittrace", Inits: []model.Init{{Package: "example.com/a", Took: time.Second}, {Package: "example.com/b", At: 2 * time.Second, Took: time.Second}}}}
	}},
	{"a load with an answer to each", func(m *model.Model) {
		m.Load = &model.Load{Ops: 10, Failed: 2, Failures: []model.Failure{{What: "500", N: 2}}}
	}},
	{"a load", func(m *model.Model) {
		m.Load = &model.Load{Tool: "wrk", URL: "http://localhost/", Ops: 1000, Failed: 40, Unanswered: 3, Rate: 100, Offered: 125, Crossed: []string{"p99"},
			Failures: []model.Failure{{What: "500", N: 20}, {What: "timeout", N: 10}, {What: "reset"}, {What: "404", N: 2}},
			Latency:  []model.Quantile{{Q: 0.5, Value: 2 * time.Millisecond}, {Q: 0.9, Value: 3 * time.Millisecond}, {Q: 0.99, Value: 30 * time.Millisecond}, {Q: 1}}}
	}},
	{"a load that failed", func(m *model.Model) {
		m.Load = &model.Load{Ops: 10, Failed: 10, Latency: []model.Quantile{{Q: 0.5, Value: time.Millisecond}}}
	}},
	{"a load of one operation, which failed", func(m *model.Model) { m.Load = &model.Load{Ops: 1, Failed: 1} }},
	{"a load that went well", func(m *model.Model) {
		m.Load = &model.Load{Ops: 10, Rate: 0.5, Latency: []model.Quantile{{Q: 1, Value: time.Millisecond}}}
	}},
	{"a load of which nothing else is known", func(m *model.Model) { m.Load = &model.Load{Ops: 1, Offered: 5} }},
	{"a load of nothing", func(m *model.Model) { m.Load = &model.Load{Rate: 3, Unanswered: 1} }},
	{"a load beside benchmarks", func(m *model.Model) {
		m.Load = &model.Load{Ops: 10, Benchmarks: []model.Benchmark{{Name: "BenchmarkA-2", Values: map[string]float64{"ns/op": 10}}}}
	}},
	{"holders of the heap", func(m *model.Model) {
		grew, fell := int64(3*mib), int64(-mib)
		m.Run.Holders = []*model.HeapLook{{Reached: model.ObjectSum{Bytes: 1}}, {Over: 5 * time.Second, Reached: model.ObjectSum{Objects: 7, Bytes: 100 * mib}, Holders: []model.Holder{
			{Kind: model.HeldByVariable, Name: "main.cache", ObjectSum: model.ObjectSum{Objects: 2, Bytes: 20 * mib}, Grew: &grew, Path: []model.HolderStep{{Type: "[]byte"}}},
			{Kind: model.HeldByVariable, Name: "main.table", ObjectSum: model.ObjectSum{Objects: 3, Bytes: 40 * mib}, Grew: &fell},
			{Kind: model.HeldByGoroutines, Name: "main.serve", Count: 9, ObjectSum: model.ObjectSum{Objects: 1, Bytes: 30 * mib}},
			{Kind: model.HeldByVariable, Name: "main.index", ObjectSum: model.ObjectSum{Objects: 1, Bytes: 5 * mib}},
		}}}
	}},
	{"holders that did not grow", func(m *model.Model) {
		fell := int64(-mib)
		m.Run.Holders = []*model.HeapLook{{Over: 5 * time.Second, Reached: model.ObjectSum{Bytes: 100}, Holders: []model.Holder{{Name: "main.cache", ObjectSum: model.ObjectSum{Bytes: 60}, Grew: &fell}}}}
	}},
	{"one look at holders", func(m *model.Model) {
		grew := int64(mib)
		m.Run.Holders = []*model.HeapLook{{Reached: model.ObjectSum{Bytes: 100}, Holders: []model.Holder{{Name: "main.cache", ObjectSum: model.ObjectSum{Bytes: 60}, Grew: &grew}}}}
	}},
	{"a heap of which nothing is reached", func(m *model.Model) {
		m.Run.Holders = []*model.HeapLook{{Reached: model.ObjectSum{Objects: 3}, Unreached: model.ObjectSum{Bytes: 5}, Holders: []model.Holder{{Name: "main.cache"}}}}
	}},
	{"a heap without holders", func(m *model.Model) { m.Run.Holders = []*model.HeapLook{{Reached: model.ObjectSum{Bytes: 5}}} }},
	{"locks, few inside a map", func(m *model.Model) {
		m.Mutex = delays(m, waited("sync.(*Mutex).Unlock main.put@put.go:31", 6*time.Second), waited("sync.(*Map).Load main.load", 4*time.Second))
	}},
	{"locks, most inside a map", func(m *model.Model) {
		m.Mutex = delays(m, waited("sync.(*Mutex).Unlock main.put@put.go:31", 4*time.Second), waited("sync.(*Map).Load main.load", 6*time.Second))
	}},
	{"waits of two kinds and chance", func(m *model.Model) {
		m.Block = delays(m, waited("runtime.chanrecv1 main.take", 980*time.Millisecond), waited("runtime.selectgo main.choose", 11*time.Millisecond), waited("time.Sleep main.rest", 9*time.Millisecond))
	}},
	{"waits of five kinds", func(m *model.Model) {
		m.Block = delays(m, waited("runtime.chanrecv1 main.a", 30*time.Second), waited("runtime.chansend1 main.b", 25*time.Second), waited("runtime.selectgo main.c", 20*time.Second),
			waited("sync.(*Cond).Wait main.d", 15*time.Second), waited("sync.(*WaitGroup).Wait main.e", 10*time.Second))
		m.Block.Duration = 20 * time.Second
	}},
	{"a function on several lines", func(m *model.Model) {
		m.Block = delays(m, waited("runtime.chanrecv1 main.a@a.go:3", time.Second), waited("runtime.chanrecv1 main.a@a.go:7", 3*time.Second), waited("runtime.selectgo main.a@b.go:3", 2*time.Second))
	}},
	{"a heap", func(m *model.Model) {
		m.LiveHeap.End = profileOf(m, heapTypes, inUse("runtime.mallocgc runtime.newobject encoding/json.unquote main.parse@parse.go:4", 60, 0), inUse("runtime.growslice main.grow", 25, 0),
			inUse("runtime.mapassign main.put", 10, 0), inUse("runtime.makeslice main.rare", 5, 0))
		m.LiveHeap.End.Samples[0].Values[2] = 15
		m.MemStats = &model.MemStats{HeapSys: 200 * mib, HeapReleased: 50 * mib, NumGC: 12, GCCPUFraction: 0.11}
	}},
	{"a heap beside a collector that takes little", func(m *model.Model) {
		m.LiveHeap.End = profileOf(m, heapTypes, inUse("runtime.systemstack runtime.profilealloc runtime.makeslice", 60, 0))
		m.MemStats = &model.MemStats{HeapSys: 200 * mib, GCCPUFraction: 0.09}
	}},
	{"a heap without objects", func(m *model.Model) {
		m.LiveHeap.End = profileOf(m, []model.ValueType{{Name: "inuse_space", Unit: "bytes"}}, part{"main.grow", []int64{mib}})
	}},
	{"an empty heap", func(m *model.Model) { m.LiveHeap.End, m.Heap = profileOf(m, heapTypes), profileOf(m, heapTypes) }},
	{"a heap that grew by 6%", func(m *model.Model) { grownHeap(m, []int64{50, 50}, []int64{52, 54}, 13) }},
	{"a heap that grew by 4%", func(m *model.Model) { grownHeap(m, []int64{50, 50}, []int64{52, 52}, 6) }},
	{"a heap that grew with four places", func(m *model.Model) {
		grownHeap(m, []int64{10, 10, 10, 10, 10}, []int64{50, 110, 310, 40, 1}, 20)
		m.LiveHeap.Start.Known, m.LiveHeap.End.Known = true, true
		m.LiveHeap.Start.At, m.LiveHeap.End.At = 2*time.Second, 7*time.Second
		m.LiveHeap.Start.Duration, m.LiveHeap.End.Duration = 3*time.Second, 3*time.Second
	}},
	{"a heap that grew with the same of two", func(m *model.Model) { grownHeap(m, []int64{10, 10, 10}, []int64{15, 30, 30}, 300) }},
	{"a heap that grew by one place and little of others", func(m *model.Model) { grownHeap(m, []int64{100, 100, 100}, []int64{1100, 1, 130}, 60) }},
	{"a heap that grew by one place and 1.5% by another", func(m *model.Model) { grownHeap(m, []int64{100, 100}, []int64{1085, 115}, 350) }},
	{"a heap that fell with three places", func(m *model.Model) { grownHeap(m, []int64{40, 100, 30}, []int64{20, 10, 10}, 5) }},
	{"a heap of which 40% stayed", func(m *model.Model) { grownHeap(m, []int64{10}, []int64{50}, 100) }},
	{"a heap of which 60% stayed", func(m *model.Model) { grownHeap(m, []int64{10}, []int64{70}, 100) }},
	{"a heap of which one moment is known", func(m *model.Model) {
		grownHeap(m, []int64{10}, []int64{50}, 0)
		m.LiveHeap.End.Known, m.LiveHeap.End.At = true, 5*time.Second
	}},
	{"a heap of which another moment is known", func(m *model.Model) {
		grownHeap(m, []int64{10}, []int64{50}, 0)
		m.LiveHeap.Start.Known, m.LiveHeap.End.At = true, 5*time.Second
	}},
	{"a heap at the same moment", func(m *model.Model) {
		grownHeap(m, []int64{10}, []int64{50}, 0)
		m.LiveHeap.Start.Known, m.LiveHeap.End.Known, m.LiveHeap.Start.At, m.LiveHeap.End.At = true, true, time.Second, time.Second
	}},
	{"a function that grew on its second line", func(m *model.Model) {
		m.LiveHeap.Start = profileOf(m, heapTypes, inUse("main.grow@a.go:3", 10, 0), inUse("main.grow@a.go:7", 60, 0), inUse("main.grow@a.go:8", 10, 0))
		m.LiveHeap.End = profileOf(m, heapTypes, inUse("main.grow@a.go:3", 30, 0), inUse("main.grow@a.go:7", 95, 0), inUse("encoding/json.unquote main.grow@a.go:8", 30, 0))
	}},
	{"two functions that grew on one line", func(m *model.Model) {
		m.LiveHeap.Start = profileOf(m, heapTypes)
		m.LiveHeap.End = profileOf(m, heapTypes, inUse("main.b@a.go:5", 30, 0), inUse("main.a@a.go:6", 20, 0), inUse("main.a@a.go:5", 10, 0))
	}},
	{"a function whose line fell", func(m *model.Model) {
		m.LiveHeap.Start = profileOf(m, heapTypes, inUse("main.grow@a.go:3", 10, 0), inUse("main.grow@a.go:7", 60, 0), inUse("encoding/json.unquote main.grow@a.go:8", 70, 0))
		m.LiveHeap.End = profileOf(m, heapTypes, inUse("main.grow@a.go:3", 5, 0), inUse("main.grow@a.go:7", 10, 0), inUse("encoding/json.unquote main.grow@a.go:8", 45, 0))
	}},
	{"allocations, 1.4 times what is in use", func(m *model.Model) { m.Heap = profileOf(m, heapTypes, inUse("main.grow", 100, 140)) }},
	{"allocations, 1.6 times what is in use", func(m *model.Model) { m.Heap = profileOf(m, heapTypes, inUse("main.grow", 100, 160)) }},
	{"allocations, 4 times what is in use", func(m *model.Model) { m.Heap = profileOf(m, heapTypes, inUse("main.grow", 100, 400)) }},
	{"allocations of another", func(m *model.Model) {
		m.Heap = profileOf(m, heapTypes, inUse("main.keep", 100, 50), inUse("main.drop", 10, 60))
	}},
	{"a collector whose assists do 30%", func(m *model.Model) {
		collections(m, 100*time.Millisecond, 45*time.Millisecond, 105*time.Millisecond, 10, 10, 10, 10)
	}},
	{"a collector whose assists do 20%", func(m *model.Model) {
		collections(m, 100*time.Millisecond, 30*time.Millisecond, 120*time.Millisecond, 10, 10, 10, 10)
	}},
	{"a live heap that grew by 60%", func(m *model.Model) { collections(m, time.Second, 0, time.Second, 10, 12, 14, 16) }},
	{"a live heap that grew by 40%", func(m *model.Model) { collections(m, time.Second, 0, time.Second, 10, 12, 13, 14) }},
	{"a live heap of which 30% grew late", func(m *model.Model) { collections(m, time.Second, 0, time.Second, 10, 15, 17, 20) }},
	{"a live heap of which 20% grew late", func(m *model.Model) { collections(m, time.Second, 0, time.Second, 10, 15, 18, 20) }},
	{"a live heap that fell", func(m *model.Model) {
		collections(m, time.Second, 0, time.Second, 20, 15, 12, 10)
		m.GCLog[0].Goal = 0
	}},
	{"collections on no known Ps", func(m *model.Model) {
		collections(m, time.Second, 0, time.Second, 10, 10)
		for i := range m.GCLog {
			m.GCLog[i].Procs, m.GCLog[i].Goal = 0, 0
		}
	}},
	{"queues of five on each P", func(m *model.Model) { scheduled(m, queue(0, 2), queue(0, 12), queue(0, 20)) }},
	{"queues of three on each P", func(m *model.Model) { scheduled(m, queue(0, 0), queue(0, 8), queue(0, 12)) }},
	{"queues that fell", func(m *model.Model) { scheduled(m, queue(0, 0), queue(0, 30), queue(0, 20)) }},
	{"queues beside an idle P", func(m *model.Model) { scheduled(m, queue(1, 1), queue(1, 8), queue(1, 20)) }},
	{"queues of a line that was cut", func(m *model.Model) { scheduled(m, queue(-1, 0), queue(0, 30), queue(2, 60)) }},
	{"threads that doubled", func(m *model.Model) {
		scheduled(m, queue(0, 0), queue(0, 0))
		m.SchedLog[0].Threads, m.SchedLog[1].Threads = 10, 20
	}},
	{"threads that nearly doubled", func(m *model.Model) {
		scheduled(m, queue(0, 5), queue(0, 5))
		m.SchedLog[0].Threads, m.SchedLog[1].Threads = 10, 19
	}},
	{"a scheduler whose Ps are not known", func(m *model.Model) { scheduled(m, queue(0, 5)); m.SchedLog[0].Procs = 0 }},
	{"lines that lack the idle Ps", func(m *model.Model) { scheduled(m, queue(-1, 5), queue(-1, 5)) }},
	{"lines that lack the threads", func(m *model.Model) {
		scheduled(m, queue(1, 5))
		m.SchedLog[0].Threads = -1
	}},
	{"lines that lack both", func(m *model.Model) {
		scheduled(m, queue(-1, 5), queue(-1, 5), queue(-1, 5))
		for i := range m.SchedLog {
			m.SchedLog[i].Threads = -1
		}
	}},
	{"one line without threads", func(m *model.Model) {
		scheduled(m, queue(0, 5))
		m.SchedLog[0].Threads = 0
	}},
	{"states of goroutines", func(m *model.Model) {
		scheduled(m, queue(0, 5))
		m.SchedLog[0].Goroutines = map[string]int{"select": 5, "running": 5, "syscall": 8, "sleep": 5, "chan send": 5, "chan receive": 5}
	}},
	{"metrics of a moment", func(m *model.Model) {
		m.Metrics = &model.Metrics{Series: map[string]model.Series{}}
		for name, v := range map[string]float64{"/sched/goroutines:goroutines": 12, "/memory/classes/heap/objects:bytes": 5 * mib, "/memory/classes/total:bytes": 100 * mib,
			"/memory/classes/heap/released:bytes": 30 * mib, model.ScrapedFiles: 250, model.ScrapedMaxFiles: 1000, model.ScrapedCPU: 7} {
			m.Metrics.Series[name] = model.Series{{Value: v}}
		}
	}},
	{"one metric, little given back", func(m *model.Model) {
		m.Metrics = &model.Metrics{Series: map[string]model.Series{"/memory/classes/heap/released:bytes": {{Value: 20 * mib}}, "/memory/classes/total:bytes": {{Value: 100 * mib}}}}
	}},
	{"one metric", func(m *model.Model) {
		m.Metrics = &model.Metrics{Series: map[string]model.Series{model.ScrapedThreads: {{Value: 20}}}}
	}},
	{"a log of metrics", func(m *model.Model) {
		m.Metrics = &model.Metrics{Series: map[string]model.Series{"/sched/goroutines:goroutines": {{Value: 20}, {Value: 21}}}}
	}},
	{"goroutines of a dump", func(m *model.Model) {
		dump(m, model.Standing{Count: 90, Stack: stackOf(m, "runtime.gopark sync.runtime_notifyListWait internal/poll.runtime_pollWait net/http.serve@server.go:12"), State: "IO wait", Waited: time.Minute},
			model.Standing{Count: 100, Stack: stackOf(m, "runtime.gopark main.loop@a.go:3"), State: "select"},
			model.Standing{Count: 120, Stack: stackOf(m, "runtime.gopark runtime.forcegchelper"), State: "force gc"},
			model.Standing{Count: 5, Stack: stackOf(m, "runtime.gopark main.loop@a.go:3"), State: "chan receive"},
			model.Standing{Count: 95, Stack: stackOf(m, "runtime.gopark main.loop@a.go:9"), State: "select"},
			model.Standing{Count: 20, Stack: stackOf(m, "runtime.gopark main.loop@a.go:3"), State: "select", Waited: time.Second, Began: "main.other"},
			model.Standing{Count: 3, Stack: stackOf(m, "runtime.gopark main.late@a.go:9"), State: "select"})
	}},
	{"two hundred of each", func(m *model.Model) {
		dump(m, model.Standing{Count: 101, Stack: stackOf(m, "main.a@a.go:3"), State: "select"}, model.Standing{Count: 101, Stack: stackOf(m, "main.b@b.go:3"), State: "select"})
	}},
	{"many in one place", func(m *model.Model) {
		dump(m, model.Standing{Count: 150, Stack: stackOf(m, "main.a@a.go:3"), State: "select"}, model.Standing{Count: 120, Stack: stackOf(m, "main.b@b.go:3"), State: "select"})
	}},
	{"fewer than a hundred of each", func(m *model.Model) {
		dump(m, model.Standing{Count: 99, Stack: stackOf(m, "main.a@a.go:3"), State: "select"}, model.Standing{Count: 99, Stack: stackOf(m, "main.b@b.go:3"), State: "select"})
	}},
	{"two goroutines", func(m *model.Model) {
		dump(m, model.Standing{Count: 2, Stack: stackOf(m, "example.com/rpc.read@a.go:3"), State: "select"})
	}},
	{"one goroutine", func(m *model.Model) {
		dump(m, model.Standing{Count: 1, Stack: stackOf(m, "example.com/rpc.read@a.go:3"), State: "select"})
	}},
	{"a lock of the program's own", func(m *model.Model) {
		dump(m, model.Standing{Count: 3, Stack: stackOf(m, "sync.(*Mutex).Lock example.com/app.(*Guard).Lock@guard.go:3 example.com/app.Get@get.go:7"), State: model.StateMutex})
	}},
	{"labels of as many goroutines", func(m *model.Model) {
		dump(m, model.Standing{Count: 9, Stack: stackOf(m, "main.a"), State: "select"})
		for _, l := range [][2]string{{"zone", "a"}, {"route", "x"}, {"route", "y"}, {"route", "z"}} {
			m.Goroutines.End.Samples = append(m.Goroutines.End.Samples, model.Sample{Stack: stackOf(m, "main.a"), Values: []int64{3}, Labels: map[string]string{l[0]: l[1]}})
		}
	}},
	{"goroutines beside a moment of a trace", func(m *model.Model) {
		dump(m, model.Standing{Count: 9, Stack: stackOf(m, "main.a"), State: "select"})
		m.Moment.Source = model.Trace
		m.Goroutines.End.Samples = []model.Sample{{Stack: stackOf(m, "runtime.gopark main.a@a.go:3"), Values: []int64{30}}, {Stack: stackOf(m, "runtime.gopark main.b@b.go:3"), Values: []int64{10}}}
	}},
	{"no goroutines", func(m *model.Model) { m.Goroutines.End = profileOf(m, goroutineTypes) }},
	{"samples of no known time", func(m *model.Model) {
		m.CPU = profileOf(m, []model.ValueType{{Name: "samples", Unit: "count"}}, part{"main.a", []int64{50}}, part{"runtime.findRunnable runtime.schedule", []int64{12}}, part{"runtime.gcBgMarkWorker", []int64{13}},
			part{"runtime.mallocgc main.b", []int64{14}}, part{"syscall.Syscall6 main.c", []int64{16}}, part{"runtime.newstack runtime.morestack main.d", []int64{15}})
	}},
	{"CPU of five kinds", func(m *model.Model) {
		cpuOfKinds(m, 500, 120, 130, 140, 110)
		m.CPU.Duration, m.CPU.Known = 2*time.Second, true
	}},
	{"CPU of one kind and chance", func(m *model.Model) { cpuOfKinds(m, 980, 11, 9) }},
	{"CPU without files", func(m *model.Model) { m.CPU = profileOf(m, cpuTypes, part{"main.a@:7", []int64{1, 10e6}}) }},
	{"the kernel's samples of no known time", func(m *model.Model) {
		m.Kernel = &model.Kernel{CPU: profileOf(m, []model.ValueType{{Name: "samples", Unit: "count"}}, part{"main.a", []int64{50}})}
	}},
	{"CPU of nothing", func(m *model.Model) { cpuOfKinds(m, 0) }},
	{"CPU of a caller", func(m *model.Model) {
		m.CPU = profileOf(m, cpuTypes, part{"main.sign main.serve main.main", []int64{1, 10e6}}, part{"main.sign main.check", []int64{1, 20e6}}, part{"main.other main.rest", []int64{1, 40e6}}, part{"main.sign main.check", []int64{1, 15e6}})
	}},
	{"goroutines' time of six states", func(m *model.Model) {
		m.Wall = profileOf(m, wallTypes, part{"runtime.gopark runtime.chanrecv1 main.a", []int64{1, 40e9}}, part{"runtime.gopark time.Sleep main.b", []int64{1, 25e9}},
			part{"runtime.gopark runtime.selectgo main.c", []int64{1, 15e9}}, part{"syscall.Syscall main.d", []int64{1, 10e9}}, part{"runtime.gopark sync.(*Cond).Wait main.e", []int64{1, 6e9}}, part{"main.f", []int64{1, 4e9}})
	}},
	{"goroutines' time, chance left out", func(m *model.Model) {
		m.Wall = profileOf(m, wallTypes, part{"runtime.gopark runtime.chanrecv1 main.a", []int64{1, 980e9}}, part{"runtime.gopark time.Sleep main.b", []int64{1, 11e9}}, part{"runtime.gopark runtime.selectgo main.c", []int64{1, 9e9}})
	}},
	{"a printed CPU profile", func(m *model.Model) {
		m.Tables = tables(cpuTypes[1], 100e9, 10*time.Second, "main.serve@serve.go:5 0 90", "main.parse@parse.go:7 1 60", "main.scan 2 40", "main.log 1 30.1", "runtime.mallocgc 4 20", "runtime.gcDrain 5 5.5", "runtime.selectgo 6 30",
			"runtime.schedule 1 4", "runtime.newstack 8 12")
	}},
	{"a printed profile of the runtime", func(m *model.Model) {
		m.Tables = tables(cpuTypes[1], 100e9, 10*time.Second, "runtime.mallocgc 30 40", "runtime.memmove 20 20", "runtime.selectgo 10 30", "runtime.gcDrain 10 25", "runtime.newstack 5 6")
	}},
	{"a printed profile of little in the runtime", func(m *model.Model) {
		m.Tables = tables(cpuTypes[1], 100e9, 10*time.Second, "main.a 10 90", "runtime.schedule 1 4", "runtime.mallocgc 5 10")
	}},
	{"a printed profile of leaves in another order", func(m *model.Model) {
		m.Tables = tables(heapTypes[3], 100, 0, "strings.Clone 6 50", "strings.Map 7 40", "strings.Repeat 8 30", "strings.Join 20 20")
	}},
	{"a printed CPU profile of leaves", func(m *model.Model) {
		m.Tables = tables(cpuTypes[1], 100e9, 0, "strings.Index 30 40", "strings.Count 20 20", "bytes.Index 15 15", "bytes.Count 10 10", "bytes.Equal 8 8", "bytes.Fields 4 96")
	}},
	{"a printed profile of one function", func(m *model.Model) {
		m.Tables = tables(cpuTypes[1], 100e9, 0, "main.crunch@crunch.go:5 26 30", "example.com/lib/x.Sum 27 28", "main.rest 20 50")
	}},
	{"a printed profile of one that does less and calls more", func(m *model.Model) {
		m.Tables = tables(cpuTypes[1], 100e9, 0, "main.a 40 50", "main.b 30 45")
	}},
	{"a printed profile of no function's own", func(m *model.Model) {
		m.Tables = tables(cpuTypes[1], 100e9, 0, "main.crunch 24 30")
	}},
	{"a printed profile of small parts", func(m *model.Model) {
		m.Tables = tables(cpuTypes[1], 100e9, 0, "main.a 4 4", "strings.Index 4 4.9")
	}},
	{"a printed profile of two beside each other", func(m *model.Model) {
		m.Tables = tables(cpuTypes[1], 100e9, 0, "runtime.main 0 99", "example.com/app/x.Left@left.go:3 5 60", "example.com/app/x.Inner@inner.go:3 3 40", "example.com/app/x.Right@right.go:3 7 20.08", "example.com/app/x.Last 9 19")
	}},
	{"a printed profile of two that may be one under the other", func(m *model.Model) {
		m.Tables = tables(cpuTypes[1], 100e9, 0, "example.com/app/x.Left@left.go:3 5 60", "example.com/app/x.Inner@inner.go:3 3 40", "example.com/app/x.Right@right.go:3 7 20.15")
	}},
	{"a printed profile whose leaves have callers", func(m *model.Model) {
		m.Tables = tables(heapTypes[3], 100, 0, "strings.Clone 9 9", "main.one.func1 0 9", "main.two.func2 0 9", "main.three 0 9", "main.four 0 9", "strings.Map 7 8", "main.five 0 7", "main.six 0 8",
			"bytes.Clone 6 6", "strings.Repeat 4 96")
	}},
	{"a printed profile of a leaf with nearly all", func(m *model.Model) {
		m.Tables = tables(heapTypes[3], 100, 0, "strings.Clone 90 96", "main.one 0 96")
	}},
	{"a printed heap profile", func(m *model.Model) {
		m.Tables = tables(heapTypes[3], 1000*mib, 0, fmt.Sprintf("main.load 0 %d", 900*mib), fmt.Sprintf("main.decode 0 %d", 500*mib), fmt.Sprintf("bytes.growSlice %d %d", 500*mib, 500*mib),
			fmt.Sprintf("strings.Clone %d %d", 60*mib, 60*mib), fmt.Sprintf("strings.Map %d %d", 70*mib, 70*mib), fmt.Sprintf("strings.Repeat %d %d", 65*mib, 65*mib), fmt.Sprintf("main.rest 0 %d", 400*mib))
	}},
	{"a printed profile of goroutines", func(m *model.Model) {
		m.Tables = tables(model.ValueType{Name: "goroutine", Unit: "count"}, 100, 0, "runtime.gopark 100 100", "main.a 0 60", "main.b 0 40", "net/http.serve 0 60")
	}},
	{"a printed profile of something else", func(m *model.Model) {
		m.Tables = tables(model.ValueType{Name: "latency", Unit: "count"}, 100, 0, "strings.Index 60 70", "main.a 1 60")
	}},
}

var (
	goroutineTypes = []model.ValueType{{Name: "goroutine", Unit: "count"}}
	cpuTypes       = []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}
	wallTypes      = []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "wall", Unit: "nanoseconds"}}
)

// grownHeap sets two profiles of main.a, main.b, …, each on a line of its own, with these MiB in
// use, and made MiB allocated meanwhile by each.
func grownHeap(m *model.Model, start, end []int64, made int64) {
	var before, after []part
	for i := range start {
		stack := fmt.Sprintf("main.%c@%c.go:%d", 'a'+i, 'k'+i, 5+i)
		before, after = append(before, inUse(stack, start[i], 0)), append(after, inUse(stack, end[i], made))
	}
	m.LiveHeap.Start, m.LiveHeap.End, m.Heap = profileOf(m, heapTypes, before...), profileOf(m, heapTypes, after...), nil
	if made > 0 {
		m.Heap = profileOf(m, heapTypes, after...)
	}
}

// collections sets collections on four Ps over some time, with the CPU of each and the MiB that it
// found alive.
func collections(m *model.Model, over, assist, background time.Duration, live ...uint64) {
	for i, n := range live {
		at := 4*time.Second + over*time.Duration(i)/time.Duration(len(live)-1)
		m.GCLog = append(m.GCLog, model.GCLine{Cycle: i + 1, At: at, Procs: 4, Live: n * mib, Goal: (2*n + 1) * mib, CPUAssist: assist, CPUBackground: background, CPUIdle: 7 * time.Millisecond,
			CPUSweepTerm: 2 * time.Millisecond, CPUMarkTerm: time.Millisecond, MarkTerm: time.Duration(i) * time.Millisecond, SweepTerm: time.Millisecond})
	}
}

// queue returns a line of schedtrace: the number of idle Ps, of four, and the length of the queue
// of all.
func queue(idle, length int) model.SchedLine {
	return model.SchedLine{Procs: 4, IdleProcs: idle, Threads: 8, RunQueue: length, Local: []int{0, 0, 0, 0}}
}

// scheduled sets lines of schedtrace, a tenth of a second apart.
func scheduled(m *model.Model, lines ...model.SchedLine) {
	for i := range lines {
		lines[i].At = time.Duration(i) * 100 * time.Millisecond
	}
	m.SchedLog = lines
}

// dump sets goroutines of a dump, and a profile of them that has no samples.
func dump(m *model.Model, list ...model.Standing) {
	m.Moment = &model.Moment{Source: model.GoroutineProfile, Goroutines: list}
	m.Goroutines.End = &model.Profile{Types: goroutineTypes}
}

// cpuOfKinds sets milliseconds of CPU in the program, the scheduler, the collector, the allocator
// and the kernel.
func cpuOfKinds(m *model.Model, ms ...int64) {
	m.CPU = profileOf(m, cpuTypes)
	for i, n := range ms {
		stack := []string{"main.a", "runtime.findRunnable runtime.schedule", "runtime.gcBgMarkWorker", "runtime.mallocgc main.b", "syscall.Syscall6 main.c"}[i]
		m.CPU.Samples = append(m.CPU.Samples, model.Sample{Stack: stackOf(m, stack), Values: []int64{n / 10, n * 1e6}})
	}
}

// tables returns a printed profile: each line has a function, what is in it and what is under it,
// times in seconds.
func tables(of model.ValueType, total float64, d time.Duration, lines ...string) []*model.Table {
	t := model.Table{File: "top.txt", Source: map[string]model.Source{"cpu": model.CPU, "inuse_space": model.LiveHeap, "goroutine": model.GoroutineProfile}[of.Name], Type: of, Total: total, Duration: d}
	scale := 1.0
	if of.Unit == "nanoseconds" {
		scale = 1e9
	}
	for _, l := range lines {
		var f model.TableFunction
		var word string
		if _, err := fmt.Sscan(l, &word, &f.Flat, &f.Cum); err != nil {
			panic(err)
		}
		f.Flat, f.Cum = f.Flat*scale, f.Cum*scale
		name, place, ok := strings.Cut(word, "@")
		f.Func = name
		if ok {
			file, number, _ := strings.Cut(place, ":")
			f.File = file
			f.Line, _ = strconv.Atoi(number)
		}
		t.Functions = append(t.Functions, f)
	}
	return []*model.Table{model.NewTable(t)}
}
