package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// CPUParts are all parts in the order of reports.
var CPUParts = []CPUPart{Application, Scheduling, Collecting, Allocating, StackGrowth, InKernel, InCgo, OtherCPU, NotSampled}

// Part returns the entry of a part, the zero entry when it took no time.
func (a *CPUAccount) Part(p CPUPart) CPUEntry {
	for _, e := range a.Parts {
		if e.Part == p {
			return e
		}
	}
	return CPUEntry{Part: p}
}

// Share returns a part's share of Total, 0 to 1.
func (a *CPUAccount) Share(p CPUPart) float64 {
	if a.Total <= 0 {
		return 0
	}
	return float64(a.Part(p).Time) / float64(a.Total)
}

// Cores is Total by the length of the window; 0 when that is unknown.
func (a *CPUAccount) Cores() float64 {
	if a.Window <= 0 {
		return 0
	}
	return a.Total.Seconds() / a.Window.Seconds()
}

// Covered returns the coverage of the believed source; false when rusage is not
// known or nothing was sampled.
func (a *CPUAccount) Covered() (float64, bool) {
	c, ok := a.Coverage[a.Believed]
	return c, ok
}

// KernelCalls returns the sampled time in the kernel by name, over all parts,
// largest first.
func (a *CPUAccount) KernelCalls() []CPUName {
	sums := map[string]time.Duration{}
	for _, e := range a.Parts {
		if e.Part == NotSampled {
			continue
		}
		for _, n := range e.By {
			sums[n.Name] += n.Time
		}
	}
	return byTime(sums)
}

const (
	// tick is the resolution of a process's CPU counters: 100 a second
	// wherever Linux runs. A difference is off by one at most at each end.
	tick = 10 * time.Millisecond
	// sameCoverage is the difference below which two sources cover alike.
	sameCoverage = 0.02
	// muchLost is the share of lost kernel samples from which the profile
	// that lost nothing is believed.
	muchLost = 0.05
	// thinCoverage is where a report must say what is missing.
	thinCoverage = 0.9
	// leastOverlap is how much of a profile's window the counters must have
	// been read in to be compared with it.
	leastOverlap = 0.5
)

func (m *Model) cpuAccount() *CPUAccount {
	views := m.cpuViews()
	first, last, counted := m.Process.Window()
	if len(views) == 0 && !counted {
		return nil
	}
	a := &CPUAccount{Scale: 1}
	if len(views) == 0 {
		a.From, a.Window = first.At, last.At-first.At
		a.User, a.System, a.Known = last.User-first.User, last.System-first.System, true
		a.Total = max(0, a.User) + max(0, a.System)
		a.Why = "no samples of CPU time were recorded"
		a.split(&cpuView{})
		return a
	}
	for i := range views {
		if c, ok := views[i].coverage(); ok {
			if a.Coverage == nil {
				a.Coverage = map[Source]float64{}
			}
			a.Coverage[views[i].source] = c
		}
	}
	v, why := believe(views)
	a.Believed, a.From, a.Window, a.Samples = v.source, v.from, v.window, v.samples
	a.User, a.System, a.Known = v.user, v.system, v.known
	a.Total, a.Why = v.sampled, why
	if a.Known {
		a.Total = a.User + a.System
		a.Noise = v.noise()
		a.reconcile(v, m)
		a.explainThinProfile(v, views, m)
	}
	a.split(v)
	return a
}

// A cpuView is one source's samples, added up, and what the counters say of
// the same time.
type cpuView struct {
	source       Source
	from, window time.Duration // 0 when the profile tells no length
	samples      int64
	sampled      time.Duration
	kernel       time.Duration // of sampled
	parts        map[CPUPart]time.Duration
	calls        map[CPUPart]map[string]time.Duration
	user, system time.Duration // rusage in the window
	known        bool
	userOnly     bool
	lost         float64 // share of the samples
}

// cpuViews adds up the samples of each source that has times.
func (m *Model) cpuViews() (views []cpuView) {
	if m.Kernel != nil && m.Kernel.CPU != nil {
		if v, ok := m.cpuView(KernelCPU, m.Kernel.CPU); ok {
			v.userOnly = m.Kernel.UserOnly
			if n := m.Kernel.Lost; n > 0 {
				v.lost = float64(n) / float64(n+v.samples)
			}
			views = append(views, v)
		}
	}
	if m.CPU != nil {
		if v, ok := m.cpuView(CPU, m.CPU); ok {
			views = append(views, v)
		}
	}
	return views
}

// Columns returns the column that counts samples, -1 when there is none, and
// the one of CPU time.
func (p *Profile) Columns() (count, nanos int) {
	count, nanos = -1, -1
	for i, t := range p.Types {
		switch {
		case t.Unit == "nanoseconds" && nanos < 0:
			nanos = i
		case t.Unit == "count" && count < 0:
			count = i
		}
	}
	return count, nanos
}

// Counted reports whether a profile says how many samples it has: some have their time
// alone, and no period to divide it by.
func (p *Profile) Counted() bool {
	count, _ := p.Columns()
	return count >= 0
}

func (m *Model) cpuView(source Source, p *Profile) (cpuView, bool) {
	count, nanos := p.Columns()
	if nanos < 0 {
		return cpuView{}, false
	}
	v := cpuView{source: source, parts: map[CPUPart]time.Duration{}, calls: map[CPUPart]map[string]time.Duration{}}
	for i := range p.Samples {
		v.add(&m.Stacks, &p.Samples[i], count, nanos)
	}
	v.from, v.window = p.At, p.Duration
	if !p.Known {
		v.from = 0
	}
	if v.window == 0 && p.FromTrace {
		v.window = m.Run.Duration
	}
	m.count(&v, p.Known)
	return v, true
}

func (v *cpuView) add(stacks *Stacks, s *Sample, count, nanos int) {
	if nanos >= len(s.Values) || s.Values[nanos] < 0 {
		return
	}
	d, n := time.Duration(s.Values[nanos]), int64(0) // of an unknown number of samples
	if count >= 0 && count < len(s.Values) {
		n = max(0, s.Values[count])
	}
	part, call, kernel := classify(stacks.Frames(s.Stack), s.Labels)
	v.samples += n
	v.sampled += d
	v.parts[part] += d
	if !kernel {
		return
	}
	v.kernel += d
	if v.calls[part] == nil {
		v.calls[part] = map[string]time.Duration{}
	}
	v.calls[part][call] += d
}

// count finds what the process's counters say of the time that the samples
// are of. Counters are exact and are never drawn out: where they were read in
// a part of that time, the account is of this part, and has its share of the
// samples.
func (m *Model) count(v *cpuView, placed bool) {
	first, last, ok := m.Process.Window()
	if !ok {
		return
	}
	if v.window <= 0 { // the samples do not say over which time
		v.from, v.window = first.At, last.At-first.At
	}
	// Somewhere in the run, their mean is the best guess.
	from, to, scale := first.At, last.At, v.window.Seconds()/(last.At-first.At).Seconds()
	if placed {
		from, to, scale = max(v.from, first.At), min(v.from+v.window, last.At), 1
		if (to - from).Seconds() < leastOverlap*v.window.Seconds() {
			return
		}
		v.clip(from, to-from)
	}
	u0, s0 := m.Process.CPUAt(from)
	u1, s1 := m.Process.CPUAt(to)
	v.user = time.Duration(float64(max(0, u1-u0)) * scale)
	v.system = time.Duration(float64(max(0, s1-s0)) * scale)
	v.known = true
}

// clip leaves a part of the view's time, and its share of what was sampled.
func (v *cpuView) clip(from, window time.Duration) {
	share := window.Seconds() / v.window.Seconds()
	v.from, v.window = from, window
	part := func(d time.Duration) time.Duration { return time.Duration(float64(d) * share) }
	v.samples = int64(math.Round(float64(v.samples) * share))
	v.sampled, v.kernel = part(v.sampled), part(v.kernel)
	for p, d := range v.parts {
		v.parts[p] = part(d)
		for name, d := range v.calls[p] {
			v.calls[p][name] = part(d)
		}
	}
}

// coverage is sampled ÷ rusage; false when one of them is not there. Nothing
// sampled of nothing used is all of it.
func (v *cpuView) coverage() (float64, bool) {
	switch used := v.user + v.system; {
	case !v.known:
		return 0, false
	case used > 0:
		return v.sampled.Seconds() / used.Seconds(), true
	default:
		return 1, v.sampled == 0
	}
}

// noise returns how far coverage may be off by chance.
func (v *cpuView) noise() float64 {
	used := v.user + v.system
	if used <= 0 {
		return 0
	}
	n := 2 * tick.Seconds() / used.Seconds()
	if v.samples > 0 {
		n += 2 / math.Sqrt(float64(v.samples))
	}
	return n
}

// believe chooses the view that the parts are taken from, and says why not
// the other.
func believe(views []cpuView) (*cpuView, string) {
	if len(views) == 1 {
		return &views[0], ""
	}
	k, p := &views[0], &views[1]
	ck, okK := k.coverage()
	cp, okP := p.coverage()
	switch {
	case k.samples == 0 && p.samples > 0:
		return p, "the kernel took no sample"
	case k.lost > muchLost:
		return p, "the kernel lost " + figures.Percent(k.lost) + " of its samples"
	case !okK || !okP:
		if k.userOnly {
			return p, "the kernel's samples are of user mode only"
		}
		return k, "the kernel samples what the profile's signals cannot: its own work, and threads that run too briefly for a timer"
	case near(cp) > near(ck)+max(sameCoverage, k.noise()):
		why := fmt.Sprintf("the profile covers %s of the CPU time, the kernel's samples %s", figures.Percent(cp), figures.Percent(ck))
		if k.userOnly {
			why += ": those are of user mode only"
		}
		return p, why
	case near(ck) > near(cp)+max(sameCoverage, p.noise()):
		return k, fmt.Sprintf("the kernel's samples cover %s of the CPU time, the profile %s", figures.Percent(ck), figures.Percent(cp))
	case k.userOnly:
		return p, "both cover alike within chance, and the kernel's samples are of user mode only"
	}
	return k, "both cover alike within chance, and only the kernel's samples say what it does itself"
}

// near says how well samples cover: 1 is exactly, less on either side.
func near(coverage float64) float64 {
	if coverage > 1 {
		return 1 / coverage
	}
	return coverage
}

// tooMuch is the excess over rusage beyond chance that is still taken for an
// imprecision of the clocks: profile timers and counters differ by a few percent.
const tooMuch = 0.05

// reconcile brings samples and counters together and says what is missing.
func (a *CPUAccount) reconcile(v *cpuView, m *Model) {
	c, ok := v.coverage()
	if v.sampled > a.Total {
		a.Scale = a.Total.Seconds() / v.sampled.Seconds()
		a.Disagree = !ok || c > 1+tooMuch+a.Noise
	}
	switch {
	case a.Disagree:
		a.say("the evidence disagrees: samples of %s and rusage of %s, more than chance explains; was another process "+
			"sampled, or another time?",
			figures.Duration(v.sampled), figures.Duration(a.Total))
	case ok && c < thinCoverage:
		for _, why := range v.missing(m) {
			a.say("%s", why)
		}
	}
}

func (a *CPUAccount) say(format string, args ...any) {
	if a.Why != "" {
		a.Why += "; "
	}
	a.Why += fmt.Sprintf(format, args...)
}

// missing says why samples cover less than the counters. Believe the
// counters: they are exact to a tick.
func (v *cpuView) missing(m *Model) (why []string) {
	c, _ := v.coverage()
	gap := v.user + v.system - v.sampled
	why = append(why, fmt.Sprintf("believe rusage: %s are in no sample", figures.Duration(gap)))
	if noise := v.noise(); 1-c <= noise {
		why = append(why, fmt.Sprintf("%s cover %s to %s by chance alone", figures.Plural(v.samples, "sample"), figures.Percent(max(0, c-noise)), figures.Percent(c+noise)))
	}
	if unseen := v.system - v.kernel; unseen > gap/2 {
		text := fmt.Sprintf("of %s in the kernel they show %s", figures.Duration(v.system), figures.Duration(v.kernel))
		if v.userOnly {
			text += ", for they are of user mode only"
		}
		why = append(why, text)
	}
	if v.source == CPU {
		why = append(why, m.unseenRuns()...)
	}
	if first, last, ok := m.Limits.Window(); ok && last.ThrottledTime > first.ThrottledTime {
		why = append(why, "a CPU quota stopped the process for "+figures.Duration(last.ThrottledTime-first.ThrottledTime))
	}
	if v.lost > 0.01 {
		why = append(why, figures.Percent(v.lost)+" of the kernel's samples were lost")
	}
	return why
}

// explainThinProfile says why the profile that is not believed shows little.
func (a *CPUAccount) explainThinProfile(v *cpuView, views []cpuView, m *Model) {
	for i := range views {
		p := &views[i]
		c, ok := p.coverage()
		if p == v || p.source != CPU || !ok || c >= thinCoverage {
			continue
		}
		for _, why := range m.unseenRuns() {
			a.say("%s", why)
		}
	}
}

// unseenRuns says that the program's runs are too brief for the profile.
func (m *Model) unseenRuns() []string {
	wakes, run, ok := m.brief()
	if !ok {
		return nil
	}
	return []string{fmt.Sprintf("its threads waited %s times a second and ran for %s each time: the timers of a profile, one for each "+
		"thread, miss most of such runs, and the runtime's own monitor", figures.Number(wakes), figures.Duration(run))}
}

// briefRun is the mean run of a thread below which a profile's timer, which
// fires after 10 ms of a thread's CPU time, sees it only now and then.
const briefRun = time.Millisecond

// brief tells of a program that wakes often to do little.
func (m *Model) brief() (wakesPerSecond float64, run time.Duration, ok bool) {
	first, last, ok := m.Process.Window()
	if !ok {
		return 0, 0, false
	}
	n := last.Voluntary - first.Voluntary
	if n <= 0 {
		return 0, 0, false
	}
	run = (last.User + last.System - first.User - first.System) / time.Duration(n)
	return float64(n) / (last.At - first.At).Seconds(), run, run < briefRun && n > 100
}

// split makes the parts: those of the samples, scaled, and what no sample
// shows. They add up to Total exactly.
func (a *CPUAccount) split(v *cpuView) {
	scaled := func(d time.Duration) time.Duration { return time.Duration(math.Floor(float64(d) * a.Scale)) }
	if a.Scale == 1 {
		scaled = func(d time.Duration) time.Duration { return d }
	}
	a.Kernel = scaled(v.kernel)
	left := a.Total
	largest := -1
	for _, p := range CPUParts {
		d := min(scaled(v.parts[p]), left)
		if p == NotSampled || d <= 0 {
			continue
		}
		left -= d
		e := CPUEntry{Part: p, Time: d}
		for _, n := range byTime(v.calls[p]) {
			if n.Time = scaled(n.Time); n.Time > 0 {
				e.By = append(e.By, n)
			}
		}
		a.Parts = append(a.Parts, e)
		if largest < 0 || d > a.Parts[largest].Time {
			largest = len(a.Parts) - 1
		}
	}
	switch {
	case left <= 0:
	case a.Scale != 1 && largest >= 0:
		a.Parts[largest].Time += left // rounding
	default:
		a.Parts = append(a.Parts, CPUEntry{NotSampled, left, a.unseen(left)})
	}
}

// unseen splits what no sample shows into the modes that the counters know.
func (a *CPUAccount) unseen(gap time.Duration) []CPUName {
	if !a.Known {
		return nil
	}
	kernel := min(max(0, a.System-a.Kernel), gap)
	modes := map[string]time.Duration{}
	if kernel > 0 {
		modes["kernel mode"] = kernel
	}
	if gap > kernel {
		modes["user mode"] = gap - kernel
	}
	return byTime(modes)
}

func byTime(sums map[string]time.Duration) []CPUName {
	list := make([]CPUName, 0, len(sums))
	for name, d := range sums {
		list = append(list, CPUName{name, d})
	}
	slices.SortFunc(list, func(a, b CPUName) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// CPUClasses are the runtime's own estimates of CPU time, /cpu/classes of
// runtime/metrics, over the time they were read in. They count a P that has a
// thread as using a CPU, so that they exceed rusage when threads wait for one:
// show them beside it, never instead.
type CPUClasses struct {
	Window                          time.Duration
	User, GC, Scavenge, Idle, Total time.Duration
	// Exceeds is set when Total less Idle is more than the process used by its
	// counters in that time, by a tenth and a tick. Rusage is that; 0 when not known.
	Exceeds bool
	Rusage  time.Duration
}

// CPUClasses returns the runtime's estimates; nil when they were not read twice.
func (m *Model) CPUClasses() *CPUClasses {
	total, over, ok := m.Metrics.Delta("/cpu/classes/total:cpu-seconds")
	if !ok {
		return nil
	}
	c := &CPUClasses{Window: over, Total: seconds(total)}
	for name, to := range map[string]*time.Duration{
		"/cpu/classes/user:cpu-seconds":           &c.User,
		"/cpu/classes/gc/total:cpu-seconds":       &c.GC,
		"/cpu/classes/scavenge/total:cpu-seconds": &c.Scavenge,
		"/cpu/classes/idle:cpu-seconds":           &c.Idle,
	} {
		by, _, _ := m.Metrics.Delta(name)
		*to = seconds(by)
	}
	if _, _, ok := m.Process.Window(); ok {
		s := m.Metrics.Series["/cpu/classes/total:cpu-seconds"]
		u0, s0 := m.Process.CPUAt(s[0].At)
		u1, s1 := m.Process.CPUAt(s[len(s)-1].At)
		c.Rusage = u1 + s1 - u0 - s0
		busy := c.Total - c.Idle
		c.Exceeds = busy.Seconds() > 1.1*c.Rusage.Seconds()+tick.Seconds()
	}
	return c
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
