package load

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies are kept in nanoseconds, exact to a microsecond below two
// milliseconds and to three digits above, up to an hour.
const (
	finest  = int64(time.Microsecond)
	longest = int64(time.Hour)
	digits  = 3
)

// A latencies is a histogram with what a histogram does not keep: the exact
// mean and extremes.
type latencies struct {
	h        *hdr.Histogram
	sum      float64 // ns
	min, max time.Duration
}

func newLatencies() *latencies { return &latencies{h: hdr.New(finest, longest, digits)} }

func (l *latencies) add(d time.Duration) {
	d = max(d, 0)
	if l.h.TotalCount() == 0 || d < l.min {
		l.min = d
	}
	l.max = max(l.max, d)
	l.sum += float64(d)
	_ = l.h.RecordValue(min(int64(d), longest)) // it fails for values out of range only
}

func (l *latencies) n() int64 { return l.h.TotalCount() }

func (l *latencies) mean() time.Duration {
	return time.Duration(l.sum / float64(max(l.n(), 1)))
}

// at is a quantile; 0 when there is nothing.
func (l *latencies) at(q float64) time.Duration {
	switch {
	case l.n() == 0:
		return 0
	case q <= 0:
		return l.min
	case q >= 1:
		return l.max
	}
	return min(max(time.Duration(l.h.ValueAtPercentile(100*q)), l.min), l.max)
}

func (l *latencies) quantiles() (all []Quantile) {
	if l.n() == 0 {
		return nil
	}
	for _, q := range sampled {
		all = append(all, Quantile{q, l.at(q)})
	}
	return all
}

func (l *latencies) reset() {
	l.h.Reset()
	l.sum, l.min, l.max = 0, 0, 0
}

// maxKinds bounds how many kinds of failure are told apart, beside those that
// are known.
const (
	maxKinds   = 20
	kindOthers = "other failures"
)

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
	response, service, late *latencies
	ops, failed             int64 // counted ones
	inTime                  int64 // counted ones that finished before the end
	bytes                   int64
	tardy                   int64 // begun late by more than lateTime, through the generator
	kinds, answers, strays  map[string]int64
	last                    time.Duration // when the last counted one finished
	over                    []Interval
	current                 Interval
	piece                   *latencies
	crowd                   [2]crowd
	levels                  []Level
	step                    int // every so many samples of the backlog are kept
	samples                 int
}

// A crowd is the service times of operations that were sent while few or
// nearly all connections were busy: [Result].Generator compares them.
type crowd struct {
	n   int64
	sum time.Duration
}

func newRecorder(counted, end time.Duration, soft bool) *recorder {
	r := &recorder{counted: counted, end: end, soft: soft, width: time.Second, step: 1, kinds: map[string]int64{}, answers: map[string]int64{}, strays: map[string]int64{},
		response: newLatencies(), service: newLatencies(), late: newLatencies(), piece: newLatencies()}
	for (end-counted)/r.width >= maxPieces {
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
		r.response.add(end - o.at)
		r.service.add(end - o.began)
		r.piece.add(end - o.at)
	}
	if o.free {
		r.late.add(o.began - o.at)
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
	r.response.add(r.end - at)
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
func sorted(kinds map[string]int64) (list []Failure) {
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		list = append(list, Failure{kind, kinds[kind]})
	}
	slices.SortStableFunc(list, func(a, b Failure) int { return cmp.Compare(b.N, a.N) })
	return list
}

// close ends the intervals before now. What finishes at the very end of one
// belongs to it.
func (r *recorder) close(now time.Duration) {
	for now > r.current.At+r.current.Width && len(r.over) < maxPieces-1 {
		r.push(r.current.At + r.current.Width)
	}
}

func (r *recorder) push(end time.Duration) {
	r.current.P50, r.current.P99 = r.piece.at(0.5), r.piece.at(0.99)
	r.current.Width = end - r.current.At
	r.over = append(r.over, r.current)
	r.current = Interval{At: end, Width: r.width}
	if r.piece.n() > 0 {
		r.piece.reset()
	}
}

// maxLevels bounds the series of the backlog: beyond, every second one is
// forgotten.
const maxLevels = 4096

// sample notes the backlog.
func (r *recorder) sample(now time.Duration, backlog int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.samples++; now < r.counted || r.samples%r.step != 0 {
		return
	}
	r.levels = append(r.levels, Level{now - r.counted, backlog})
	if len(r.levels) < maxLevels {
		return
	}
	r.step *= 2
	for i := range maxLevels / 2 {
		r.levels[i] = r.levels[2*i+1]
	}
	r.levels = r.levels[:maxLevels/2]
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
		p.Rate, p.P99 = float64(r.ops)/max(p.At.Seconds(), 0.1), r.piece.at(0.99)
	}
}

// cut ends the plan before its time.
func (r *recorder) cut(now time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = max(min(r.end, now), r.counted)
}

// result gives the sums, up to the end of the plan or of the last operation.
func (r *recorder) result(planned int64) *Result {
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
	res := &Result{Tool: toolGowhy, Duration: max(window, 0), Ops: r.ops, Failed: r.failed, Bytes: r.bytes,
		Planned: planned, Sent: r.begun.Load(), Mean: r.response.mean(),
		Latency: r.response.quantiles(), Service: r.service.quantiles(), Late: r.late.quantiles(),
		Over: r.over, Backlog: r.levels, histogram: r.response.h}
	if rated := (r.end - r.counted).Seconds(); rated > 0 {
		res.Rate = float64(r.inTime) / rated
	}
	res.Errors, res.Answers, res.Strays = sorted(r.kinds), sorted(r.answers), sorted(r.strays)
	return res
}
