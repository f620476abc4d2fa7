package load

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// maxKinds bounds how many kinds of failure are told apart, beside those that
// are known.
var maxKinds = loadresult.MaxKinds - len(knownKinds)

const kindOthers = "other failures"

// A recorder adds up what became of the operations. Times are since the start
// of the plan; counted begins when the warm-up is over.
type recorder struct {
	counted time.Duration
	end     time.Duration // of the plan
	soft    bool          // what finishes after the end counts as in time
	width   time.Duration // of intervals

	finished atomic.Int64 // of all operations, warm-up included
	begun    atomic.Int64 // of counted ones

	mu                      sync.Mutex
	response, service, late *loadresult.Latencies
	ops, failed             int64 // counted ones
	inTime                  int64 // counted ones that finished before the end
	bytes                   int64
	tardy                   int64 // begun late by more than lateTime, through the generator
	kinds, answers, strays  map[string]int64
	last                    time.Duration // when the last counted one finished
	over                    []loadresult.Interval
	current                 loadresult.Interval
	piece                   *loadresult.Latencies
	crowd                   [2]crowd
	levels                  []loadresult.Level
	step                    int // of the samples of the backlog, every nth is kept
	samples                 int
}

// A crowd is the service times of operations that were sent while few or
// nearly all connections were busy: [loadresult.Result].Generator compares them.
type crowd struct {
	n   int64
	sum time.Duration
}

func newRecorder(counted, end time.Duration, soft bool) *recorder {
	r := &recorder{counted: counted, end: end, soft: soft, width: time.Second, step: 1, kinds: map[string]int64{}, answers: map[string]int64{}, strays: map[string]int64{},
		response: loadresult.NewLatencies(), service: loadresult.NewLatencies(), late: loadresult.NewLatencies(), piece: loadresult.NewLatencies()}
	for (end-counted)/r.width >= loadresult.MaxPieces {
		r.width *= 2
	}
	r.current.Width = r.width
	return r
}

// An op is one operation on its way.
type op struct {
	seq   int64
	at    time.Duration // when it was due
	began time.Duration // when it was sent, or its connection opened
	free  bool          // nothing but the generator kept it waiting
	crowd int           // 0 few, 1 nearly all connections were busy; -1 neither
}

// An outcome is what became of an operation.
type outcome struct {
	bytes int64
	note  string // see [Reply]
	err   error
	// answered is set when its time is a latency: a connection that was refused
	// is over soon and would flatter.
	answered bool
}

func (r *recorder) finish(o op, end time.Duration, out outcome) {
	r.finished.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if out.answered && o.crowd >= 0 {
		r.crowd[o.crowd].n++
		r.crowd[o.crowd].sum += end - o.began
	}
	if o.at < r.counted {
		return
	}
	r.close(end - r.counted)
	r.ops++
	r.current.Ops++
	r.bytes += out.bytes
	r.last = max(r.last, end)
	if r.soft || end <= r.end {
		r.inTime++
	}
	if out.err != nil {
		r.failed++
		r.current.Failed++
		r.fail(Kind(out.err))
	}
	if out.note != "" {
		addKind(r.answers, out.note, 1)
	}
	if out.answered {
		r.response.Add(end - o.at)
		r.service.Add(end - o.began)
		r.piece.Add(end - o.at)
	}
	if o.free {
		r.late.Add(o.began - o.at)
		if o.began-o.at > lateTime {
			r.tardy++
		}
	}
}

// never notes an operation that was not begun when time was up: nobody knows its
// latency, but as long as this it has waited. Left out, a stall at the end of a
// run would hide behind the few operations that were under way in it.
func (r *recorder) never(at time.Duration) {
	if at < r.counted {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.response.Add(r.end - at)
}

func (r *recorder) fail(kind string) { addKind(r.kinds, kind, 1) }

// stray notes an answer to no operation.
func (r *recorder) stray(now time.Duration, kind string, n int64) {
	if now < r.counted || kind == "" || n == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	addKind(r.strays, kind, n)
}

// addKind counts by kinds, of which there are not many.
func addKind(kinds map[string]int64, kind string, n int64) {
	if kinds[kind] == 0 && len(kinds) >= maxKinds && !slices.Contains(knownKinds, kind) {
		kind = kindOthers
	}
	kinds[kind] += n
}

// sorted are kinds, the most frequent first.
func sorted(kinds map[string]int64) (list []loadresult.Failure) {
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		list = append(list, loadresult.Failure{What: kind, N: kinds[kind]})
	}
	slices.SortStableFunc(list, func(a, b loadresult.Failure) int { return cmp.Compare(b.N, a.N) })
	return list
}

// close ends the intervals before now. What finishes at the very end of one
// belongs to it.
func (r *recorder) close(now time.Duration) {
	for now > r.current.At+r.current.Width && len(r.over) < loadresult.MaxPieces-1 {
		r.push(r.current.At + r.current.Width)
	}
}

func (r *recorder) push(end time.Duration) {
	r.current.P50, r.current.P99 = r.piece.Quantile(0.5), r.piece.Quantile(0.99)
	r.current.Width = end - r.current.At
	r.over = append(r.over, r.current)
	r.current = loadresult.Interval{At: end, Width: r.width}
	if r.piece.N() > 0 {
		r.piece.Reset()
	}
}

// sample notes the backlog. When the series is full, every second sample of it
// is forgotten.
func (r *recorder) sample(now time.Duration, backlog int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.samples++; now < r.counted || r.samples%r.step != 0 {
		return
	}
	r.levels = append(r.levels, loadresult.Level{At: now - r.counted, N: backlog})
	if len(r.levels) < loadresult.MaxLevels {
		return
	}
	r.step *= 2
	for i := range loadresult.MaxLevels / 2 {
		r.levels[i] = r.levels[2*i+1]
	}
	r.levels = r.levels[:loadresult.MaxLevels/2]
}

// lately tells the latest interval that has ended, or the current one.
func (r *recorder) lately(p *Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.Done, p.Failed = r.ops, r.failed
	p.Sent = r.begun.Load()
	if n := len(r.over); n > 0 {
		p.Rate = float64(r.over[n-1].Ops) / r.over[n-1].Width.Seconds()
		p.P99 = r.over[n-1].P99
	} else {
		p.Rate, p.P99 = float64(r.ops)/max(p.At.Seconds(), 0.1), r.piece.Quantile(0.99)
	}
}

// cut ends the plan before its time.
func (r *recorder) cut(now time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = max(min(r.end, now), r.counted)
}

// result gives the sums, up to the end of the plan or of the last operation.
func (r *recorder) result(planned int64) *loadresult.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.soft {
		r.end = max(r.end, r.last)
	}
	window := max(r.end, r.last) - r.counted
	r.close(window)
	if window > r.current.At {
		r.push(window)
	}
	res := &loadresult.Result{Tool: loadresult.Gowhy, Duration: max(window, 0), Ops: r.ops, Failed: r.failed, Bytes: r.bytes,
		Planned: planned, Sent: r.begun.Load(), Service: r.service.Quantiles(), Late: r.late.Quantiles(),
		Over: r.over, Backlog: r.levels}
	res.SetLatency(r.response)
	if rated := (r.end - r.counted).Seconds(); rated > 0 {
		res.Rate = float64(r.inTime) / rated
	}
	res.Errors, res.Answers, res.Strays = sorted(r.kinds), sorted(r.answers), sorted(r.strays)
	return res
}
