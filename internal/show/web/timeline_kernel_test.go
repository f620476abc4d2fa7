package web

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/know/model"
)

const kernelPeriod = 5 * time.Millisecond

// kernelView is timelineView's run of a tenth of a second with samples: of futex
// with two stacks, of a page fault and of user code.
func kernelView(t *testing.T, moments ...model.KernelMoment) *View {
	t.Helper()
	v := timelineView(t)
	m := v.Model
	p := &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}}
	for _, s := range []struct {
		mode, call string
		stack      []model.Frame
	}{
		{"kernel", "futex", []model.Frame{{Func: "futex_wake", PC: 1 << 63}, {Func: "runtime.futex"}, {Func: "main.work"}}},
		{"user", "", []model.Frame{{Func: "main.work", File: "/src/work.go", Line: 7}}},
		{"kernel", "page fault", []model.Frame{{Func: "clear_page", PC: 1 << 63}, {Func: "main.work"}}},
		{"kernel", "futex", []model.Frame{{Func: "futex_wait", PC: 1 << 63}, {Func: "runtime.futex"}, {Func: "main.rest"}}},
	} {
		labels := map[string]string{"mode": s.mode, "thread": "app"}
		if s.call != "" {
			labels["syscall"] = s.call
		}
		p.Samples = append(p.Samples, model.Sample{Stack: m.Stacks.Add(s.stack), Labels: labels, Values: []int64{10, 10 * int64(kernelPeriod)}})
	}
	m.Kernel = &model.Kernel{CPU: p, Moments: moments}
	return v
}

// someMoments are samples of two CPUs, and one before and one after the timeline.
func someMoments() []model.KernelMoment {
	at := func(ms float64, cpu, sample int32) model.KernelMoment {
		return model.KernelMoment{At: time.Duration(ms * 1e6), Thread: 9 + cpu, CPU: cpu, Sample: sample}
	}
	return []model.KernelMoment{at(-1, 0, 1), at(2, 0, 0), at(12, 0, 1), at(17, 0, 1), at(17.5, 3, 3), at(20, 0, 2), at(60, 3, 1), at(150, 0, 1)}
}

func TestKernelLanes(t *testing.T) {
	v := kernelView(t, someMoments()...)
	value, err := v.timeline(nil)
	lanes := ask[Timeline](t, value, err).Lanes
	i := slices.IndexFunc(lanes, func(l timeline.Lane) bool { return l.ID == "kernel" })
	if i < 0 || len(lanes) != i+3 {
		t.Fatalf("lanes %+v, want kernel and its two CPUs last", lanes)
	}
	if head := lanes[i]; head.Kind != "kernel" || head.Count != 6 || head.Children != 2 || head.Peak != 2 || head.Total != 6*kernelPeriod {
		t.Errorf("lane of the kernel %+v, want 6 samples on 2 CPUs, 2 at once", head)
	}
	if cpu := lanes[i+2]; cpu.ID != "kernel:3" || cpu.Parent != "kernel" || cpu.Kind != "cpu" || cpu.Label != "CPU 3" || cpu.Count != 2 {
		t.Errorf("lane %+v, want CPU 3 with 2 samples", cpu)
	}
	value, err = v.lanes(asked("parent=kernel&offset=1&limit=5"))
	if page := ask[Lanes](t, value, err); page.Total != 2 || len(page.Lanes) != 1 || page.Lanes[0].ID != "kernel:3" {
		t.Errorf("lanes(offset 1) = %+v, want CPU 3, the second of 2", page)
	}
	value, err = v.lanes(asked("parent=kernel&offset=9"))
	if page := ask[Lanes](t, value, err); page.Total != 2 || len(page.Lanes) != 0 {
		t.Errorf("lanes(offset 9) = %+v, want none of 2", page)
	}
}

// Without samples that have a time there is no lane, and who asks for one is told
// how to get them.
func TestNoKernelLanes(t *testing.T) {
	without := kernelView(t)
	before := kernelView(t, someMoments()[0])
	nothing := timelineView(t)
	for name, v := range map[string]*View{"no times": without, "none in the timeline": before, "no samples": nothing} {
		value, err := v.timeline(nil)
		for _, l := range ask[Timeline](t, value, err).Lanes {
			if isKernelLane(l.ID) {
				t.Errorf("%s: lane %+v, want none of the kernel", name, l)
			}
		}
		if head, _ := kernelTiles(t, v, "level=19&tile=0&lanes=kernel,ps"); len(head.Lanes) != 1 || head.Lanes[0].ID != "ps" {
			t.Errorf("%s: tiles of kernel and ps = %+v, want ps only", name, head)
		}
		for what, f := range map[string]func() (any, error){
			"at":     func() (any, error) { return v.at(asked("lane=kernel&at=5")) },
			"select": func() (any, error) { return v.selection(asked("lanes=kernel:3")) },
			"lanes":  func() (any, error) { return v.lanes(asked("parent=kernel")) },
		} {
			_, err := f()
			if !refused(err, "no kernel samples") {
				t.Errorf("%s, %s: error %v, want one with \"no kernel samples\"", name, what, err)
			} else if p, status := explain(err); p.Hint == "" || status != 404 {
				t.Errorf("%s, %s: problem %+v, status %d; want a hint and 404", name, what, p, status)
			}
		}
		value, err = v.selection(nil)
		if s := ask[Selection](t, value, err); s.Kernel != nil {
			t.Errorf("%s: kernel of the selection = %+v, want nil", name, s.Kernel)
		}
	}
}

// kernelTiles reads an answer of tiles: its head, and the bytes of the lanes that
// have some.
func kernelTiles(t *testing.T, v *View, q string) (head Tiles, rest []byte) {
	t.Helper()
	data, err := v.tiles(asked(q))
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint32(data)
	if err := json.Unmarshal(data[4:4+n], &head); err != nil {
		t.Fatal(err)
	}
	return head, data[4+n:]
}

// Of a CPU the few samples of a tile are exact stretches, which do not overlap.
func TestKernelStretches(t *testing.T) {
	v := kernelView(t, someMoments()...)
	head, rest := kernelTiles(t, v, "level=19&tile=0&lanes=kernel:0,kernel:3,kernel:77,kernel:x")
	if len(head.Lanes) != 3 || !head.Lanes[2].Empty || len(rest) != 0 {
		t.Fatalf("tiles = %+v and %d bytes, want 3 lanes, the last of them empty, and no bytes", head, len(rest))
	}
	type s = [3]int64
	var got []s
	for _, x := range head.Lanes[0].Spans {
		got = append(got, s{x.FromNS, x.ToNS, int64(x.State)})
	}
	run, call := int64(timeline.Running), int64(timeline.Syscall)
	// The sample at 17 ms bounds the one at 20.
	want := []s{{-3e6, 2e6, call}, {7e6, 12e6, run}, {12e6, 17e6, run}, {17e6, 20e6, call}}
	if !slices.Equal(got, want) {
		t.Errorf("spans %v, want %v", got, want)
	}
	if x := head.Lanes[0].Spans[0]; x.Reason != "futex" || x.Thread != 9 || x.Goroutine != -1 {
		t.Errorf("span %+v, want futex by thread 9 of no goroutine", x)
	}
	if x := head.Lanes[0].Spans[1]; x.Reason != "main.work" {
		t.Errorf("span %+v, want main.work", x)
	}
}

// At every level the picture has the time of the samples, to what a byte can tell.
func TestKernelPictureAddsUp(t *testing.T) {
	apart := someMoments()
	apart[5].At = 22 * time.Millisecond // else three would overlap on two CPUs
	v := kernelView(t, apart...)
	lowest, coarsest := v.Timeline.Levels()
	if coarsest-lowest < 1 {
		t.Fatalf("levels %d to %d, want two at least", lowest, coarsest)
	}
	for level := lowest; level <= coarsest; level++ {
		var ns, tolerance [timeline.NumStates]float64
		for tile := int64(0); tile <= int64(v.Timeline.Length())>>(level+8); tile++ {
			head, rest := kernelTiles(t, v, fmt.Sprintf("level=%d&tile=%d&lanes=kernel", level, tile))
			if l := head.Lanes[0]; l.Empty != (len(rest) == 0) || l.Max < 1 || l.Max > 2 {
				t.Fatalf("level %d, tile %d: %+v and %d bytes, want bytes unless it is empty, and a max of 1 to 2", level, tile, l, len(rest))
			}
			if len(rest) == 0 {
				continue
			}
			for b := range tileBuckets {
				for state := range timeline.NumStates {
					if share := rest[b*timeline.NumStates+state]; share > 0 {
						ns[state] += float64(share) / 255 * head.Lanes[0].Max * float64(int64(1)<<level)
						tolerance[state] += head.Lanes[0].Max / 255 * float64(int64(1)<<level)
					}
				}
			}
		}
		// The sample at 2 ms began before the timeline.
		for state, want := range map[timeline.State]float64{timeline.Running: 15e6, timeline.Syscall: 12e6} {
			if math.Abs(ns[state]-want) > tolerance[state] {
				t.Errorf("level %d: %v for %.0f ns, want %.0f ± %.0f", level, state, ns[state], want, tolerance[state])
			}
		}
	}
}

// Many samples are binned, and those of a hostile recording, all of one moment,
// are no higher than the CPUs.
func TestManyKernelSamples(t *testing.T) {
	var many []model.KernelMoment
	for i := range 2000 {
		many = append(many, model.KernelMoment{At: time.Duration(i) * 40 * time.Microsecond, CPU: int32(i % 2), Sample: int32(i % 4)})
	}
	v := kernelView(t, many...)
	head, rest := kernelTiles(t, v, "level=19&tile=0&lanes=kernel,kernel:1")
	if len(head.Lanes) != 2 || head.Lanes[0].Max > 2.001 || head.Lanes[1].Max != 1 || len(head.Lanes[1].Spans) != 0 || len(rest) != 2*tileBuckets*(timeline.NumStates+1) {
		t.Fatalf("tiles = %+v and %d bytes, want 2 lanes in buckets without spans, at most 2 at once", head, len(rest))
	}
	full := 0
	for bucket := range slices.Chunk(rest[tileBuckets*(timeline.NumStates+1):][:tileBuckets*timeline.NumStates], timeline.NumStates) {
		if sum := int(bucket[timeline.Running]) + int(bucket[timeline.Syscall]); sum >= 254 && sum <= 256 {
			full++
		}
	}
	if want := 80 * 1e6 / (1 << 19); math.Abs(float64(full)-want) > 2 {
		t.Errorf("%d buckets are full, want %.0f", full, want)
	}
	same := slices.Repeat([]model.KernelMoment{{At: 50e6, CPU: 1}}, 1<<18)
	lowest, _ := v.Timeline.Levels()
	head, _ = kernelTiles(t, kernelView(t, same...), fmt.Sprintf("level=%d&tile=%d&lanes=kernel,kernel:1", lowest, int64(49e6)>>(lowest+8)))
	if head.Lanes[0].Max != 1 || len(head.Lanes[1].Spans) != 1 {
		t.Errorf("tiles = %+v, want at most 1 at once and one span", head)
	}
}

func TestKernelMoment(t *testing.T) {
	v := kernelView(t, someMoments()...)
	for _, c := range []struct {
		query    string
		from, to int64
		state    int
		text     string
		leaf     string
	}{
		{"lane=kernel:0&at=11000000", 7e6, 12e6, int(timeline.Running), "CPU 0 ran thread 9 (app) in user code: main.work", "main.work"},
		{"lane=kernel:0&at=19999999", 17e6, 20e6, int(timeline.Syscall), "CPU 0 ran thread 9 (app) in the kernel: page fault", "clear_page"},
		{"lane=kernel&at=1000000", -3e6, 2e6, int(timeline.Syscall), "CPU 0 ran thread 9 (app) in the kernel: futex", "futex_wake"},
		{"lane=kernel&at=30000000", 20e6, 55e6, -1, "no sample", ""},
		{"lane=kernel:3&at=30000000", 17.5e6, 55e6, -1, "no sample", ""},
		{"lane=kernel:3&at=90000000", 60e6, 1e8, -1, "no sample", ""},
		{"lane=kernel:77&at=5", 0, 1e8, -1, "no sample", ""},
	} {
		value, err := v.at(asked(c.query))
		m := ask[Moment](t, value, err)
		leaf := ""
		if len(m.Stack) > 0 {
			leaf = m.Stack[0].Func
		}
		if m.Span.FromNS != c.from || m.Span.ToNS != c.to || m.Span.State != c.state || !strings.HasPrefix(m.Text, c.text) || leaf != c.leaf || m.Pending {
			t.Errorf("at(%s) = %+v, want %d to %d, %v, text %q, leaf %q, not pending", c.query, m, c.from, c.to, c.state, c.text, c.leaf)
		}
	}
	if _, err := v.at(asked("lane=kernel:-1&at=0")); !refused(err, "no lane") {
		t.Errorf("at(kernel:-1): error %v, want one with \"no lane\"", err)
	}
}

func TestKernelSelection(t *testing.T) {
	v := kernelView(t, someMoments()...)
	value, err := v.selection(asked("from=2000000&to=60000000&lanes=kernel"))
	s := ask[Selection](t, value, err)
	if len(s.States) != 2 || s.States[0].State != "running" || s.States[0].Count != 2 || s.States[1].NS != int64(3*kernelPeriod) {
		t.Errorf("states %+v, want 2 running and 3 periods of the kernel", s.States)
	}
	k := s.Kernel
	if k == nil || k.Samples != 5 || k.InKernel != 3 || k.PeriodNS != int64(kernelPeriod) {
		t.Fatalf("kernel of the selection = %+v, want 5 samples, 3 in the kernel, each of a period", k)
	}
	if want := []KernelCall{{"futex", 2, int64(2 * kernelPeriod)}, {"page fault", 1, int64(kernelPeriod)}}; !slices.Equal(k.Calls, want) {
		t.Errorf("calls %+v, want %+v", k.Calls, want)
	}
	if len(k.Stacks) != 4 || k.Stacks[2].State != "kernel" || k.Stacks[3].State != "user" || k.Stacks[3].Count != 2 || k.Stacks[3].Stack[0].Line != 7 {
		t.Errorf("stacks %+v, want 4: from the third on one of the kernel, then 2 samples of the user's line 7", k.Stacks)
	}
	value, err = v.selection(asked("lanes=kernel:3"))
	if k := ask[Selection](t, value, err).Kernel; k.Samples != 2 || k.InKernel != 1 {
		t.Errorf("kernel of CPU 3 = %+v, want 2 samples, 1 in the kernel", k)
	}
	// Everything has the trace and the samples; some of the trace's lanes have no samples.
	value, err = v.selection(nil)
	if s := ask[Selection](t, value, err); s.Kernel == nil || s.Kernel.Samples != 6 || len(s.Groups) == 0 {
		t.Errorf("selection of everything = %+v, want 6 samples and some groups", s)
	}
	value, err = v.selection(asked("lanes=ps"))
	if s := ask[Selection](t, value, err); s.Kernel != nil || len(s.States) == 0 {
		t.Errorf("selection of Ps = %+v, want states and nothing of the kernel", s)
	}
	value, err = v.selection(asked("lanes=ps,kernel:0"))
	if s := ask[Selection](t, value, err); s.Kernel == nil || s.Kernel.Samples != 4 || len(s.States) == 0 {
		t.Errorf("selection of Ps and CPU 0 = %+v, want states and 4 samples", s)
	}
}

func TestKernelTimesInSources(t *testing.T) {
	v := kernelView(t, someMoments()...)
	v.Members = []Member{{Name: "run.gowhy:kernel.jsonl"}, {Name: "kernel.pb.gz"}}
	value, err := v.sources(nil)
	got := ask[Sources](t, value, err).Members
	if !strings.Contains(got[0].What, "8 samples") || strings.Contains(got[1].What, "8 samples") {
		t.Errorf("members %+v, want the first to say that it has 8 samples and the second not", got)
	}
}
