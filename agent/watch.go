package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

// Triggers say what [Watch] watches for, and where it writes. A trigger whose
// field is zero is off; at least one must be on.
type Triggers struct {
	// CPU is the share of GOMAXPROCS that is busy, from 0 to 1, like 0.9, for
	// three seconds on end.
	CPU float64
	// Goroutines is by which factor their number grows over what was seen so
	// far, like 2, and by 1000 at least.
	Goroutines float64
	// Heap is by which factor the live heap grows over what was seen so far,
	// like 2, and by 64 MiB at least.
	Heap float64
	// Memory is the share of the nearest limit that is used, from 0 to 1, like 0.9: of memory.max
	// and memory.high of the control groups around the program, or of GOMEMLIMIT, of which counts
	// what no collection can free. It is looked at ten times a second and from the beginning. The
	// recording begins with a collection, so that it says what is alive, and has no After: the
	// kernel may kill the program at any moment. `gowhy record --until-memory 90% --pid PID`
	// watches from outside, where nothing has to wait for this program, and says how it ended.
	Memory float64
	// Latency is how long goroutines that could run wait to run: the 99th
	// percentile of one second, two seconds on end.
	Latency time.Duration
	// Tasks are limits by the names given to [Task]; that of "*" is for all
	// others.
	Tasks map[string]time.Duration

	// Dir is where recordings are written, a directory for this program alone.
	// It is made when it is not there.
	Dir string
	// MaxFiles and MaxBytes bound what is there: the oldest recordings are
	// removed. They are 10 and 256 MiB when zero. The newest is always kept.
	MaxFiles int
	MaxBytes int64

	// Before is how much the recording has of what went before: 10 s when
	// zero. Of runtime/metrics it is at most two minutes, of the trace what
	// fits into the flight recorder's memory.
	Before time.Duration
	// After is for how long the CPU profile is taken and metrics are read
	// after the event: 1 s when zero, not at all when negative.
	After time.Duration
	// Warmup is how long the program may take to get into its stride: 1 min
	// when zero. What it does then is what is usual for it. Slow tasks count
	// from the beginning.
	Warmup time.Duration
	// Cooldown is how long a trigger is silent after an event: 5 min when
	// zero. Each entry of Tasks cools down by itself; those that "*" stands
	// for do together, as their names may be without number.
	Cooldown time.Duration
	// Redact leaves out what redact=1 does.
	Redact bool
	// OnEvent is called after each recording, on the goroutine that watches:
	// until it returns nothing is noticed but slow tasks, and stop does not
	// return, so it must not call that. It may be nil.
	OnEvent func(Event)
}

// An Event is what a trigger noticed. Values are in the unit of the trigger's
// field: a share, a number of goroutines, bytes of heap; times in seconds.
type Event struct {
	recording.Event
	File string // the recording; empty when it could not be written
	Err  error  // why, or why older ones could not be removed
}

const (
	watchEvery = time.Second
	// flightBytes bounds the flight recorder. Whatever comes first ends its
	// window, this or Triggers.Before.
	flightBytes = 32 << 20
	// waitingTasks is how many slow tasks can wait for the recording of
	// another event to be written. Those that find no place are forgotten:
	// the one being written tells of them.
	waitingTasks = 16
	// maxPast bounds how many seconds of runtime/metrics are kept, at some 5 KB
	// each.
	maxPast = 120
)

// A flight is a flight recorder that runs. Only newer Go has one: see startFlight.
type flight interface {
	WriteTo(w io.Writer) (int64, error)
	Stop()
}

// watching is what [Task] tells slow tasks to.
var watching atomic.Pointer[watcher]

// A watcher looks at the program once a second.
type watcher struct {
	t        Triggers
	detector *detector
	read     func() reading
	memory   *memoryWatch // nil when it is off
	history  *history
	flight   flight
	began    time.Time
	write    func(recording.Event) (file string, err error)
	slow     chan recording.Event
	cooling  map[string]time.Time // until when, by trigger
}

// Watch keeps the runtime's flight recorder running, and looks at the program
// once a second. When a trigger fires, it writes a recording with the seconds
// before the event and the profiles of the moment, which gowhy reads like any
// other. It watches until stop is called, which returns when nothing is being
// written any more.
//
// The flight recorder costs what an execution trace costs: a percent or two of
// the CPU in most programs, more in those that do little but switch between
// goroutines; and up to about 64 MB of memory. Looking costs some
// microseconds.
//
// An error means that nothing is watched: no trigger is on, the directory
// cannot be made, somebody watches already, the program runs a flight
// recorder of its own, or it was built with Go 1.24 or older, which has none.
func Watch(t Triggers) (stop func(), err error) {
	if t, err = t.withDefaults(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return nil, err
	}
	w := newWatcher(t)
	if !watching.CompareAndSwap(nil, w) {
		return nil, errors.New("agent: the program is watched already")
	}
	keepPartial(t.Dir)
	f, err := startFlight(t.Before, min(flightBytes, t.MaxBytes))
	if err != nil {
		watching.Store(nil)
		return nil, fmt.Errorf("agent: %w", err)
	}
	w.flight, w.began, w.write = f, time.Now(), w.writeEvent
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		w.loop(end)
	}()
	return sync.OnceFunc(func() {
		watching.CompareAndSwap(w, nil)
		close(end)
		<-done
		f.Stop()
	}), nil
}

func (t Triggers) withDefaults() (Triggers, error) {
	_, measured := cpuTime()
	switch {
	case t.Dir == "":
		return t, errors.New("agent: Triggers.Dir is not set")
	case t.MaxFiles < 0 || t.MaxBytes < 0 || t.Before < 0 || t.Warmup < 0 || t.Cooldown < 0:
		return t, errors.New("agent: a bound is negative")
	case !(t.CPU >= 0 && t.Goroutines >= 0 && t.Heap >= 0 && t.Memory >= 0 && t.Latency >= 0): // nor NaN
		return t, errors.New("agent: a trigger is negative")
	case t.CPU > 1:
		return t, errors.New("agent: Triggers.CPU is a share, at most 1")
	case t.Memory > 1:
		return t, errors.New("agent: Triggers.Memory is a share, at most 1")
	case t.CPU > 0 && !measured:
		return t, errors.New("agent: CPU time is not known on this system")
	case t.Goroutines > 0 && t.Goroutines <= 1, t.Heap > 0 && t.Heap <= 1:
		return t, errors.New("agent: growth is a factor over 1, like 2")
	case t.CPU == 0 && t.Goroutines == 0 && t.Heap == 0 && t.Memory == 0 && t.Latency == 0 && len(t.Tasks) == 0:
		return t, errors.New("agent: no trigger is on")
	}
	for name, limit := range t.Tasks {
		if limit <= 0 {
			return t, fmt.Errorf("agent: the limit of task %q is not over 0", name)
		}
	}
	t.Tasks = maps.Clone(t.Tasks) // read by every [Task], on any goroutine
	setDefault(&t.MaxFiles, 10)
	setDefault(&t.MaxBytes, 256<<20)
	setDefault(&t.Before, 10*time.Second)
	setDefault(&t.After, time.Second)
	setDefault(&t.Warmup, time.Minute)
	setDefault(&t.Cooldown, 5*time.Minute)
	return t, nil
}

func setDefault[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

func newWatcher(t Triggers) *watcher {
	return &watcher{
		t:        t,
		detector: &detector{t: t},
		read:     newReader(),
		memory:   newMemoryWatch(t.Memory),
		history:  &history{sampler: newSampler(), most: int(min(t.Before/watchEvery, maxPast)) + 1},
		slow:     make(chan recording.Event, waitingTasks),
		cooling:  map[string]time.Time{},
	}
}

func (w *watcher) loop(end <-chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var near <-chan time.Time // never, without the trigger
	if w.memory != nil {
		often := time.NewTicker(memoryEvery)
		defer often.Stop()
		defer w.memory.groups.close()
		near = often.C
	}
	w.detector.look(w.read())
	w.history.keep()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
			w.history.keep()
			for _, e := range w.detector.look(w.read()) {
				w.event(e)
			}
		case now := <-near:
			if e, fired := w.memory.look(now); fired {
				w.history.keep()
				w.event(e)
			}
		case e := <-w.slow:
			w.event(e)
		}
	}
}

// event writes a recording, unless the trigger is cooling down.
func (w *watcher) event(e recording.Event) {
	trigger := w.trigger(e)
	if e.Time.Before(w.cooling[trigger]) {
		return
	}
	file, err := w.write(e)
	w.cooling[trigger] = time.Now().Add(w.t.Cooldown)
	w.detector.rebase(e)
	if w.t.OnEvent != nil {
		w.t.OnEvent(Event{Event: e, File: file, Err: err})
	}
}

// trigger names what cools down after an event.
func (w *watcher) trigger(e recording.Event) string {
	if _, ok := w.t.Tasks[e.Task]; e.Kind == "task" && !ok {
		return "task *"
	}
	return e.Kind + " " + e.Task
}

// Task begins a user task, as [trace.NewTask] does, which gowhy accounts for by
// its name. When the program is watched and the task takes longer than its
// limit in [Triggers], a recording is written while it is still running, which
// shows where it hangs.
//
//	ctx, end := agent.Task(ctx, "checkout")
//	defer end()
func Task(ctx context.Context, name string) (_ context.Context, end func()) {
	ctx, task := trace.NewTask(ctx, name)
	w := watching.Load()
	limit := w.limit(name)
	if limit == 0 {
		return ctx, task.End
	}
	began := time.Now()
	t := time.AfterFunc(limit, func() { w.tooSlow(name, time.Since(began), limit) })
	return ctx, func() {
		t.Stop()
		task.End()
	}
}

// limit returns what a task may take; 0 without bounds.
func (w *watcher) limit(name string) time.Duration {
	if w == nil {
		return 0
	}
	if d, ok := w.t.Tasks[name]; ok {
		return d
	}
	return w.t.Tasks["*"]
}

func (w *watcher) tooSlow(name string, took, limit time.Duration) {
	select {
	case w.slow <- recording.Event{Kind: "task", Task: name, Time: time.Now(), Value: took.Seconds(), Limit: limit.Seconds()}:
	default:
	}
}

// partial is what a recording is called until it is whole.
const partial = "event.partial"

// writeEvent writes a recording of an event and makes room for it.
func (w *watcher) writeEvent(e recording.Event) (file string, err error) {
	t := w.t
	if e.Kind == "memory" {
		t.After = -1
	}
	// The window is open until the file is whole: Finish waits for that.
	window := front.open(context.Background(), max(t.After, 0))
	defer front.close(window)
	tmp := filepath.Join(t.Dir, partial)
	out, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	err = errors.Join(w.recordEvent(out, window, t, e), out.Sync(), out.Close())
	file = freeName(filepath.Join(t.Dir, "gowhy-"+e.Time.UTC().Format(fileTime)+"-"+e.Kind))
	if err == nil {
		err = os.Rename(tmp, file)
	}
	if err != nil {
		os.Remove(tmp)
		return "", err
	}
	return file, makeRoom(t, filepath.Base(file))
}

// keepPartial names what was being written when the program was killed: a recording that is
// cut short, which is read as far as it goes.
func keepPartial(dir string) {
	tmp := filepath.Join(dir, partial)
	info, err := os.Lstat(tmp)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return
	}
	_ = os.Rename(tmp, freeName(filepath.Join(dir, "gowhy-"+info.ModTime().UTC().Format(fileTime)+"-cut"))) // else it is written over
}

// fileTime is how a recording's name has the time, so that they sort by it.
const fileTime = "20060102T150405.000Z"

// freeName returns the name of a file that is not there yet: two tasks can be
// too slow in the same millisecond.
func freeName(base string) string {
	name := base + ".gowhy"
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d.gowhy", base, n)
	}
}

// recordEvent writes first what would soon be gone: what the flight recorder has, and what
// goroutines do now. Before a kill that is what is alive and who waits, and the trace last,
// which is the largest.
func (w *watcher) recordEvent(out io.Writer, window *window, t Triggers, e recording.Event) error {
	o := options{redact: t.Redact, sources: []string{"heap", "goroutine", "threadcreate", "goroutineleak", "metrics"}}
	if t.After > 0 {
		o.sources = append(o.sources, "cpu")
	}
	kill := e.Kind == "memory"
	if kill {
		o.sources, o.collect = []string{"heap", "goroutine", "metrics"}, true
	}
	r := &recorder{opts: o, window: window, out: recording.NewStream(out), man: manifest(t.Redact), clock: startClock(), history: w.history}
	r.man.Event = &e
	r.man.Start = later(e.Time.Add(-t.Before), w.began).Round(0)
	r.man.Asked = append(r.man.Asked, recording.TraceMember)
	r.anchor()
	if err := r.out.Start(r.man); err != nil {
		return err
	}
	steps := []func() error{func() error { return r.flown(w.flight) }, r.moment, r.after}
	if kill {
		steps = []func() error{r.moment, r.after, steps[0]}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	r.anchor()
	r.man.End = r.clock.now().Round(0)
	return r.out.Finish(r.man)
}

// flown writes what the flight recorder has.
func (r *recorder) flown(f flight) error {
	member, err := r.out.Begin(recording.TraceMember)
	if err != nil {
		return err
	}
	if _, err := f.WriteTo(member); err != nil {
		r.refuse(recording.TraceMember, err)
	} else if r.opts.redact {
		r.man.Unredacted = append(r.man.Unredacted, recording.TraceMember)
	}
	return nil
}

// moment writes what is now.
func (r *recorder) moment() error {
	if err := r.states(func(s state) string { return s.end }); err != nil {
		return err
	}
	return r.add(recording.BuildMember, buildText(r.opts.redact))
}

// after records what follows an event.
func (r *recorder) after() error {
	r.start()
	if len(r.captures) > 0 {
		r.window.wait(nil)
	}
	r.stop()
	return r.results()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// makeRoom removes the oldest recordings until the others are within bounds.
func makeRoom(t Triggers, newest string) error {
	entries, err := os.ReadDir(t.Dir) // by name, so by time
	if err != nil {
		return err
	}
	type file struct {
		name string
		size int64
	}
	var files []file
	total := int64(0)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "gowhy-") || !strings.HasSuffix(e.Name(), ".gowhy") {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		files = append(files, file{e.Name(), info.Size()})
		total += info.Size()
	}
	for len(files) > 0 && (len(files) > t.MaxFiles || total > t.MaxBytes) {
		i := slices.IndexFunc(files, func(f file) bool { return f.name != newest })
		if i < 0 {
			break
		}
		if err := os.Remove(filepath.Join(t.Dir, files[i].name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		total -= files[i].size
		files = slices.Delete(files, i, i+1)
	}
	return nil
}
