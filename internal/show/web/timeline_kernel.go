package web

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// The kernel's samples as lanes of the timeline: one of all together, which opens
// into the CPUs. The trace's lanes are package timeline's; these have the same
// tiles on the same clock, so that the page draws them as it draws the others.
//
// A sample is a moment. Drawn as one it would be a pixel wide at any distance, and
// from afar a busy second would look like an idle one. It is taken when a timer
// of the CPU's time has run for a period, so it is drawn as that period before it:
// user code as the state running, the kernel as the state syscall. The lane of all
// then is as high as CPUs were busy, and its area is the profile's time.

// kernelLane is the lane of all samples; that of CPU 3 is kernel:3.
const kernelLane = "kernel"

// maxCPULanes bounds the lanes of CPUs, those with most samples first;
// firstCPULanes of them come with the timeline, the others by pages.
const (
	maxCPULanes   = maxLanePage
	firstCPULanes = 64
)

const tileBuckets = 256

// A kernelSamples is what lanes, tiles and selections are made of.
type kernelSamples struct {
	m      *model.Model
	length time.Duration // of the timeline
	period time.Duration // of CPU time that a sample stands for
	list   []model.KernelMoment
}

// kernelSamples returns those of the run in its timeline; nil when there are none.
func (v *View) kernelSamples() *kernelSamples {
	if v.Timeline == nil || v.Model.Kernel == nil || v.Model.Kernel.CPU == nil || len(v.Model.Kernel.Moments) == 0 {
		return nil
	}
	k := &kernelSamples{m: v.Model, length: v.Timeline.Length(), period: periodOf(v.Model.Kernel.CPU)}
	all := v.Model.Kernel.Moments
	k.list = all[firstAfter(all, -1):firstAfter(all, k.length)]
	if k.period == 0 || len(k.list) == 0 {
		return nil
	}
	return k
}

// periodOf returns the CPU time of one sample of a profile; 0 when it does not tell.
func periodOf(p *model.Profile) time.Duration {
	count, nanos := p.Columns()
	if count < 0 || nanos < 0 {
		return 0
	}
	var n, ns float64
	for i := range p.Samples {
		n += float64(p.Samples[i].Values[count])
		ns += float64(p.Samples[i].Values[nanos])
	}
	if per := ns / n; per >= 1 && per < float64(time.Minute) {
		return time.Duration(per)
	}
	return 0
}

// firstAfter returns the index of the first moment later than a time.
func firstAfter(list []model.KernelMoment, at time.Duration) int {
	return sort.Search(len(list), func(i int) bool { return list[i].At > at })
}

// inKernel returns the stacks that begin in the kernel, by index of the sample.
func (k *kernelSamples) inKernel() []bool {
	in := make([]bool, len(k.m.Kernel.CPU.Samples))
	for i := range in {
		in[i] = k.m.Kernel.CPU.Samples[i].Labels["mode"] == "kernel"
	}
	return in
}

// describe says what a sample was of: in the kernel the system call, fault or interrupt, or
// the kernel's function where it is none of these; in user code the function.
func (k *kernelSamples) describe(sample int32) (what string, kernel bool) {
	s := &k.m.Kernel.CPU.Samples[sample]
	frames := k.m.Stacks.Frames(s.Stack)
	call, kernel := model.KernelCallOf(frames, s.Labels)
	if kernel && call != "kernel" || len(frames) == 0 {
		return call, kernel
	}
	return frames[0].Func, kernel
}

// notSampled returns the answer about lanes that a run does not have.
func (v *View) notSampled() error {
	return missing("this run has no kernel samples with times", diagnosis.HowToGet(&v.Model.Run, model.KernelCPU))
}

// cpuOf reads the name of a kernel lane: all is -1.
func cpuOf(lane string) (cpu int32, ok bool) {
	if lane == kernelLane {
		return -1, true
	}
	number, is := strings.CutPrefix(lane, kernelLane+":")
	n, err := strconv.ParseUint(number, 10, 31)
	return int32(n), is && err == nil
}

// isKernelLane tells the names of our lanes from those of the trace's.
func isKernelLane(lane string) bool {
	return lane == kernelLane || strings.HasPrefix(lane, kernelLane+":")
}

// split parts the kernel's lanes from the trace's.
func split(lanes []string) (kernel, others []string) {
	for _, l := range lanes {
		if isKernelLane(l) {
			kernel = append(kernel, l)
		} else {
			others = append(others, l)
		}
	}
	return kernel, others
}

// lanes returns that of all samples and those that it opens into, the first of them.
func (k *kernelSamples) lanes() []timeline.Lane {
	cpus := k.cpuLanes()
	head := timeline.Lane{ID: kernelLane, Kind: "kernel", Count: len(k.list), Children: len(cpus),
		Total: k.period * time.Duration(len(k.list)), To: k.length, Peak: float64(len(k.cpus()))}
	return append([]timeline.Lane{head}, cpus[:min(len(cpus), firstCPULanes)]...)
}

// cpus returns the CPUs with how many samples each has.
func (k *kernelSamples) cpus() map[int32]int {
	counts := map[int32]int{}
	for _, x := range k.list {
		counts[x.CPU]++
	}
	return counts
}

func (k *kernelSamples) cpuLanes() (lanes []timeline.Lane) {
	for cpu, n := range k.cpus() {
		lanes = append(lanes, timeline.Lane{ID: kernelLane + ":" + strconv.Itoa(int(cpu)), Parent: kernelLane, Kind: "cpu", Label: "CPU " + strconv.Itoa(int(cpu)),
			Count: n, Total: k.period * time.Duration(n), To: k.length, Peak: 1})
	}
	slices.SortFunc(lanes, func(a, b timeline.Lane) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.ID, b.ID)) })
	lanes = lanes[:min(len(lanes), maxCPULanes)]
	slices.SortFunc(lanes, func(a, b timeline.Lane) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return lanes
}

// kernelLanes answers for a page of the lanes of CPUs.
func (v *View) kernelLanes(offset, limit int) (Lanes, error) {
	k := v.kernelSamples()
	if k == nil {
		return Lanes{}, v.notSampled()
	}
	all := k.cpuLanes()
	from := min(offset, len(all))
	return Lanes{Lanes: all[from:min(from+limit, len(all))], Total: len(all)}, nil
}

// A stretch is a sample as it is drawn.
type stretch struct {
	from, to time.Duration
	model.KernelMoment
}

// stretches yields the samples of one CPU, or of all, that have a part in a window, in
// order. Of one CPU they do not overlap: two samples closer than a period share it.
func (k *kernelSamples) stretches(cpu int32, from, to time.Duration, f func(stretch)) {
	before := time.Duration(math.MinInt64)
	// One period earlier, so that the first knows the one before it.
	for _, x := range k.list[firstAfter(k.list, from-k.period):] {
		if x.At-k.period >= to {
			return
		}
		if cpu >= 0 && x.CPU != cpu {
			continue
		}
		s := stretch{x.At - k.period, x.At, x}
		if cpu >= 0 {
			s.from = max(s.from, before)
			before = x.At
		}
		if s.to > from && s.from < to && s.to > s.from {
			f(s)
		}
	}
}

// kernelPictures are tiles of kernel lanes, laid out as the trace's are. The level
// and the tile are some that the timeline has.
func (v *View) kernelPictures(level int, tile int64, lanes []string) (list []timeline.Picture) {
	k := v.kernelSamples()
	if k == nil {
		return nil
	}
	in := k.inKernel()
	for _, id := range lanes {
		if cpu, ok := cpuOf(id); ok {
			list = append(list, k.picture(id, cpu, level, tile, in))
		}
	}
	return list
}

func (k *kernelSamples) picture(id string, cpu int32, level int, tile int64, in []bool) timeline.Picture {
	width := time.Duration(1) << level
	from := time.Duration(tile) * width * tileBuckets
	to := from + width*tileBuckets
	p := timeline.Picture{ID: id, Max: 1}
	var few []stretch
	d := density{begin: from, width: width}
	k.stretches(cpu, from, to, func(s stretch) {
		if cpu >= 0 && len(few) <= timeline.MaxSpans {
			few = append(few, s)
		}
		d.add(s, stateOf(in[s.Sample]))
	})
	sums := d.sums()
	switch {
	case slices.Max(sums) == 0:
		p.Empty = true
	case cpu >= 0 && len(few) <= timeline.MaxSpans:
		for _, s := range few {
			p.Spans = append(p.Spans, k.span(s))
		}
	default:
		if cpu < 0 && highest(sums) > 1 {
			atMost(sums, float64(len(k.cpus())))
		}
		p.Max = math.Max(p.Max, highest(sums))
		p.Shares, p.Marks = shares(sums, p.Max), make([]uint8, tileBuckets)
	}
	return p
}

func stateOf(kernel bool) timeline.State {
	if kernel {
		return timeline.Syscall
	}
	return timeline.Running
}

// A density is how many stretches there are in the buckets of a tile, on average.
// One stretch costs the same however many buckets it fills: a hostile recording
// has a million of them at one moment.
type density struct {
	begin, width time.Duration
	parts        [tileBuckets][timeline.NumStates]float64 // of buckets at the ends of stretches
	change       [tileBuckets + 1][timeline.NumStates]int // of the number of whole ones, from here on
}

func (d *density) add(s stretch, state timeline.State) {
	from, to := max(s.from-d.begin, 0), min(s.to-d.begin, d.width*tileBuckets)
	first, last := from/d.width, (to-1)/d.width
	if first == last {
		d.parts[first][state] += float64(to-from) / float64(d.width)
		return
	}
	d.parts[first][state] += float64((first+1)*d.width-from) / float64(d.width)
	d.parts[last][state] += float64(to-last*d.width) / float64(d.width)
	d.change[first+1][state]++
	d.change[last][state]--
}

// sums returns the buckets one after the other.
func (d *density) sums() []float64 {
	out := make([]float64, 0, tileBuckets*timeline.NumStates)
	var whole [timeline.NumStates]int
	for b := range d.parts {
		for state := range whole {
			whole[state] += d.change[b][state]
			out = append(out, d.parts[b][state]+float64(whole[state]))
		}
	}
	return out
}

// highest returns the largest sum of a bucket over all states.
func highest(sums []float64) (top float64) {
	for bucket := range slices.Chunk(sums, timeline.NumStates) {
		sum := 0.0
		for _, v := range bucket {
			sum += v
		}
		top = max(top, sum)
	}
	return top
}

// atMost lowers the buckets that are higher than they can be: a timer that fires
// late brings two samples of a CPU close together, whose periods overlap.
func atMost(sums []float64, most float64) {
	for bucket := range slices.Chunk(sums, timeline.NumStates) {
		if top := highest(bucket); top > most {
			for i := range bucket {
				bucket[i] *= most / top
			}
		}
	}
}

// shares are sums in units of most/255. What is there is seen: it is at least 1.
func shares(sums []float64, most float64) []uint8 {
	out := make([]uint8, len(sums))
	for i, v := range sums {
		if v > 0 {
			out[i] = uint8(min(max(math.Round(255*v/most), 1), 255))
		}
	}
	return out
}

// span returns a sample as a stretch of its CPU's lane.
func (k *kernelSamples) span(s stretch) timeline.Span {
	what, kernel := k.describe(s.Sample)
	return timeline.Span{From: s.from, To: s.to, State: stateOf(kernel), Reason: what, Goroutine: -1, Proc: -1, Thread: int64(s.Thread)}
}

// kernelAt answers for a moment of a kernel lane: the sample whose stretch is
// there, and where there is none the time from the one before to the next one.
func (v *View) kernelAt(lane string, at time.Duration) (Moment, error) {
	k := v.kernelSamples()
	if k == nil {
		return Moment{}, v.notSampled()
	}
	cpu, ok := cpuOf(lane)
	if !ok {
		return Moment{}, misuse("there is no lane %s", short(lane))
	}
	var found *stretch
	k.stretches(cpu, at, at+1, func(s stretch) {
		if found == nil {
			found = &s
		}
	})
	if found == nil {
		from, to := k.gap(cpu, at)
		return Moment{Span: Span{FromNS: int64(from), ToNS: int64(to), State: -1, Goroutine: -1, Proc: -1, Thread: -1},
			Text: fmt.Sprintf("no sample: the program did not use the CPU, or for less than %s", figures.Duration(k.period))}, nil
	}
	s := &k.m.Kernel.CPU.Samples[found.Sample]
	return Moment{Span: webSpan(k.span(*found)), Stack: frames(flame.OwnersOf(k.m), k.m.Stacks.Frames(s.Stack)),
		Text: k.sentence(found.KernelMoment, s.Labels["thread"])}, nil
}

// gap returns the time around a moment in which there is no stretch.
func (k *kernelSamples) gap(cpu int32, at time.Duration) (from, to time.Duration) {
	from, to = 0, k.length
	i := firstAfter(k.list, at)
	for _, x := range slices.Backward(k.list[:i]) {
		if cpu < 0 || x.CPU == cpu {
			from = max(x.At, 0)
			break
		}
	}
	for _, x := range k.list[i:] {
		if cpu < 0 || x.CPU == cpu {
			to = x.At - k.period
			break
		}
	}
	return from, max(from, to)
}

// sentence says what one sample tells.
func (k *kernelSamples) sentence(x model.KernelMoment, thread string) string {
	what, kernel := k.describe(x.Sample)
	where := "in user code"
	if kernel {
		where = "in the kernel"
	}
	if what != "" {
		where += ": " + name(what)
	}
	if thread != "" {
		thread = " (" + name(thread) + ")"
	}
	if x.Thread == model.EndedThread {
		return fmt.Sprintf("CPU %d ran a thread that was ending, %s", x.CPU, where)
	}
	return fmt.Sprintf("CPU %d ran thread %d%s %s", x.CPU, x.Thread, thread, where)
}

// Bounds of an answer about a window: stacks of each kind, and things that the kernel did.
const (
	maxKernelStacks = 25
	maxKernelCalls  = 50
)

// window sums the samples of a window, of some kernel lanes; of all of them when none is
// named.
func (k *kernelSamples) window(from, to time.Duration, lanes []string) *KernelWindow {
	all := len(lanes) == 0
	cpus := map[int32]bool{}
	for _, l := range lanes {
		if cpu, ok := cpuOf(l); ok {
			all = all || cpu < 0
			cpus[cpu] = true
		}
	}
	counts := map[int32]int64{}
	for _, x := range k.list[firstAfter(k.list, from-1):firstAfter(k.list, to-1)] {
		if all || cpus[x.CPU] {
			counts[x.Sample]++
		}
	}
	return k.sum(counts)
}

// sum adds up samples by what they are of.
func (k *kernelSamples) sum(counts map[int32]int64) *KernelWindow {
	w := &KernelWindow{PeriodNS: int64(k.period)}
	calls, stacks := map[string]int64{}, map[bool]map[model.Stack]int64{true: {}, false: {}}
	for sample, n := range counts {
		what, kernel := k.describe(sample)
		w.Samples += n
		if kernel {
			w.InKernel += n
			calls[what] += n
		}
		stacks[kernel][k.m.Kernel.CPU.Samples[sample].Stack] += n
	}
	for call, n := range calls {
		w.Calls = append(w.Calls, KernelCall{Name: name(call), Count: n, NS: n * w.PeriodNS})
	}
	slices.SortFunc(w.Calls, func(a, b KernelCall) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	w.Calls = w.Calls[:min(len(w.Calls), maxKernelCalls)]
	o := flame.OwnersOf(k.m)
	w.Stacks = append(k.topStacks(o, "kernel", stacks[true]), k.topStacks(o, "user", stacks[false])...)
	return w
}

// topStacks returns the stacks with most samples.
func (k *kernelSamples) topStacks(o flame.Owners, state string, counts map[model.Stack]int64) (list []StackTotal) {
	order := make([]model.Stack, 0, len(counts))
	for s := range counts {
		order = append(order, s)
	}
	slices.SortFunc(order, func(a, b model.Stack) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for _, s := range order[:min(len(order), maxKernelStacks)] {
		list = append(list, StackTotal{State: state, NS: counts[s] * int64(k.period), Count: counts[s], Stack: frames(o, k.m.Stacks.Frames(s))})
	}
	return list
}

// selectKernel answers api/timeline/select where only kernel lanes are asked for.
func (v *View) selectKernel(q url.Values, lanes []string) (Selection, error) {
	from, to, err := v.timelineWindow(q)
	if err != nil {
		return Selection{}, err
	}
	k := v.kernelSamples()
	if k == nil {
		return Selection{}, v.notSampled()
	}
	out := Selection{FromNS: int64(from), ToNS: int64(to), Kernel: k.window(from, to, lanes)}
	for state, n := range map[timeline.State]int64{timeline.Running: out.Kernel.Samples - out.Kernel.InKernel, timeline.Syscall: out.Kernel.InKernel} {
		if n > 0 {
			out.States = append(out.States, StateTotal{State: state.String(), NS: n * out.Kernel.PeriodNS, Count: n})
		}
	}
	slices.SortFunc(out.States, func(a, b StateTotal) int { return cmp.Compare(a.State, b.State) })
	return out, nil
}
