package hostagent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/sense/record"
)

// A program that the kernel kills for want of memory cannot wait until the server asks for a
// recording. So the agent watches by itself how near programs are to the limits of their
// control groups and to GOMEMLIMIT, and has a recorder wait at the nearest ones.

const (
	// nearMemory is the share of a limit from which a recorder waits, and fullMemory that at
	// which it keeps evidence. Programs whose heap breathes below the first cost nothing more.
	nearMemory, fullMemory = 0.85, 0.9
	// farMemory is the share below which there is time: a program that fills its limit in a
	// minute takes 20 s from there to the mark.
	farMemory = 0.5
	// How often the limits of programs are looked at: a look takes some 10 µs.
	memoryTurn, farTurn, endlessTurn = time.Second, 5 * time.Second, 30 * time.Second
	// In a turn the runtime's counters of some programs are opened, in 1 to 6 ms each, and those that
	// could not be after a while again.
	countersTurn, countersAgain = 4, 10 * time.Minute
	// Recorders wait so long, mostBoxes at once, and after evidence afterMark for how that ends.
	boxTime, mostBoxes, afterMark = 10 * time.Minute, 2, time.Minute
	// A version is left alone for a while after that, for twice as long after the next one of a
	// day, and a host after some recordings in a day: one service that is killed and begins anew
	// every two minutes would have all of these before an hour is over.
	restMemory, mostMarks = time.Hour, 24
	// holderBudget is the memory that may be used to read who holds a heap, which is enough for two
	// million objects: the agent is a guest of the host.
	holderBudget = 64 << 20
)

// memoryWatch watches the memory of all programs, and has evidence kept. Use it from one goroutine.
type memoryWatch struct {
	a *Agent
	// open and record are gowhy's own.
	open   func(pid int) (bounds, error)
	record func(ctx context.Context, p *recordable, o record.Options) (*record.Result, error)
	upload func(ctx context.Context, file string, q url.Values)
	dir    string
	here   map[process]*watchedMemory
	room   int // how many programs' counters may be opened in this turn

	mu    sync.Mutex
	boxes map[string]*box      // recorders that wait, by version
	rest  map[string]time.Time // until when a version is left alone
	marks []memoryMark         // of a day
}

// A box is a recorder that waits.
type box struct {
	calm bool // its program was waited at before, for nothing
	end  context.CancelFunc
}

// A memoryMark is evidence of a version that was kept.
type memoryMark struct {
	version string
	at      time.Time
}

// bounds are the limits of one process.
type bounds interface {
	Bounds(now time.Time, near float64) []proc.MemoryBound
	Close()
}

// limits are those of control groups and, where the program's counters can be read, GOMEMLIMIT.
type limits struct {
	bounds
	counters func() *record.RuntimeLimit // opens them; nil when they cannot be, or not now
	runtime  *record.RuntimeLimit
}

func (l *limits) Bounds(now time.Time, near float64) []proc.MemoryBound {
	if l.runtime == nil {
		l.runtime = l.counters()
	}
	all := l.bounds.Bounds(now, near)
	if b, ok := l.runtime.Bound(); ok {
		all = append(all, b)
	} else if l.runtime.Gone() {
		l.runtime.Close()
		l.runtime = nil
	}
	return all
}

func (l *limits) Close() {
	l.runtime.Close()
	l.bounds.Close()
}

// A watchedMemory is a program's.
type watchedMemory struct {
	bounds bounds
	next   time.Time
	share  float64 // of the nearest limit, which limit names
	limit  string
	missed bool        // it was near, and nothing could be begun
	calm   atomic.Bool // a recorder waited for nothing: it may be near its limit for ever
}

func newMemoryWatch(a *Agent) *memoryWatch {
	m := &memoryWatch{a: a, dir: a.recorder.dir, record: recordMemory, upload: a.recorder.upload, here: map[process]*watchedMemory{}, boxes: map[string]*box{}, rest: map[string]time.Time{}}
	m.open = m.openLimits
	return m
}

// openLimits opens all limits of a process: those of its groups now, GOMEMLIMIT when there is room.
func (m *memoryWatch) openLimits(pid int) (bounds, error) {
	groups, err := proc.WatchMemory(pid)
	if err != nil {
		return nil, err
	}
	var next time.Time
	return &limits{bounds: groups, counters: func() *record.RuntimeLimit {
		if now := m.a.now(); m.room > 0 && !m.a.over.Load() && !now.Before(next) {
			m.room--
			next = now.Add(countersAgain)
			r, err := record.OpenRuntimeLimit(pid)
			if err == nil {
				return r
			}
			m.a.o.Log.Debug("GOMEMLIMIT of a program cannot be read", "pid", pid, "error", err)
		}
		return nil
	}}, nil
}

// recordMemory waits for the mark of a program.
func recordMemory(ctx context.Context, p *recordable, o record.Options) (*record.Result, error) {
	return record.Run(ctx, record.Target{PID: p.pid, URL: p.url}, o)
}

// run watches until the context ends.
func (m *memoryWatch) run(ctx context.Context) {
	defer m.close()
	for {
		m.a.send.wait(ctx, memoryTurn)
		if ctx.Err() != nil {
			return
		}
		if all := m.a.recordables.Load(); all != nil {
			m.turn(ctx, *all)
		}
	}
}

func (m *memoryWatch) close() {
	for _, w := range m.here {
		w.bounds.Close()
	}
}

// turn looks at the programs whose turn it is, and has a recorder wait at the nearest.
func (m *memoryWatch) turn(ctx context.Context, all []*recordable) {
	now := m.a.now()
	m.room = countersTurn
	m.follow(all)
	var near []*recordable
	for _, p := range all {
		w := m.here[p.process]
		if w != nil && !now.Before(w.next) && !m.rests(p.key(), now) && w.look(now) {
			near = append(near, p)
		}
	}
	slices.SortStableFunc(near, func(p, q *recordable) int {
		v, w := m.here[p.process], m.here[q.process]
		switch {
		case v.calm.Load() == w.calm.Load():
			return cmp.Compare(w.share, v.share)
		case w.calm.Load():
			return -1
		}
		return 1
	})
	for _, p := range near {
		w := m.here[p.process]
		if not := m.not(now); not != "" {
			if !w.missed {
				m.a.count.noteMissed(not)
			}
			w.missed = true
			continue
		}
		if m.rests(p.key(), now) { // another process of the version is nearer
			continue
		}
		waiting, ok := m.begin(ctx, p, w.calm.Load())
		if !ok {
			return
		}
		w.missed = false
		m.a.o.Log.Info("waiting at a program that is near its memory limit", "service", p.service, "version", p.version, "pid", p.pid,
			"limit", w.limit, "used_percent", fmt.Sprintf("%.1f", 100*w.share))
		m.a.work.Go(func() {
			rest, calm := m.wait(ctx, waiting, p)
			w.calm.Store(calm)
			m.end(p.key(), rest)
		})
	}
}

// rests reports whether a version is left alone: a recorder waits there, or was there.
func (m *memoryWatch) rests(version string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boxes[version] != nil || now.Before(m.rest[version])
}

// begin takes the place of a recorder, whose context ends when it is to end. Where there is none,
// and a recorder waits for nothing at a program that has been near its limit for long, that is to
// end: then there is one at the next turn.
func (m *memoryWatch) begin(ctx context.Context, p *recordable, calm bool) (waiting context.Context, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.boxes) >= mostBoxes {
		for _, b := range m.boxes {
			if b.calm && !calm {
				b.end()
				break
			}
		}
		return nil, false
	}
	waiting, end := context.WithCancel(ctx)
	m.boxes[p.key()] = &box{calm, end}
	return waiting, true
}

// end gives the place back.
func (m *memoryWatch) end(version string, rest time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boxes[version].end()
	delete(m.boxes, version)
	m.rest[version] = m.a.now().Add(rest)
}

// not returns why nothing may be begun; "" when it may.
func (m *memoryWatch) not(now time.Time) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks = slices.DeleteFunc(m.marks, func(k memoryMark) bool { return now.Sub(k.at) >= day })
	maps.DeleteFunc(m.rest, func(_ string, until time.Time) bool { return !now.Before(until) })
	switch {
	case m.a.over.Load():
		return overHost
	case len(m.marks) >= mostMarks:
		return overBytes
	}
	return ""
}

// follow opens what is new, and closes what has ended.
func (m *memoryWatch) follow(all []*recordable) {
	alive := map[process]bool{}
	for _, p := range all {
		alive[p.process] = true
		if m.here[p.process] == nil {
			if b, err := m.open(p.pid); err == nil { // else it has just ended
				m.here[p.process] = &watchedMemory{bounds: b}
			}
		}
	}
	for p, w := range m.here {
		if !alive[p] {
			w.bounds.Close()
			delete(m.here, p)
		}
	}
}

// look reports whether the program is near a limit, and when it is looked at next.
func (w *watchedMemory) look(now time.Time) bool {
	w.share, w.limit = 0, ""
	all := w.bounds.Bounds(now, nearMemory)
	for _, b := range all {
		if b.Share() > w.share {
			w.share, w.limit = b.Share(), artifact.LimitWords(b.Of, b.Limit)
		}
	}
	switch {
	case len(all) == 0:
		w.next = now.Add(endlessTurn)
	case w.share < farMemory:
		w.next = now.Add(farTurn)
	default:
		w.next = now.Add(memoryTurn)
	}
	return w.share >= nearMemory
}

// wait has a recorder wait at a program, and uploads the evidence where the mark was reached:
// when the program has ended, which that says too, or a minute after. It returns for how long
// the version is left alone, and whether the program was near its limit for nothing.
func (m *memoryWatch) wait(ctx, waiting context.Context, p *recordable) (rest time.Duration, calm bool) {
	file, remove := m.a.place(m.dir)
	if file == "" {
		return restMemory, false
	}
	defer remove()
	waiting, enough := context.WithCancel(waiting)
	defer enough()
	res, err := m.record(waiting, p, record.Options{Out: file, UntilMemory: record.Mark{Share: fullMemory}, Duration: boxTime, Outside: p.url == "",
		Holders: record.Looks, HolderBudget: holderBudget, Redact: !m.a.o.RecordingText, Kept: func(recording.Event) { time.AfterFunc(afterMark, enough) }})
	switch {
	case ctx.Err() != nil:
		return restMemory, false
	case err != nil || res == nil || !res.Written:
		m.a.count.recordingErrors.Add(1)
		m.a.o.Log.Warn("a program near its memory limit cannot be recorded", "pid", p.pid, "service", p.service, "error", err)
		return restMemory, false
	case res.Event == nil:
		return 0, true
	}
	rest = m.mark(p.key())
	words := []any{"service", p.service, "version", p.version, "pid", p.pid, "why", artifact.EventWords(res.Event)}
	if res.Ended != nil {
		words = append(words, "end", artifact.EndingWords(res.Ended, time.Local))
	}
	m.a.o.Log.Info("evidence of a program near its memory limit is kept", words...)
	m.upload(ctx, file, url.Values{"service": {p.service}, "version": {p.version}, "instance": {p.instance}})
	return rest, false
}

// mark notes evidence of a version, and returns for how long it is left alone.
func (m *memoryWatch) mark(version string) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	rest := restMemory
	for _, k := range m.marks {
		if k.version == version {
			rest *= 2
		}
	}
	m.marks = append(m.marks, memoryMark{version, m.a.now()})
	return min(rest, day)
}
