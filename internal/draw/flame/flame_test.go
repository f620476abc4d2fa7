package flame

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

const ms = time.Millisecond

// profileOf makes a model with a CPU profile from lines like
// "main.main;main.work 12": a stack, root first, and its nanoseconds.
func profileOf(lines ...string) *model.Model {
	m := &model.Model{Run: model.Run{Duration: time.Second}}
	m.CPU = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Duration: time.Second}
	for _, l := range lines {
		names, value, _ := strings.Cut(l, " ")
		var v int64
		fmt.Sscan(value, &v)
		m.CPU.Samples = append(m.CPU.Samples, model.Sample{Stack: stackOf(m, names), Values: []int64{1, v}})
	}
	return m
}

func stackOf(m *model.Model, names string) model.Stack {
	if names == "" {
		return 0
	}
	var frames []model.Frame
	for _, n := range slices.Backward(strings.Split(names, ";")) {
		frames = append(frames, model.Frame{Func: n, File: "/src/x.go", Line: len(frames) + 1})
	}
	return m.Stacks.Add(frames)
}

// paths returns the tree as sums by path, for comparing.
func paths(t *Tree) map[string]int64 {
	out := map[string]int64{}
	at := make([]string, len(t.Parent))
	for i := range t.Parent {
		if i > 0 {
			at[i] = at[t.Parent[i]] + "/" + t.Funcs[t.Func[i]].Name
		}
		out[at[i]] = t.Sum[i]
	}
	return out
}

// check fails on a tree that breaks a promise of [Tree].
func check(t *testing.T, tree *Tree, whole bool) {
	t.Helper()
	n := len(tree.Parent)
	if n == 0 || tree.Parent[0] != -1 || tree.Func[0] != -1 || tree.Sum[0] != tree.Total {
		t.Fatalf("root of %d nodes: sum %d of total %d, want both equal, and no function and no parent", n, tree.Sum[0], tree.Total)
	}
	rest := slices.Clone(tree.Sum)
	edges := map[[2]int32]bool{}
	open := []int32{0}
	var last = make([]int64, n)
	for i := range last {
		last[i] = math.MaxInt64
	}
	for i := range n {
		rest[i] -= tree.Self[i]
		if i == 0 {
			continue
		}
		p := tree.Parent[i]
		for len(open) > 0 && open[len(open)-1] != p {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			t.Fatalf("node %d is not below its parent %d in the order of drawing", i, p)
		}
		open = append(open, int32(i))
		rest[p] -= tree.Sum[i]
		size := tree.Sum[i]
		if tree.Base != nil {
			size = max(size, tree.Base[i])
			if tree.Base[i] > tree.Base[p] {
				t.Fatalf("base of node %d is %d, want at most its parent's, %d", i, tree.Base[i], tree.Base[p])
			}
		}
		if size > last[p] {
			t.Fatalf("node %d is larger than its sibling before it", i)
		}
		last[p] = size
		e := [2]int32{p, tree.Func[i]}
		if edges[e] {
			t.Fatalf("node %d has two children of %q", p, tree.Funcs[tree.Func[i]].Name)
		}
		edges[e] = true
	}
	for i, r := range rest {
		if r < 0 || whole && r != 0 {
			t.Fatalf("node %d: sum %d is not self %d and its children: %d left", i, tree.Sum[i], tree.Self[i], r)
		}
	}
	for _, f := range tree.Funcs {
		if len(f.Name) > maxName+len("…") || f.Owner < Own || f.Owner > Kernel {
			t.Fatalf("function %.40q of %v, want a short name and a known owner", f.Name, f.Owner)
		}
	}
}

func build(t *testing.T, m *model.Model, o Options) *Tree {
	t.Helper()
	tree, err := Build(m, o)
	if err != nil {
		t.Fatal(err)
	}
	check(t, tree, o.Limit == 0 && o.Min == 0)
	return tree
}

func TestTree(t *testing.T) {
	m := profileOf("main.main;main.a;main.b 5", "main.main;main.a 3", "main.main;main.c 7", "main.main;main.a;main.b 1", " 2")
	tree := build(t, m, Options{Kind: "cpu"})
	want := map[string]int64{"": 18, "/main.main": 16, "/main.main/main.a": 9, "/main.main/main.a/main.b": 6, "/main.main/main.c": 7, "/(no stack)": 2}
	if got := paths(tree); !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if tree.Unit != "nanoseconds" || tree.Total != 18 || tree.LeftNodes != 0 || tree.Ratio != 1 {
		t.Errorf("tree %+v, want 18 nanoseconds, no node left out, ratio 1", tree)
	}
}

// A recursion is as deep in the tree as it was, and no value is counted twice.
func TestRecursion(t *testing.T) {
	tree := build(t, profileOf("f;f;f 4", "f;f 2", "f;g;f 1"), Options{Kind: "cpu"})
	want := map[string]int64{"": 7, "/f": 7, "/f/f": 6, "/f/f/f": 4, "/f/g": 1, "/f/g/f": 1}
	if got := paths(tree); !maps.Equal(got, want) {
		t.Errorf("paths = %v, want %v", got, want)
	}
}

// bags makes random stacks of few functions, so that many share their paths.
func bags(r *rand.Rand, n int) (lines []string) {
	for range n {
		var names []string
		for range 1 + r.IntN(6) {
			names = append(names, string(rune('a'+r.IntN(4))))
		}
		lines = append(lines, fmt.Sprintf("%s %d", strings.Join(names, ";"), r.IntN(50)))
	}
	return lines
}

func TestAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		lines := bags(r, 1+r.IntN(40))
		want := map[string]int64{}
		for _, l := range lines {
			names, value, _ := strings.Cut(l, " ")
			var v int64
			fmt.Sscan(value, &v)
			path := ""
			for _, n := range append([]string{""}, strings.Split(names, ";")...) {
				if n != "" {
					path += "/" + n
				}
				if v > 0 {
					want[path] += v
				}
			}
		}
		m := profileOf(lines...)
		if len(want) == 0 {
			if _, err := Build(m, Options{Kind: "cpu"}); err == nil {
				t.Fatal("a tree of nothing")
			}
			continue
		}
		if got := paths(build(t, m, Options{Kind: "cpu"})); !maps.Equal(got, want) {
			t.Fatalf("%v\ngot  %v\nwant %v", lines, got, want)
		}
	}
}

func TestOrderOfSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	lines, base := bags(r, 300), profileOf(bags(r, 200)...)
	for _, o := range []Options{{Kind: "cpu"}, {Kind: "cpu", Limit: 40}, {Kind: "cpu", Min: 0.01}, {Kind: "cpu", Base: base}, {Kind: "cpu", Base: base, Limit: 60}} {
		want := build(t, profileOf(lines...), o)
		for range 5 {
			r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			if got := build(t, profileOf(lines...), o); !reflect.DeepEqual(got, want) {
				t.Fatalf("with %+v the tree of samples in another order is\n%+v, want\n%+v", o, got, want)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	m := profileOf(bags(rand.New(rand.NewPCG(5, 6)), 500)...)
	all := build(t, m, Options{Kind: "cpu"})
	whole := paths(all)
	for limit := 1; limit < len(all.Parent)+2; limit += 7 {
		tree := build(t, m, Options{Kind: "cpu", Limit: limit})
		if len(tree.Parent) > limit || len(tree.Parent)+tree.LeftNodes != len(all.Parent) {
			t.Fatalf("limit %d: %d nodes and %d left of %d", limit, len(tree.Parent), tree.LeftNodes, len(all.Parent))
		}
		smallest := slices.Min(tree.Sum)
		shown := paths(tree)
		for path, sum := range whole {
			if _, ok := shown[path]; !ok && sum > smallest {
				t.Fatalf("limit %d leaves out %s with %d, want none above the smallest shown, %d", limit, path, sum, smallest)
			}
		}
	}
	tree := build(t, m, Options{Kind: "cpu", Min: 0.02})
	if least := int64(math.Ceil(0.02 * float64(all.Total))); slices.Min(tree.Sum) < least || tree.LeftNodes == 0 {
		t.Errorf("smallest %d, least %d, left %d", slices.Min(tree.Sum), least, tree.LeftNodes)
	}
}

// The line is that of the node's largest stack.
func TestLine(t *testing.T) {
	m := profileOf()
	for _, s := range []struct {
		line int
		v    int64
	}{{30, 1}, {10, 5}, {20, 2}} {
		id := m.Stacks.Add([]model.Frame{{Func: "main.leaf", Line: 99}, {Func: "main.f", File: "/b/f.go", Line: s.line}})
		m.CPU.Samples = append(m.CPU.Samples, model.Sample{Stack: id, Values: []int64{1, s.v}})
	}
	tree := build(t, m, Options{Kind: "cpu"})
	if tree.Line[1] != 10 || tree.Line[2] != 99 || tree.Funcs[tree.Func[1]].File != "/b/f.go" {
		t.Errorf("lines %v, want 10 and 99 of /b/f.go after the root's", tree.Line)
	}
}

func TestDiff(t *testing.T) {
	base := profileOf("main.main;main.old 40", "main.main;main.same 10")
	base.CPU.Duration = 2 * time.Second
	m := profileOf("main.main;main.new 30", "main.main;main.same 5")
	tree := build(t, m, Options{Kind: "cpu", Base: base})
	if tree.Ratio != 0.5 || tree.PerWhat != "second" || tree.BaseTotal != 25 || tree.Total != 35 {
		t.Fatalf("tree %+v, want 35 against 25 per second, ratio 0.5", tree)
	}
	got := map[string][2]int64{}
	for i := range tree.Func[1:] {
		got[tree.Funcs[tree.Func[i+1]].Name] = [2]int64{tree.Sum[i+1], tree.Base[i+1]}
	}
	want := map[string][2]int64{"main.main": {35, 25}, "main.new": {30, 0}, "main.old": {0, 20}, "main.same": {5, 5}}
	if !maps.Equal(got, want) {
		t.Errorf("sums and bases = %v, want %v", got, want)
	}
	if !strings.Contains(tree.Note, "Operations are not known") {
		t.Errorf("note %q, want that operations are not known", tree.Note)
	}
	same := build(t, m, Options{Kind: "cpu", Base: m})
	if !slices.Equal(same.Base, same.Sum) || same.Ratio != 1 {
		t.Error("a run differs from itself")
	}
}

func TestDiffPerOperation(t *testing.T) {
	base, m := profileOf("main.f 1000"), profileOf("main.f 600")
	base.Load = &model.Load{Tool: "k6", Ops: 100, Rate: 100, Duration: time.Second}
	m.Load = &model.Load{Tool: "k6", Ops: 300, Rate: 300, Duration: time.Second}
	tree := build(t, m, Options{Kind: "cpu", Base: base})
	if math.Abs(tree.Ratio-3) > 1e-9 || tree.PerWhat != "operation" || tree.Base[1] != 3000 {
		t.Errorf("ratio %v per %s, base %v; want 3 per operation, 3000", tree.Ratio, tree.PerWhat, tree.Base)
	}
}

// What is of one moment has no length to be divided by.
func TestDiffOfMoments(t *testing.T) {
	with := func(v int64) *model.Model {
		m := profileOf()
		m.Goroutines.End = &model.Profile{Types: []model.ValueType{{Name: "goroutine", Unit: "count"}}, Samples: []model.Sample{{Stack: stackOf(m, "main.f"), Values: []int64{v}}}}
		m.Run.Duration = time.Duration(v) * time.Second
		return m
	}
	tree := build(t, with(3), Options{Kind: "goroutine", Base: with(7)})
	if tree.Ratio != 1 || tree.PerWhat != "" || tree.Base[1] != 7 || tree.Unit != "count" {
		t.Errorf("tree %+v, want counts against 7, ratio 1", tree)
	}
}

func schedModel() *model.Model {
	m := &model.Model{Run: model.Run{Duration: time.Second}}
	send := stackOf(m, "main.worker;main.put;runtime.chansend1")
	read := stackOf(m, "main.worker;os.(*File).Read;syscall.Read")
	waker := stackOf(m, "main.main;runtime.chanrecv1")
	m.Sched = &model.Sched{
		Groups: []model.Group{
			{Name: "main.worker", Times: model.Times{Running: 700 * ms, Runnable: 100 * ms, Syscall: 50 * ms, Blocked: map[string]time.Duration{"chan send": 1100 * ms, "sleep": 50 * ms}}},
			{Name: "", Times: model.Times{Unknown: 40 * ms, Blocked: map[string]time.Duration{"": 60 * ms}}},
		},
		Waits: []model.Wait{
			{Kind: model.Sync, Reason: "chan send", Stack: send, Group: "main.worker", Count: 11, Total: 1000 * ms},
			{Kind: model.SchedWait, Stack: waker, Group: "main.worker", Count: 9, Total: 100 * ms},
			{Kind: model.SyscallWait, Stack: read, Group: "main.worker", Count: 5, Total: 45 * ms},
			{Kind: model.OtherWait, Reason: "sleep", Group: "main.worker", Count: 1, Total: 50 * ms},
			{Kind: model.Net, Reason: "network", Group: "", Count: 2, Total: 900 * ms},
		},
	}
	return m
}

// Whatever is recorded as stacks with values has a tree.
func TestProfilesHaveKinds(t *testing.T) {
	for _, src := range model.Sources() {
		if src.IsProfile() && !slices.ContainsFunc(kinds, func(k kind) bool { return k.source == src }) {
			t.Errorf("no kind of tree is of %s, want one", src)
		}
	}
}

func TestTraceKinds(t *testing.T) {
	m := schedModel()
	n := func(d time.Duration) int64 { return int64(d) }
	tests := map[string]map[string]int64{
		"sync":    {"": n(1000 * ms), "/main.worker": n(1000 * ms), "/main.worker/main.put": n(1000 * ms), "/main.worker/main.put/runtime.chansend1": n(1000 * ms)},
		"sched":   {"": n(100 * ms), "/main.worker": n(100 * ms), "/main.worker/[made ready by]": n(100 * ms), "/main.worker/[made ready by]/main.main": n(100 * ms), "/main.worker/[made ready by]/main.main/runtime.chanrecv1": n(100 * ms)},
		"other":   {"": n(50 * ms), "/main.worker": n(50 * ms), "/main.worker/[sleep]": n(50 * ms)},
		"net":     {"": n(900 * ms), "/" + NoGroup: n(900 * ms), "/" + NoGroup + "/[network]": n(900 * ms)},
		"syscall": {"": n(45 * ms), "/main.worker": n(45 * ms), "/main.worker/os.(*File).Read": n(45 * ms), "/main.worker/os.(*File).Read/syscall.Read": n(45 * ms)},
	}
	for kind, want := range tests {
		if got := paths(build(t, m, Options{Kind: kind})); !maps.Equal(got, want) {
			t.Errorf("%s: got %v\nwant %v", kind, got, want)
		}
	}
	states := build(t, m, Options{Kind: "states"})
	if states.Total != int64(m.Sched.Total().Total()) {
		t.Errorf("states are %d in all, want %d as of the goroutines", states.Total, m.Sched.Total().Total())
	}
	got := paths(states)
	for path, want := range map[string]time.Duration{
		"/main.worker/[blocked: chan send]":                            1100 * ms,
		"/main.worker/[blocked: chan send]/main.put/runtime.chansend1": 1000 * ms,
		"/main.worker/[system call]/os.(*File).Read":                   45 * ms,
		"/main.worker/[running]":                                       700 * ms,
		"/" + NoGroup + "/[blocked, reason not recorded]":              60 * ms,
	} {
		if got[path] != int64(want) {
			t.Errorf("%s is %v, want %v", path, time.Duration(got[path]), want)
		}
	}
}

func TestKinds(t *testing.T) {
	m := schedModel()
	m.CPU = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}}, Samples: []model.Sample{{Values: []int64{3}}}}
	heap := []model.ValueType{{Name: "alloc_objects", Unit: "count"}, {Name: "alloc_space", Unit: "bytes"}, {Name: "inuse_objects", Unit: "count"}, {Name: "inuse_space", Unit: "bytes"}}
	m.Heap = &model.Profile{Types: heap, Samples: []model.Sample{{Values: []int64{1, 20, 0, 0}}}}
	m.LiveHeap.End = &model.Profile{Types: heap, Samples: []model.Sample{{Values: []int64{1, 20, 3, 40}}, {Values: []int64{0, 0, -1, -10}}}}
	m.Mutex = &model.Profile{Types: []model.ValueType{{Name: "contentions", Unit: "count"}, {Name: "delay", Unit: "nanoseconds"}}}
	want := []Kind{
		{"cpu", "count", 3}, {"states", "nanoseconds", int64(2100 * ms)}, {"net", "nanoseconds", int64(900 * ms)}, {"sync", "nanoseconds", int64(time.Second)},
		{"syscall", "nanoseconds", int64(45 * ms)}, {"sched", "nanoseconds", int64(100 * ms)}, {"other", "nanoseconds", int64(50 * ms)},
		{"alloc_space", "bytes", 20}, {"alloc_objects", "count", 1}, {"inuse_space", "bytes", 30}, {"inuse_objects", "count", 2},
	}
	got := Kinds(m)
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, k := range got {
		if tree := build(t, m, Options{Kind: k.Name}); tree.Total != k.Total || tree.Unit != k.Unit || tree.Note == "" {
			t.Errorf("%s: the tree has %d %s, note %q; want %d %s as in the list, and a note", k.Name, tree.Total, tree.Unit, tree.Note, k.Total, k.Unit)
		}
	}
}

func TestGroup(t *testing.T) {
	m := profileOf("main.main;main.a 5", "runtime.goexit;main.worker;main.a 3", "net/http.(*conn).serve;main.a 4", "runtime.mstart;runtime.schedule 1", " 1")
	m.CPU.Samples[2].Group = "main.renamed"
	tree := build(t, m, Options{Kind: "cpu"})
	if want := []string{"main.main", "main.renamed", "main.worker", NoGroup}; !slices.Equal(tree.Groups, want) {
		t.Errorf("groups %q, want %q", tree.Groups, want)
	}
	only := build(t, m, Options{Kind: "cpu", Group: "main.worker"})
	if want := map[string]int64{"": 3, "/main.worker": 3, "/main.worker/main.a": 3}; !maps.Equal(paths(only), want) {
		t.Errorf("paths = %v, want %v", paths(only), want)
	}
	if !slices.Equal(only.Groups, tree.Groups) {
		t.Error("the groups to choose from went away with the others' stacks")
	}
	if none := build(t, m, Options{Kind: "cpu", Group: NoGroup}); none.Total != 2 {
		t.Errorf("without a start function: %d", none.Total)
	}
	if _, err := Build(m, Options{Kind: "cpu", Group: "main.other"}); !problem.Is(err, problem.Absence) || !strings.HasPrefix(err.Error(), "this run") {
		t.Errorf("a group that is not there: error %v, want an absence in this run", err)
	}
}

func TestKernelFrames(t *testing.T) {
	m := profileOf()
	p := &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}}
	m.Kernel = &model.Kernel{CPU: p, UserOnly: true}
	deep := m.Stacks.Add([]model.Frame{{PC: 0xffffffff81000010, Func: "write"}, {PC: 0xffffffff81000000, Func: "do_syscall_64"}, {PC: 0x1000, Func: "write"}, {PC: 0x2000, Func: "main.f"}})
	flat := m.Stacks.Add([]model.Frame{{PC: 0x1000, Func: "syscall.Syscall"}, {PC: 0x2000, Func: "main.f"}})
	p.Samples = []model.Sample{
		{Stack: deep, Values: []int64{1, 10}, Labels: map[string]string{"mode": "kernel", "syscall": "write"}},
		{Stack: flat, Values: []int64{1, 7}, Labels: map[string]string{"mode": "kernel", "syscall": "read"}},
	}
	tree := build(t, m, Options{Kind: "kernel"})
	want := map[string]int64{"": 17, "/main.f": 17, "/main.f/write": 10, "/main.f/write/do_syscall_64": 10, "/main.f/write/do_syscall_64/write": 10, "/main.f/syscall.Syscall": 7, "/main.f/syscall.Syscall/[kernel: read]": 7}
	if got := paths(tree); !maps.Equal(got, want) {
		t.Errorf("paths = %v, want %v", got, want)
	}
	owners := map[string][]Owner{}
	for _, f := range tree.Funcs {
		owners[f.Name] = append(owners[f.Name], f.Owner)
	}
	slices.Sort(owners["write"])
	if !slices.Equal(owners["write"], []Owner{Dep, Kernel}) || owners["[kernel: read]"][0] != Kernel || owners["main.f"][0] != Own {
		t.Errorf("owners %v, want write of a dependency and of the kernel, read of the kernel, main.f of the program", owners)
	}
}

// Values below zero are of profiles that are a difference: they count with the
// rest of their stack, and a stack that is below zero is left out.
func TestBelowZero(t *testing.T) {
	tree := build(t, profileOf("main.a 5", "main.a -2", "main.b 4", "main.b -9"), Options{Kind: "cpu"})
	// Each line has a stack of its own here, as two reads of a profile give.
	if tree.Total != 9 || !strings.Contains(tree.Note, "2 stacks") {
		t.Errorf("total %d, note %q; want 9, without 2 stacks", tree.Total, tree.Note)
	}
	m := profileOf("main.a 5")
	m.CPU.Samples = append(m.CPU.Samples, model.Sample{Stack: m.CPU.Samples[0].Stack, Values: []int64{1, -2}})
	if tree := build(t, m, Options{Kind: "cpu"}); tree.Total != 3 || Kinds(m)[0].Total != 3 {
		t.Errorf("total %d, of the kind %d; want 3", tree.Total, Kinds(m)[0].Total)
	}
}

func TestTooLarge(t *testing.T) {
	m := profileOf(fmt.Sprintf("main.a %d", int64(math.MaxInt64)), fmt.Sprintf("main.b %d", int64(math.MaxInt64)))
	if _, err := Build(m, Options{Kind: "cpu"}); !problem.Is(err, problem.Failure) {
		t.Errorf("too large a total: error %v, want a failure", err)
	}
	if k := Kinds(m); k[0].Total != math.MaxInt64 {
		t.Errorf("kinds %v, want a total of %d", k, int64(math.MaxInt64))
	}
	if _, err := Build(m, Options{Kind: "nonsense"}); !problem.Is(err, problem.Misuse) {
		t.Errorf("an unknown kind: error %v, want misuse", err)
	}
}

func TestLongNames(t *testing.T) {
	m := profileOf()
	long := strings.Repeat("é", 5<<20)
	frames := make([]model.Frame, 5000)
	for i := range frames {
		frames[i] = model.Frame{Func: long, File: long, Line: i}
	}
	m.Block = &model.Profile{Types: m.CPU.Types, Samples: []model.Sample{{Stack: m.Stacks.Add(frames), Values: []int64{1, 1}}}}
	tree := build(t, m, Options{Kind: "block"})
	f := tree.Funcs[0]
	if len(tree.Funcs) != 1 || len(tree.Parent) != maxDepth+1 || !utf8.ValidString(f.Name) || !strings.HasSuffix(f.Name, "…") || len(f.File) > maxName+3 {
		t.Errorf("%d functions, %d nodes, name of %d bytes; want 1, %d and a name that is cut", len(tree.Funcs), len(tree.Parent), len(f.Name), maxDepth+1)
	}
	many := make([]Func, 10_000)
	for i := range many {
		many[i] = Func{Name: long[:maxName], File: long[:maxName]}
	}
	shorten(many)
	if all := len(many) * (len(many[0].Name) + len(many[0].File)); all > maxNames+10*len(many) {
		t.Errorf("names of %d bytes in all, want at most %d", all, maxNames+10*len(many))
	}
}

func TestOwners(t *testing.T) {
	const mod = "/go/pkg/mod/github.com/x/y@v1.2.3/y.go"
	tests := []struct {
		name, file    string
		with, without Owner // with and without build info of module gopkg.in/app.v2
	}{
		{"main.main", "/src/main.go", Own, Own},
		{"gopkg.in/app%2ev2.Run", "/src/run.go", Own, Own},
		{"gopkg.in/app.v2/store.(*DB[go.shape.int]).Get", "/src/store/db.go", Own, Own},
		{"gopkg.in/app%2ev2_test.TestRun", "/src/run_test.go", Own, Own},
		{"gopkg.in/app.v22/x.F", "/src/x.go", Dep, Own},
		{"github.com/x/y.F", mod, Dep, Dep},
		{"github.com/x/y.F", "", Dep, Dep},
		{"app/y.F", "", Dep, Own},
		{"github.com/x/y.F", "/src/vendor/github.com/x/y/y.go", Dep, Dep},
		{"net/http.(*conn).serve", "/go/src/net/http/server.go", Std, Std},
		{"vendor/golang.org/x/net/http2/hpack.F", "", Std, Std},
		{"runtime/pprof.StartCPUProfile", "", Std, Std},
		{"runtime.mallocgc", "", Runtime, Runtime},
		{"internal/runtime/maps.(*Map).getWithKey", "", Runtime, Runtime},
		{"internal/bytealg.IndexByte", "", Runtime, Runtime},
		{"type:.eq.main.T", "", Runtime, Runtime},
		{"aeshashbody", "/go/src/runtime/asm_amd64.s", Runtime, Runtime},
		{"memeqbody", "/go/src/internal/bytealg/equal_amd64.s", Runtime, Runtime},
		{"[blocked: chan send]", "", Runtime, Runtime},
		{"(no stack)", "", Runtime, Runtime},
		{"malloc", "/lib/libc.so.6", Dep, Dep},
		{"0x4711", "", Dep, Dep},
		{"", "", Dep, Dep},
		{"do_syscall_64", kernelFile, Kernel, Kernel},
	}
	with := OwnersOf(&model.Model{Build: &model.Build{Module: "gopkg.in/app.v2"}})
	without := OwnersOf(&model.Model{Build: &model.Build{Module: "command-line-arguments"}})
	for _, tt := range tests {
		f := model.Frame{Func: tt.name, File: tt.file}
		if got := with.OwnerOf(f); got != tt.with {
			t.Errorf("%q in %q: %v, want %v", tt.name, tt.file, got, tt.with)
		}
		if got := without.OwnerOf(f); got != tt.without {
			t.Errorf("%q in %q without build info: %v, want %v", tt.name, tt.file, got, tt.without)
		}
	}
	if got := with.OwnerOf(model.Frame{Func: "main.f", PC: 1 << 63}); got != Kernel {
		t.Errorf("Of(an address of the kernel) = %v, want %v", got, Kernel)
	}
}

// Build must survive whatever a profile holds.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("abc\x00abd\x01\xff\x02aaaa\x03"), uint8(0), false)
	f.Add([]byte{0x80, 0x41, 0, 0xff, 0x7f, 0x42, 0x80, 0x41, 0x42, 0x43}, uint8(7), true)
	f.Add([]byte("\x07fffffffffffffffffffffffffffffffffffffff"), uint8(3), true)
	f.Fuzz(func(t *testing.T, data []byte, limit uint8, diff bool) {
		m, base := hostileModel(data), hostileModel(data[len(data)/2:])
		for _, kind := range []string{"cpu", "kernel", "sync", "states", "inuse_space"} {
			o := Options{Kind: kind, Limit: int(limit), Min: float64(limit%4) / 100}
			if diff {
				o.Base = base
			}
			tree, err := Build(m, o)
			if err != nil {
				continue
			}
			check(t, tree, o.Limit == 0 && o.Min == 0)
		}
		Kinds(m)
	})
}

// hostileModel makes stacks, values, labels and groups from bytes.
func hostileModel(data []byte) *model.Model {
	m := &model.Model{Run: model.Run{Duration: time.Duration(len(data)) * ms}}
	types := []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "inuse_space", Unit: "nanoseconds"}}
	p := &model.Profile{Types: types, Duration: time.Duration(len(data)%7) * ms}
	m.CPU, m.Kernel, m.LiveHeap.End = p, &model.Kernel{CPU: p}, p
	m.Sched = &model.Sched{Groups: []model.Group{{Name: "a", Times: model.Times{Blocked: map[string]time.Duration{"a": time.Duration(len(data)) * ms}}}}}
	for len(data) > 2 {
		n := min(int(data[0]%9), len(data)-2)
		var frames []model.Frame
		for _, b := range data[1 : 1+n] {
			frames = append(frames, model.Frame{PC: uint64(b) << 56, Func: string(rune(b)), Line: int(int8(b))})
		}
		v := int64(int8(data[1+n])) << (data[0] % 64)
		s := model.Sample{Stack: m.Stacks.Add(frames), Values: []int64{1, v}}
		if data[0]%3 == 0 {
			s.Labels = map[string]string{"mode": "kernel"}
			s.Values = s.Values[:1+n%2]
		}
		p.Samples = append(p.Samples, s)
		m.Sched.Waits = append(m.Sched.Waits, model.Wait{Kind: model.Sync, Reason: "a", Group: string(rune('a' + n%2)), Stack: s.Stack, Total: time.Duration(v)})
		data = data[2+n:]
	}
	return m
}

// BenchmarkBuild makes a tree of about 175,000 nodes from a million samples.
func BenchmarkBuild(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	m := profileOf()
	var stacks []model.Stack
	for range 16_000 {
		var names []string
		at := r.IntN(6)
		for depth := range 10 + r.IntN(18) {
			names = append(names, fmt.Sprintf("example.com/app/pkg%d.(*Type%d).Method%d", depth, at%7, at))
			at = (at*31 + int(math.Abs(r.NormFloat64())*1.2)) % 997
		}
		stacks = append(stacks, stackOf(m, strings.Join(names, ";")))
	}
	for range 1_000_000 {
		m.CPU.Samples = append(m.CPU.Samples, model.Sample{Stack: stacks[r.IntN(len(stacks))], Values: []int64{1, 10e6}})
	}
	for b.Loop() {
		tree, err := Build(m, Options{Kind: "cpu"})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(tree.Parent)+tree.LeftNodes), "nodes")
	}
}

// A profile of all allocations says what is in use, where no heap profile does; one
// of a window says only by how much that grew.
func TestLiveHeap(t *testing.T) {
	whole, window, end := &model.Profile{}, &model.Profile{Duration: time.Second}, &model.Profile{}
	for _, c := range []struct{ heap, end, want *model.Profile }{
		{nil, nil, nil}, {whole, nil, whole}, {window, nil, nil}, {whole, end, end}, {window, end, end},
	} {
		m := &model.Model{Heap: c.heap}
		m.LiveHeap.End = c.end
		if got := m.InUse(); got != c.want {
			t.Errorf("InUse() of %p and %p = %p, want %p", c.heap, c.end, got, c.want)
		}
	}
}

// A tree of a label has the samples with it, and names the labels that there are.
func TestLabels(t *testing.T) {
	m := &model.Model{CPU: &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}}}
	for i, labels := range []map[string]string{{"route": "/a", "tenant": "x"}, {"route": "/b=1"}, nil} {
		s := m.Stacks.Add([]model.Frame{{Func: "main.f", Line: i + 1}})
		m.CPU.Samples = append(m.CPU.Samples, model.Sample{Stack: s, Values: []int64{1, 10 * int64(i+1)}, Labels: labels})
	}
	for label, want := range map[string]int64{"": 60, "route=/a": 10, "tenant=x": 10, "route=/b=1": 20} {
		tree, err := Build(m, Options{Kind: "cpu", Label: label})
		if err != nil {
			t.Fatal(err)
		}
		if tree.Total != want || !slices.Equal(tree.Labels, []string{"route=/b=1", "route=/a", "tenant=x"}) {
			t.Errorf("with label %q: %d of %v, want %d of the three labels", label, tree.Total, tree.Labels, want)
		}
	}
	for _, label := range []string{"route=/c", "route", "=", "nobody=x"} {
		if tree, err := Build(m, Options{Kind: "cpu", Label: label}); err == nil {
			t.Errorf("with label %q: %d", label, tree.Total)
		}
	}
	lines, err := LinesOf(m, "cpu", "", "tenant=x", "main.f")
	if err != nil || len(lines.Lines) != 1 || lines.Lines[0] != (Line{Number: 1, Self: 10, Sum: 10}) || lines.Total != 10 {
		t.Errorf("lines with a label = %+v, %v; want line 1 with 10 of 10", lines, err)
	}
}
