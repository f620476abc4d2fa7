package live

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/sense/symbols"
	"github.com/gowhy/gowhy/internal/watch/budget"
)

// A target is a Go program that is looked into.
type target struct {
	pid     int
	stacks  bool
	threads bool                // are wanted
	tasks   map[int]proc.Thread // as they were read last
	tried   bool
	atOnce  bool // its goroutines are wanted even if it lives for a moment only
	proc    *proc.Process
	before  proc.Sample
	looked  time.Time   // when that was, or it was known that it is the same
	weighed bool        // its share of memory is wanted
	counted proc.Sample // with the last switches and waits that were not read before
	waits   waits       // up to then

	reader *goroutines.Reader
	again  due // when to open the reader again, or to read
	now    *Goroutines
	// snapshot is the source of that.
	snapshot *goroutines.Snapshot
	read1    time.Time // when that was read, or known to be the same
	fresh    bool      // it was read after the program ran last
	counters *Counters // as in the last frame
	told     *Runtime
	rss      uint64 // by the list, when they were
	totals   history
	groups   map[groupKey]*history
	runtime  goroutines.Runtime
	ran      time.Time // when that was read
	gcShare  float64   // of the last collections
}

type groupKey struct{ function, state, reason, creator string }

func (t *target) close() {
	if t == nil {
		return
	}
	if t.proc != nil {
		t.proc.Close()
		t.proc = nil
	}
	if t.reader != nil {
		t.reader.Close()
		t.reader = nil
	}
}

// read fills in what only a look into the program tells. The dear part may take
// a share of the time. Of a program that did not run since, all of it is known but how long
// ago that is: of 300 that sleep, reading took 2.5% of a core. Its switches must have been
// read since it ran, which is done less often.
func (t *target) read(p *Process, now time.Time, share float64, still bool) {
	if !t.tried { // the first list is to be quick
		t.tried = true
		if t.proc, _ = proc.OpenAlone(t.pid); t.proc != nil {
			t.before, _ = t.proc.Sample(false)
			t.counted = t.before
		}
		return
	}
	still = still && !t.threads && t.counters != nil && t.counters.Quota == 0 && p.RSS == t.rss && t.counted.Time.Equal(t.before.Time)
	if t.rss = p.RSS; still {
		t.stay(p, now)
	} else {
		t.readCounters(p)
	}
	t.looked = now
	t.readMemory(p, now)
	rests := still && t.rest(p, now)
	if !rests {
		t.readGoroutines(p, now, share)
	}
	p.still = rests && !t.weighed // that changes while it rests
}

// stay has the counters of a program that did not run. One with a quota may have been kept
// from it.
func (t *target) stay(p *Process, now time.Time) {
	t.before.Time = t.before.Time.Add(now.Sub(t.looked))
	t.counted.Time = t.before.Time
	c := *t.counters
	for _, rate := range []*float64{&c.Waiting, &c.Voluntary, &c.Involuntary, &c.Reads, &c.Writes, &c.Throttled} {
		*rate = min(*rate, 0) // negative is not known
	}
	if c.Waiting == 0 {
		c.Wait = -1 // the mean of nothing
	}
	p.Counters, p.CPU, p.RSS = &c, CPU{}, t.before.Process.RSS
}

// rest has the goroutines and the runtime's counters of a program that did not run; it
// is false when those are not known.
func (t *target) rest(p *Process, now time.Time) bool {
	if t.reader == nil || !t.fresh {
		return false
	}
	t.reader.Rest()
	if t.level() {
		t.now = t.later(now)
	} else {
		t.now = t.tell(t.snapshot, now.Sub(t.snapshot.Time))
	}
	t.read1 = now
	p.Goroutines = t.now
	if t.told != nil {
		r := *t.told
		r.GCs = 0
		p.Runtime, t.ran = &r, now
	}
	return true
}

func (t *target) readCounters(p *Process) {
	if t.proc == nil {
		return
	}
	s, err := t.proc.Sample(t.threads)
	if err != nil {
		return
	}
	a := t.before
	p.Tasks = t.compare(s.Threads, s.Time.Sub(a.Time).Seconds())
	passed := s.Time.Sub(a.Time).Seconds()
	if a.Time.IsZero() || passed <= 0 {
		t.before, t.counted = s, s
		return
	}
	t.before = s
	if !s.Process.OldSwitches {
		t.waits, t.counted = waitDelta(t.counted, s), s
	}
	rate := func(before, after int64) float64 { return perSecond(before, after, passed) }
	c := &Counters{
		Waiting: t.waits.share, Wait: t.waits.mean, Voluntary: t.waits.voluntary, Involuntary: t.waits.involuntary,
		Reads: rate(a.Process.ReadCalls, s.Process.ReadCalls), Writes: rate(a.Process.WriteCalls, s.Process.WriteCalls),
		FDs: s.Process.FDs, CPUs: s.Limits.CPUs, Quota: s.Limits.Quota, MemoryLimit: s.Limits.Memory,
	}
	if s.Group != nil && a.Group != nil {
		c.Throttled = float64(max(0, s.Group.Throttled-a.Group.Throttled)) * s.Limits.Period.Seconds() / passed
		c.Throttled = min(1, c.Throttled)
	}
	p.Counters, t.counters = c, c
	// Exact, where the list's own figures are in ticks.
	p.CPU = CPU{User: (s.Process.User - a.Process.User).Seconds() / passed, System: (s.Process.System - a.Process.System).Seconds() / passed}
	p.RSS = s.Process.RSS
}

// waits are what a program's threads did beside running, in some time.
type waits struct {
	share                  float64       // of them ready without a CPU, on average
	mean                   time.Duration // each time until one got a CPU
	voluntary, involuntary float64       // switches a second
}

// waitDelta compares two samples. What a kernel does not count, and the mean of nothing, is
// negative.
func waitDelta(from, to proc.Sample) waits {
	a, b := from.Process, to.Process
	passed := to.Time.Sub(from.Time).Seconds()
	w := waits{-1, -1, perSecond(a.Voluntary, b.Voluntary, passed), perSecond(a.Involuntary, b.Involuntary, passed)}
	if b.Slices == 0 || passed <= 0 { // a process that has run was given a CPU
		return w
	}
	queued := max(0, b.RunQueue-a.RunQueue)
	w.share = queued.Seconds() / passed
	if n := b.Slices - a.Slices; n > 0 {
		w.mean = queued / time.Duration(n)
	}
	return w
}

// perSecond returns the rate of a count, negative when one is not known.
func perSecond(before, after int64, passed float64) float64 {
	if before < 0 || after < 0 || passed <= 0 {
		return -1
	}
	return float64(max(0, after-before)) / passed
}

// readMemory fills in the share of memory of a program that is looked at: of all
// programs it would be dear, for them too.
func (t *target) readMemory(p *Process, now time.Time) {
	if t.proc == nil || !t.weighed {
		return
	}
	w, err := t.proc.Weigh(now)
	switch {
	case errors.Is(err, proc.ErrGone):
		return
	case errors.Is(err, fs.ErrPermission):
		p.Memory = &Memory{Why: "another user's program", How: fmt.Sprintf("sudo gowhy top %d", t.pid)}
	case err != nil:
		p.Memory = &Memory{Why: err.Error()}
	default:
		p.Memory = &Memory{PSS: w.PSS, Swap: w.Swap, Age: now.Sub(w.At)}
	}
}

// compare compares threads with what they had before, the busiest first.
func (t *target) compare(threads []proc.Thread, passed float64) (list []Task) {
	now := make(map[int]proc.Thread, len(threads))
	for _, th := range threads {
		now[th.ID] = th
		a, known := t.tasks[th.ID]
		if !known || passed <= 0 {
			continue
		}
		list = append(list, Task{ID: th.ID, Name: th.Name, Waiting: max(0, (th.RunQueue-a.RunQueue).Seconds()/passed),
			CPU:      CPU{User: (th.User - a.User).Seconds() / passed, System: (th.System - a.System).Seconds() / passed},
			Switches: float64(th.Voluntary-a.Voluntary+th.Involuntary-a.Involuntary) / passed})
	}
	t.tasks = now
	slices.SortStableFunc(list, func(a, b Task) int { return cmp.Compare(b.CPU.Cores(), a.CPU.Cores()) })
	return list[:min(len(list), maxTold)]
}

const (
	// reopen is after how long a program that could not be read is tried again: it
	// may have been starting.
	reopen = 10 * time.Second
	// shortLife is how old a program is that one can look at.
	shortLife = 3 * time.Second
	// leastGrowing is how many a group must have for its growth to be one: a single
	// goroutine is now in one state and now in another.
	leastGrowing = 10
	// maxTold bounds the groups of a program in a frame.
	maxTold = 100
)

func (t *target) readGoroutines(p *Process, now time.Time, share float64) {
	if t.reader == nil {
		// To find out where they are costs more than to read them a hundred times, which
		// is wasted on a compiler's run.
		if p.Up < shortLife && !t.atOnce {
			return
		}
		if !t.again.is(now) {
			p.Goroutines = t.now
			return
		}
		t.again.next = now.Add(reopen)
		r, err := goroutines.Open(t.pid)
		if err != nil {
			t.now = refusal(t.pid, err)
			p.Goroutines = t.now
			return
		}
		t.reader, t.again.next = r, now
		r.Stacks = t.stacks
	}
	t.count(p, now)
	t.fresh = false
	if t.again.is(now) {
		began := budget.OwnCPU()
		s, err := t.reader.Read()
		if err != nil {
			t.now = refusal(t.pid, err)
			t.reader.Close()
			t.reader, t.snapshot, t.told, t.again.next = nil, nil, nil, now.Add(reopen)
			p.Goroutines = t.now
			return
		}
		t.now, t.snapshot, t.read1, t.fresh = t.tell(s, 0), s, now, true
		t.reader.Rest()
		t.again.took(now, budget.OwnCPU()-began, share)
	}
	if t.now != nil {
		g := *t.now
		if age := now.Sub(t.read1); age > 100*time.Millisecond {
			g.Age = age
		}
		p.Goroutines = &g
	}
}

// count compares the runtime's counters with those of the refresh before.
func (t *target) count(p *Process, now time.Time) {
	c, before := t.reader.Counters(), t.runtime
	passed := now.Sub(t.ran).Seconds()
	t.runtime, t.ran = c, now
	if c.Procs <= 0 {
		return
	}
	r := &Runtime{Procs: c.Procs, BusyProcs: c.Procs - max(0, c.IdleProcs), GCShare: -1,
		HeapLive: max(0, c.HeapLive), HeapGoal: max(0, c.HeapGoal), gcs: c.Collections, marked: c.HeapMarked}
	if spent := c.TotalTime - before.TotalTime; before.Procs > 0 && spent > 0 {
		t.gcShare = (c.GCTime - before.GCTime).Seconds() / spent.Seconds()
	}
	if c.TotalTime >= 0 {
		r.GCShare = t.gcShare
	}
	if before.Procs > 0 && passed > 0 {
		r.GCs = float64(max(0, c.Collections-before.Collections)) / passed
	}
	p.Runtime, t.told = r, r
}

// level reports whether nothing changes while the program does not run, but for ages: what
// grew before does so less and less.
func (t *target) level() bool {
	return t.now.Growth == 0 && len(t.groups) == len(t.now.Groups) &&
		!slices.ContainsFunc(t.now.Groups, func(g Group) bool { return g.Growth != 0 })
}

// later returns the last answer, without what it takes to make it.
func (t *target) later(now time.Time) *Goroutines {
	g := *t.now
	g.Groups = slices.Clone(g.Groups)
	for i := range g.Groups {
		g.Groups[i].Oldest += now.Sub(t.read1)
	}
	t.totals.stay(now)
	for _, h := range t.groups {
		h.stay(now)
	}
	return &g
}

// latestSnapshot returns the goroutines as they were read last, or are known to be.
func (t *target) latestSnapshot() *goroutines.Snapshot {
	if t.snapshot == nil || !t.fresh {
		return t.snapshot
	}
	if d := t.read1.Sub(t.snapshot.Time); d > 0 {
		return t.snapshot.After(d)
	}
	return t.snapshot
}

// refusal says why a program's goroutines are not told.
func refusal(pid int, err error) *Goroutines {
	g := &Goroutines{Why: err.Error()}
	if errors.Is(err, fs.ErrPermission) {
		g.Why, g.How = "another user's program, or the system lets nobody read the memory of others", fmt.Sprintf("sudo gowhy top %d", pid)
	}
	return g
}

// tell sums groups that differ only in what nobody wants to know, of a program that did
// not run since they were read, which is some time ago.
func (t *target) tell(s *goroutines.Snapshot, ago time.Duration) *Goroutines {
	now := s.Time.Add(ago)
	g := &Goroutines{
		Total: s.Count, Running: s.State(goroutines.Running), Runnable: s.State(goroutines.Runnable),
		Syscall: s.State(goroutines.Syscall), Waiting: s.State(goroutines.Waiting),
	}
	if t.groups == nil {
		t.groups = map[groupKey]*history{}
	}
	t.totals.add(now, s.Count)
	g.Growth = t.totals.growth()
	at := map[groupKey]int{}
	labels := map[int]map[string]int{} // of each group, if any
	for _, from := range s.Groups {
		if from.System {
			continue
		}
		k := groupKey{from.Start.Func, from.State.String(), from.Reason, place(from.Creator)}
		if k.function == "runtime.main" { // the first one, as tracebacks have it
			k.function, k.creator = "main.main", ""
		}
		n, ok := at[k]
		if !ok {
			n = len(g.Groups)
			at[k] = n
			g.Groups = append(g.Groups, Group{Function: k.function, State: k.state, Reason: k.reason, Creator: k.creator})
		}
		to := &g.Groups[n]
		to.Count += from.Count
		if from.Oldest+ago > to.Oldest || to.At == "" {
			to.Oldest, to.At = from.Oldest+ago, where(from.Stack)
		}
		for _, p := range from.Parts {
			if len(p.Labels) == 0 {
				continue
			}
			if labels[n] == nil {
				labels[n] = map[string]int{}
			}
			labels[n][labelText(p.Labels)] += p.Count
		}
	}
	for i := range g.Groups {
		to := &g.Groups[i]
		to.Labels, to.LabelSets = MostLabels(labels[i]), len(labels[i])
		k := groupKey{to.Function, to.State, to.Reason, to.Creator}
		h := t.groups[k]
		if h == nil {
			h = &history{}
			if t.totals.full() { // it is new, and was none before
				h.add(now.Add(-time.Second), 0)
			}
			t.groups[k] = h
		}
		h.add(now, to.Count)
		if max(to.Count, h.points[0].n) >= leastGrowing {
			to.Growth = h.growth()
		}
	}
	for k, h := range t.groups {
		if _, here := at[k]; !here && now.Sub(h.last()) > growthWindow {
			delete(t.groups, k)
		}
	}
	slices.SortStableFunc(g.Groups, func(a, b Group) int { return cmp.Compare(b.Count, a.Count) })
	g.Groups = g.Groups[:min(len(g.Groups), maxTold)]
	return g
}

// maxLabelled bounds the labels of a group in a frame.
const maxLabelled = 3

// MostLabels returns the labels that most goroutines have, of how many have which.
func MostLabels(counts map[string]int) (list []LabelGroup) {
	for text, n := range counts {
		list = append(list, LabelGroup{text, n})
	}
	slices.SortFunc(list, func(a, b LabelGroup) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text)) })
	return list[:min(len(list), maxLabelled)]
}

// LabelWords returns the labels that most of a group have, each with how many, and of how many
// sets others are.
func LabelWords(most []LabelGroup, sets int) []string {
	words := []string{}
	for _, l := range most {
		words = append(words, fmt.Sprintf("%d %s", l.Count, l.Text))
	}
	if more := sets - len(most); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return words
}

func labelText(labels []goroutines.Label) string {
	words := make([]string, len(labels))
	for i, l := range labels {
		words[i] = l.Key + "=" + l.Value
	}
	return strings.Join(words, " ")
}

func place(p symbols.Place) string {
	if p.Func == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.Func, p.Line)
}

// waitsFor are the functions that say what a goroutine waits for, which its state
// tells already.
var waitsFor = []string{"runtime.", "internal/", "sync.", "time.Sleep", "syscall."}

// where returns the first function on a stack that says more.
func where(stack []symbols.Place) string {
	for _, p := range stack {
		if p.Func != "" && !slices.ContainsFunc(waitsFor, func(of string) bool { return strings.HasPrefix(p.Func, of) }) {
			return place(p)
		}
	}
	return ""
}

// growthWindow is over how long growth is measured.
const growthWindow = time.Minute

// A history is how a number went in the last minute.
type history struct {
	points []count // of one number that stays the same, where that began and ended
	added  int
}

type count struct {
	at time.Time
	n  int
}

func (h *history) add(at time.Time, n int) {
	h.added++
	if k := len(h.points); k > 1 && h.points[k-1].n == n && h.points[k-2].n == n {
		h.points[k-1].at = at
	} else {
		h.points = append(h.points, count{at, n})
	}
	for len(h.points) > 2 && at.Sub(h.points[1].at) >= growthWindow {
		h.points = h.points[1:]
	}
	if begin := at.Add(-growthWindow); len(h.points) > 1 && h.points[0].n == h.points[1].n && h.points[0].at.Before(begin) {
		h.points[0].at = begin
	}
}

// stay adds the number that there is.
func (h *history) stay(at time.Time) { h.add(at, h.points[len(h.points)-1].n) }

func (h *history) full() bool      { return h.added > 2 }
func (h *history) last() time.Time { return h.points[len(h.points)-1].at }

// growth returns by minute, 0 until something is known.
func (h *history) growth() float64 {
	a, b := h.points[0], h.points[len(h.points)-1]
	if d := b.at.Sub(a.at); d >= 2*time.Second {
		return float64(b.n-a.n) / d.Minutes()
	}
	return 0
}
