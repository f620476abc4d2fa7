package diagnosis

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// heapTypes are the columns of a heap profile.
var heapTypes = []model.ValueType{{Name: "alloc_objects", Unit: "count"}, {Name: "alloc_space", Unit: "bytes"}, {Name: "inuse_objects", Unit: "count"}, {Name: "inuse_space", Unit: "bytes"}}

var delayTypes = []model.ValueType{{Name: "contentions", Unit: "count"}, {Name: "delay", Unit: "nanoseconds"}}

const mib = 1 << 20

func line(function, file string, n int) model.Frame {
	return model.Frame{Func: function, File: file, Line: n}
}

// accountText returns what a report shows of an account.
func accountText(a *Account) string {
	lines := []string{a.Text}
	for _, r := range a.Rows {
		l := r.Name + " " + r.Value.Text
		if r.Where != nil {
			l += " " + r.Where.File
		}
		lines = append(lines, l+" "+r.Note)
	}
	return strings.Join(lines, "\n")
}

func expectAccounts(t *testing.T, m *model.Model, want map[model.Source][]string) {
	t.Helper()
	got := map[model.Source]string{}
	for _, a := range accountsOf(m) {
		got[a.Source] = accountText(&a)
		if len(want[a.Source]) == 0 {
			t.Errorf("an account of %s: %q, want none", a.Source, got[a.Source])
		}
	}
	for source, words := range want {
		for _, w := range words {
			if !strings.Contains(got[source], w) {
				t.Errorf("the account of %s is %q, want %q in it", source, got[source], w)
			}
		}
	}
}

// heapModel has a cache that keeps what it makes and a parser that keeps nothing; each
// has bytes at the start and the end in use, and allocated meanwhile.
func heapModel(cacheStart, cacheEnd, cacheMade, parsed int64) *model.Model {
	m := &model.Model{}
	cache := m.Stacks.Add([]model.Frame{line("runtime.mallocgc", "malloc.go", 9), line("main.cacheAdd", "cache.go", 4), line("main.main", "main.go", 1)})
	parse := m.Stacks.Add([]model.Frame{line("encoding/json.unquote", "decode.go", 7), line("main.parse", "parse.go", 8)})
	heap := func(inUse, made, parsed int64) *model.Profile {
		return &model.Profile{Types: heapTypes, Samples: []model.Sample{
			{Stack: cache, Values: []int64{made / mib, made, inUse / mib, inUse}},
			{Stack: parse, Values: []int64{parsed / 1024, parsed, 1, 1024}},
		}}
	}
	m.LiveHeap.End, m.Heap = heap(cacheEnd, cacheMade, parsed), heap(0, cacheMade, parsed)
	if cacheStart > 0 {
		m.LiveHeap.Start = heap(cacheStart, 0, 0)
		m.LiveHeap.Start.Known, m.LiveHeap.End.Known, m.LiveHeap.End.At = true, true, 6*time.Second
	}
	return m
}

func TestHeapAccount(t *testing.T) {
	expectAccounts(t, heapModel(0, 100*mib, 100*mib, 0), map[model.Source][]string{
		model.LiveHeap: {"100 MiB in use in 101 objects", "100% of it allocated in main.cacheAdd", "main.cacheAdd 100 MiB cache.go 100 × 1 MiB", "in encoding/json.unquote"},
	})
	// A profile of allocations alone, of which nearly all are still in use.
	allocs := heapModel(0, 100*mib, 100*mib, 0)
	allocs.Heap, allocs.LiveHeap.End = allocs.LiveHeap.End, nil
	expectAccounts(t, allocs, map[model.Source][]string{model.Heap: {"100 MiB in use in 101 objects"}})
	// What was allocated says more where it is by another, or much more than there is.
	expectAccounts(t, heapModel(0, 100*mib, 100*mib, 900*mib), map[model.Source][]string{
		model.LiveHeap: {"100 MiB in use"},
		model.Heap:     {"1,000 MiB allocated; 90.0% of it in main.parse"},
	})
	grown := heapModel(100*mib, 1100*mib, 1000*mib, 0)
	grown.MemStats = &model.MemStats{HeapSys: 1200 * mib, HeapReleased: 20 * mib, NumGC: 300, GCCPUFraction: 0.3}
	expectAccounts(t, grown, map[model.Source][]string{
		model.LiveHeap: {"grew by 1,000 MiB, from 100 MiB to 1.07 GiB in 6.00 s", "100% of it is memory allocated in main.cacheAdd", "meanwhile 100% stayed",
			"from the system 1.17 GiB 20 MiB given back, 300 collections, 30.0% of the CPU"},
	})
	churned := heapModel(100*mib, 150*mib, 50*mib, 5000*mib)
	expectAccounts(t, churned, map[model.Source][]string{model.LiveHeap: {"grew by 50 MiB"}, model.Heap: {"main.parse"}})
	if text := accountsOf(churned)[0].Text; strings.Contains(text, "stayed") {
		t.Errorf("a hundredth of what was allocated stayed: %q", text)
	}
	expectAccounts(t, heapModel(100*mib, 40*mib, 0, 0), map[model.Source][]string{
		model.LiveHeap: {"fell by 60 MiB, from 100 MiB to 40", "main.cacheAdd 60 MiB"},
	})
	// Two percent more is chance.
	expectAccounts(t, heapModel(100*mib, 102*mib, 2*mib, 0), map[model.Source][]string{model.LiveHeap: {"102 MiB in use in"}})
}

func TestDelayAccounts(t *testing.T) {
	m := &model.Model{}
	unlock := m.Stacks.Add([]model.Frame{line("sync.(*Mutex).Unlock", "mutex.go", 9), line("main.(*table).put", "table.go", 31)})
	m.Mutex = &model.Profile{Types: delayTypes, Duration: 10 * time.Second, Samples: []model.Sample{{Stack: unlock, Values: []int64{10, 66e9}}}}
	lock := m.Stacks.Add([]model.Frame{line("sync.(*Mutex).lockSlow", "mutex.go", 9), line("sync.(*Mutex).Lock", "mutex.go", 4), line("main.(*table).get", "table.go", 20)})
	receive := m.Stacks.Add([]model.Frame{line("runtime.chanrecv1", "chan.go", 9), line("main.worker", "worker.go", 3)})
	m.Block = &model.Profile{Types: delayTypes, Samples: []model.Sample{{Stack: lock, Values: []int64{10, 30e9}}, {Stack: receive, Values: []int64{10, 10e9}}}}
	expectAccounts(t, m, map[model.Source][]string{
		model.Mutex: {"66.0 s of waiting for locks in 10.0 s, 6.60 goroutines at once", "main.(*table).put held the lock", "no saving", "table.go"},
		model.Block: {"40.0 s of waiting: Mutex.Lock 75.0%, channel receive 25.0%; most of it in main.(*table).get", "main.worker 10.0 s worker.go channel receive"},
	})
}

// Samples of no known time have shares all the same.
func TestSamplesAccount(t *testing.T) {
	m := &model.Model{}
	work := m.Stacks.Add([]model.Frame{line("main.sign", "sign.go", 20)})
	park := m.Stacks.Add([]model.Frame{line("runtime.futex", "sys.s", 9), line("runtime.findRunnable", "proc.go", 2), line("runtime.mcall", "asm.s", 1)})
	m.CPU = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}}, Samples: []model.Sample{{Stack: work, Values: []int64{150}}, {Stack: park, Values: []int64{50}}}}
	expectAccounts(t, m, map[model.Source][]string{
		model.CPU: {"200 samples: application 75.0%, scheduler 25.0%. How much time one stands for is not known", "main.sign 150 sign.go"},
	})
}

func TestWallAccount(t *testing.T) {
	m := &model.Model{}
	receive := m.Stacks.Add([]model.Frame{line("runtime.gopark", "proc.go", 9), line("runtime.chanrecv1", "chan.go", 9), line("main.worker", "worker.go", 3)})
	poll := m.Stacks.Add([]model.Frame{line("runtime.gopark", "proc.go", 9), line("runtime.netpollblock", "netpoll.go", 9), line("internal/poll.(*FD).Read", "fd.go", 3), line("net.(*conn).Read", "net.go", 3)})
	work := m.Stacks.Add([]model.Frame{line("crypto/sha256.block", "sha.go", 9), line("main.sign", "sign.go", 20)})
	ready := map[string]string{"state": "runnable"} // and was at its wait before
	m.Wall = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "wall", Unit: "nanoseconds"}}, Duration: 10 * time.Second, Samples: []model.Sample{
		{Stack: receive, Values: []int64{60, 60e9}}, {Stack: poll, Values: []int64{30, 30e9}}, {Stack: work, Values: []int64{8, 8e9}},
		{Stack: receive, Values: []int64{2, 2e9}, Labels: ready}}}
	expectAccounts(t, m, map[model.Source][]string{
		model.Wall: {"100 s of goroutines' time in 10.0 s, 10 goroutines at once on average: channel receive 60.0%, network 30.0%, running 10.0%",
			"What ran for 10.0 s was mostly main.sign", "net.(*conn).Read 30.0 s net.go network"},
	})
}

func TestWorkAccount(t *testing.T) {
	m := counted10(2*time.Second, 0, 1)
	m.Process = nil
	work := m.Stacks.Add([]model.Frame{line("crypto/sha256.block", "sha.go", 9), line("main.sign", "sign.go", 20), line("main.serve", "serve.go", 5)})
	park := m.Stacks.Add([]model.Frame{line("runtime.futex", "sys.s", 9), line("runtime.findRunnable", "proc.go", 2), line("runtime.mcall", "asm.s", 1)})
	m.CPU.Samples = []model.Sample{{Stack: work, Values: []int64{150, 15e8}}, {Stack: park, Values: []int64{50, 5e8}}}
	expectAccounts(t, m, map[model.Source][]string{
		model.CPU: {"2.00 s of CPU time in 10.0 s, which is 0.200 cores: application 75.0%, scheduler 25.0%", "main.sign 1.50 s sign.go in crypto/sha256.block, from main.serve", "(scheduler) 500 ms in runtime.futex"},
	})
	m.Kernel, m.CPU = &model.Kernel{CPU: m.CPU}, nil
	expectAccounts(t, m, map[model.Source][]string{
		model.KernelCPU: {"2.00 s of CPU time in 10.0 s, which is 0.200 cores: application 75.0%", "main.sign 1.50 s sign.go in crypto/sha256.block, from main.serve"},
	})
}

func TestBenchmarkAccount(t *testing.T) {
	m := &model.Model{Load: &model.Load{}}
	add := func(name string, ns, bytes, allocs float64) {
		m.Load.Benchmarks = append(m.Load.Benchmarks, model.Benchmark{Package: "a/b", Name: name, N: 9, Values: map[string]float64{"ns/op": ns, "B/op": bytes, "allocs/op": allocs}})
	}
	add("BenchmarkGet-2", 1200, 512, 7)
	expectAccounts(t, m, map[model.Source][]string{model.LoadResult: {"Of 1 benchmark in 1 round", "-count=10"}})
	for i := range 9 {
		add("BenchmarkGet-2", 1200+float64(i%3)*12, 512, 7)
	}
	add("BenchmarkPut-2", 3200, 1536, 17)
	add("BenchmarkPut-2", 3840, 1536, 17)
	expectAccounts(t, m, map[model.Source][]string{model.LoadResult: {"Of 2 benchmarks in 12 rounds an operation of Put-2 takes most, 3.52 µs",
		"Put-2 3.52 µs rounds ±9.1%, 1.50 KiB in 17 allocations", "Get-2 1.21 µs ±1.0%, 512 B in 7 allocations"}})
}

// TestGoroutineAccount: a dump's account has states and waits, says which places belong
// together, and how many wait for a lock.
func TestGoroutineAccount(t *testing.T) {
	m := &model.Model{}
	at := func(frames ...model.Frame) model.Stack { return m.Stacks.Add(frames) }
	read := at(line("net.(*conn).Read", "net.go", 3), line("example.com/rpc.(*client).read", "client.go", 5))
	send := at(line("example.com/rpc.(*client).send", "client.go", 9))
	lock := at(line("sync.(*Mutex).Lock", "mutex.go", 46), line("main.get", "main.go", 7))
	m.Goroutines.End = &model.Profile{Types: []model.ValueType{{Name: "goroutine", Unit: "count"}}}
	m.Moment = &model.Moment{Source: model.GoroutineProfile, Locks: []model.Lock{{Name: "main.mu"}}, Goroutines: []model.Standing{
		{Count: 400, Stack: read, State: "IO wait", Waited: 90 * time.Minute},
		{Count: 400, Stack: send, State: "select"},
		{Count: 30, Stack: lock, State: model.StateMutex, Wants: 1},
	}}
	expectAccounts(t, m, map[model.Source][]string{model.GoroutineProfile: {
		"830 goroutines; 48.2% of them in rpc.(*client).read (IO wait, up to 1h30m0s).",
		"2 places have the same number, 400",
		"30 of all wait for a lock",
		"example.com/rpc.(*client).send 400 client.go select",
	}})
}

// TestLabelledAccount: the labels that most goroutines have are named, and neither those that
// gowhy gave them nor such as each has for itself.
func TestLabelledAccount(t *testing.T) {
	m := &model.Model{}
	stack := m.Stacks.Add([]model.Frame{line("main.work", "main.go", 5)})
	m.Moment = &model.Moment{Source: model.GoroutineProfile, Goroutines: []model.Standing{{Count: 90, Stack: stack, State: "select"}}}
	m.Goroutines.End = &model.Profile{Types: []model.ValueType{{Name: "goroutine", Unit: "count"}}}
	add := func(n int64, labels map[string]string) {
		m.Goroutines.End.Samples = append(m.Goroutines.End.Samples, model.Sample{Stack: stack, Values: []int64{n}, Labels: labels})
	}
	add(50, map[string]string{"state": "select", "minutes": "3", "still": "50"})
	for _, a := range accountsOf(m) {
		if strings.Contains(a.Text, "label") {
			t.Errorf("%q tells of labels that the program has not", a.Text)
		}
	}
	add(20, map[string]string{"state": "select", "route": "/orders", "zone": "b"})
	add(10, map[string]string{"route": "/orders", "request": "1"})
	add(2, map[string]string{"route": "/" + strings.Repeat("é", 90)})
	add(1, map[string]string{"request": "2"})
	expectAccounts(t, m, map[model.Source][]string{model.GoroutineProfile: {
		"By labels: 30 with route=/orders, 20 with zone=b, 10 with request=1, 2 more labels."}})
	m.Goroutines.End.Samples = m.Goroutines.End.Samples[3:]
	expectAccounts(t, m, map[model.Source][]string{model.GoroutineProfile: {
		"By labels: 2 with route=/" + strings.Repeat("é", 52) + "…, 1 more label."}})
}

// TestSyncMapAccount: a map's own locks have no name, and forty callers share them.
func TestSyncMapAccount(t *testing.T) {
	m := &model.Model{Mutex: &model.Profile{Types: delayTypes}}
	for i, f := range []string{"main.first", "main.second"} {
		s := m.Stacks.Add([]model.Frame{line("internal/sync.(*HashTrieMap[...]).Swap", "hashtriemap.go", 9), line("sync.(*Map).Swap", "map.go", 4), line(f, "main.go", i+1)})
		m.Mutex.Samples = append(m.Mutex.Samples, model.Sample{Stack: s, Values: []int64{9, int64(time.Second) * int64(3-i)}})
	}
	m.Block = &model.Profile{Types: delayTypes}
	s := m.Stacks.Add([]model.Frame{line("internal/sync.(*HashTrieMap[...]).Swap", "hashtriemap.go", 9), line("sync.(*Map).Swap", "map.go", 4), line("main.store", "main.go", 3),
		line("sync.(*WaitGroup).Go.func1", "waitgroup.go", 5)})
	m.Block.Samples = []model.Sample{{Stack: s, Values: []int64{9, int64(time.Second)}}}
	expectAccounts(t, m, map[model.Source][]string{model.Block: {"lock inside a sync.Map 100%"}, model.Mutex: {"5.00 s of waiting for locks; 100% of it for those inside a sync.Map, most for main.first"}})
}

// TestHeapsOfNothing: two profiles without anything in use have no line of nothing.
func TestHeapsOfNothing(t *testing.T) {
	m := heapModel(1, 1, mib, mib)
	for _, p := range []*model.Profile{m.LiveHeap.Start, m.LiveHeap.End} {
		for i := range p.Samples {
			p.Samples[i].Values[2], p.Samples[i].Values[3] = 0, 0
		}
	}
	for _, a := range accountsOf(m) {
		for _, r := range a.Rows {
			if r.Value.Value == 0 {
				t.Errorf("the account of %s has %s with nothing", a.Source, r.Name)
			}
		}
	}
}

// TestMomentAccount: who asks why so much is mapped is told what was given back.
func TestMomentAccount(t *testing.T) {
	at := func(v float64) model.Series { return model.Series{{Value: v}} }
	m := &model.Model{Metrics: &model.Metrics{Series: map[string]model.Series{
		"/memory/classes/heap/objects:bytes": at(12 * mib), "/memory/classes/total:bytes": at(700 * mib), "/memory/classes/heap/released:bytes": at(600 * mib)}}}
	expectAccounts(t, m, map[model.Source][]string{model.MetricsLog: {"Of 700 MiB got from the system 600 MiB are given back already: the runtime keeps 100 MiB."}})
	m.Metrics.Series["/memory/classes/heap/released:bytes"] = at(60 * mib)
	if a := accountsOf(m); len(a) != 1 || strings.Contains(a[0].Text, "given back") {
		t.Errorf("accountsOf() = %+v, want one without the words given back", a)
	}
}

// TestTableMeaning says what a table may be taken for, and nothing of one that is clear.
func TestTableMeaning(t *testing.T) {
	cpu := model.ValueType{Name: "cpu", Unit: "nanoseconds"}
	for name, c := range map[string]struct {
		table model.Table
		want  string
	}{
		"allocated":      {model.Table{Source: model.Heap, Type: model.ValueType{Name: "alloc_space", Unit: "bytes"}}, "also what is free again"},
		"of bytes":       {model.Table{Source: model.LiveHeap, Type: model.ValueType{Unit: "bytes"}}, "or was ever allocated"},
		"in use":         {model.Table{Source: model.LiveHeap, Type: model.ValueType{Name: "inuse_space", Unit: "bytes"}}, ""},
		"waits":          {model.Table{Source: model.CPU, Type: cpu, Duration: 30 * time.Second}, "That was in 30.0 s: the program mostly waits"},
		"in use a while": {model.Table{Source: model.LiveHeap, Type: model.ValueType{Name: "inuse_space", Unit: "bytes"}, Duration: 30 * time.Second}, ""},
		"nearly waits":   {model.Table{Source: model.CPU, Type: cpu, Duration: 13 * time.Second}, ""},
		"at work":        {model.Table{Source: model.CPU, Type: cpu, Duration: time.Second}, ""},
		"of some while":  {model.Table{Source: model.CPU, Type: cpu}, ""},
	} {
		c.table.Total = 1.9e9
		c.table.Functions = []model.TableFunction{{Func: "main.f", Flat: 1e9, Cum: 1e9}}
		if got := tableMeaning(model.NewTable(c.table)); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestTableChain names both ends of a chain of calls, and who has as much as the last.
func TestTableChain(t *testing.T) {
	a := tableAccount(model.NewTable(model.Table{Source: model.Mutex, Type: model.ValueType{Name: "delay", Unit: "nanoseconds"}, Total: 100e9, Functions: []model.TableFunction{
		{Func: "sync.(*Mutex).Unlock", Flat: 100e9, Cum: 100e9}, {Func: "main.auth", Cum: 80e9}, {Func: "main.near", Cum: 68.1e9}, {Func: "main.handle", Cum: 68e9}, {Func: "main.DB.Select", Cum: 68e9},
	}}))
	if want := "80.0% of it under main.auth, 68.0% under main.handle and main.DB.Select."; !strings.HasSuffix(a.Text, want) {
		t.Errorf("%q, want %q at its end", a.Text, want)
	}
}

// TestRowsAddUpWithParts: half of the time has no sample, so that what has three quarters
// of the samples has three eighths of the time.
func TestRowsAddUpWithParts(t *testing.T) {
	m := counted10(4*time.Second, 0, 1)
	work := m.Stacks.Add([]model.Frame{line("main.sign", "sign.go", 20)})
	other := m.Stacks.Add([]model.Frame{line("main.read", "read.go", 9)})
	m.CPU.Samples = []model.Sample{{Stack: work, Values: []int64{150, 15e8}}, {Stack: other, Values: []int64{50, 5e8}}}
	m.Kernel, m.CPU = &model.Kernel{CPU: m.CPU}, nil
	sum := m.CPUAccount().Share(model.NotSampled)
	for _, a := range accountsOf(m) {
		for _, row := range a.Rows {
			sum += row.Share
			if row.Name == "main.sign" && math.Abs(row.Share-0.375) > 1e-6 {
				t.Errorf("main.sign has %v of the CPU time, want 0.375", row.Share)
			}
		}
	}
	if math.Abs(sum-1) > 1e-6 {
		t.Errorf("rows and what was not sampled are %v of all", sum)
	}
}
