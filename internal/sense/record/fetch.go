package record

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

const (
	// fetchSlack is how much longer than the recording an answer may take: a
	// starved server is late, and those are the interesting ones.
	fetchSlack = 10 * time.Second
	// silentSlack is that of a server which has not answered anything so far.
	silentSlack = 2 * time.Second
)

// A fetch is the recording of one endpoint.
type fetch struct {
	*recorder
	at            *endpoint
	before        map[string]*profile.Profile // snapshots of profiles that count since the program's start
	snapshotTimes map[string]time.Time        // when
	mu            sync.Mutex
	patience      time.Duration // beyond the end of the recording
	// firstPiece is the length of a profile's first piece, if not the usual.
	firstPiece time.Duration
}

// snapshots are what is answered at once. A cumulative one is had twice, and
// the recording gets the difference: unlike asking the server for it, that
// still works when the recording is ended early.
var snapshots = []struct {
	source, path, start, end string
	cumulative               bool
}{
	{source: "heap", path: "heap", start: recording.HeapStartMember, end: recording.HeapEndMember},
	{source: "goroutine", path: "goroutine", start: recording.GoroutineStartMember, end: recording.GoroutineEndMember},
	{source: "threadcreate", path: "threadcreate", end: recording.ThreadCreateMember},
	{source: "goroutineleak", path: "goroutineleak", end: recording.LeakMember},
	{source: "allocs", path: "allocs", end: recording.AllocsMember, cumulative: true},
	{source: "block", path: "block", end: recording.BlockMember, cumulative: true},
	{source: "mutex", path: "mutex", end: recording.MutexMember, cumulative: true},
}

// asks reports whether the program is asked for a snapshot.
func (f *fetch) asks(source string) bool {
	return f.wants(source) && (source != "goroutine" || f.o.Memory == nil)
}

// begin takes the snapshots of the start.
func (f *fetch) begin(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, snapshotLimit)
	defer cancel()
	f.before, f.snapshotTimes = map[string]*profile.Profile{}, map[string]time.Time{}
	if slices.Contains(f.o.Only, "wall") {
		f.refuse(recording.WallMember, artifact.Refusal{Why: "the program answers, and its trace says where goroutines wait", How: "gowhy record --sources trace"})
	}
	var wg sync.WaitGroup
	var asked, late atomic.Int32
	for _, s := range snapshots {
		if !f.asks(s.source) || s.start == "" && (!s.cumulative || f.at.agent) {
			continue
		}
		wg.Go(func() {
			p, data, err := f.at.profile(limited, f.at.handlerURL(s.path))
			asked.Add(1)
			if errors.Is(err, context.DeadlineExceeded) {
				late.Add(1)
			}
			switch {
			case err != nil && s.start != "":
				f.refuse(s.start, explain(err))
			case err != nil: // the end will tell why
			case s.cumulative:
				f.mu.Lock()
				f.before[s.source], f.snapshotTimes[s.source] = p, f.clock.now()
				f.mu.Unlock()
			default:
				f.keep(s.start, p, data)
			}
		})
	}
	wg.Wait()
	f.patience = fetchSlack
	if n := asked.Load(); n > 0 && late.Load() == n {
		f.patience = silentSlack
	}
}

// conclude takes the snapshots of the end, or says which of them nothing is
// left of because the program has ended. A nil one does nothing.
func (f *fetch) conclude(gone bool) {
	switch {
	case f == nil:
	case !gone:
		f.end()
	default:
		for _, s := range snapshots {
			if f.wants(s.source) && s.cumulative && !f.at.agent {
				f.refuse(s.end, artifact.Refusal{Why: errProgramGone.Error()})
			}
		}
	}
}

// end takes the snapshots of the end. The recording may have been interrupted
// by now, which is no reason to go without them.
func (f *fetch) end() {
	ctx, cancel := context.WithTimeout(context.Background(), min(snapshotLimit, f.patience))
	defer cancel()
	var wg sync.WaitGroup
	for _, s := range snapshots {
		if !f.asks(s.source) || s.cumulative && f.at.agent {
			continue
		}
		if s.source == "goroutineleak" && !f.at.offers("goroutineleak") {
			continue // the runtime has it when it was built for it
		}
		wg.Go(func() {
			p, data, err := f.at.profile(ctx, f.at.handlerURL(s.path))
			if err == nil && s.cumulative {
				p, err = f.since(s.source, p)
				data = nil
			}
			switch {
			case errors.Is(err, errRateOff):
				f.refuse(s.end, artifact.Refusal{Why: err.Error(), How: rateHint})
				return
			case err != nil:
				f.refuse(s.end, explain(err))
				return
			}
			f.keep(s.end, p, data)
		})
	}
	wg.Wait()
}

// since returns what a profile counted since the first snapshot.
func (f *fetch) since(source string, p *profile.Profile) (*profile.Profile, error) {
	f.mu.Lock()
	before, at := f.before[source], f.snapshotTimes[source]
	f.mu.Unlock()
	if before == nil {
		return nil, errors.New("its state at the start could not be had")
	}
	if hasRate(source) && len(before.Sample)+len(p.Sample) == 0 {
		return nil, errRateOff
	}
	if source == "allocs" {
		onlyAllocated(before)
		onlyAllocated(p)
	}
	before.Scale(-1)
	d, err := profile.Merge([]*profile.Profile{before, p})
	if err != nil {
		return nil, err
	}
	d.TimeNanos, d.DurationNanos = at.UnixNano(), int64(f.clock.now().Sub(at))
	return d, nil
}

// errRateOff is what an empty profile of delays means: that nobody asked for
// one, and not that nobody waited.
var errRateOff = errors.New("the program does not set its rate")

const rateHint = `import _ "github.com/gowhy/gowhy/agent" in the program: it sets their rates while it is recorded`

// hasRate reports whether a source counts nothing until a program sets a rate.
func hasRate(source string) bool { return source == "block" || source == "mutex" }

// onlyAllocated takes out what is in use: the difference of that is no
// profile, and the heap profiles have it.
func onlyAllocated(p *profile.Profile) {
	var columns []int
	var types []*profile.ValueType
	for i, t := range p.SampleType {
		if strings.HasPrefix(t.Type, "alloc_") {
			columns, types = append(columns, i), append(types, t)
		}
	}
	for _, s := range p.Sample {
		values := make([]int64, len(columns))
		for i, c := range columns {
			values[i] = s.Value[c]
		}
		s.Value = values
	}
	p.SampleType = types
}

// windowSources are the sources that a window of time is given to.
var windowSources = []struct {
	source, member string
	agentOnly      bool
}{
	{source: "trace", member: recording.TraceMember},
	{source: "cpu", member: recording.CPUMember},
	{source: "metrics", member: recording.MetricsMember},
	{source: "allocs", member: recording.AllocsMember, agentOnly: true},
	{source: "block", member: recording.BlockMember, agentOnly: true},
	{source: "mutex", member: recording.MutexMember, agentOnly: true},
}

// during records what takes time, until the given moment, or until stop when
// it is zero. It returns when all answers are there. started is called when
// all requests were sent.
func (f *fetch) during(stop context.Context, until time.Time, started func()) {
	f.at.traceLimit = max(f.o.TraceLimit, minTraceLimit)
	ctx, cancel := f.answering(stop)
	defer cancel()
	var wg, sent sync.WaitGroup
	for _, s := range windowSources {
		if !f.wants(s.source) || s.agentOnly && !f.at.agent {
			continue
		}
		sent.Add(1)
		once := sync.OnceFunc(sent.Done)
		// The agent's answer begins when the source does.
		begun := &httptrace.ClientTrace{GotFirstResponseByte: once}
		if !f.at.agent {
			begun = &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { once() }}
		}
		w := &windowRequest{stop: stop, until: until, ctx: httptrace.WithClientTrace(ctx, begun)}
		wg.Go(func() {
			defer once()
			var err error
			switch {
			case s.source == "metrics" && !f.at.agent:
				err = f.poll(w, s.member, once) // it asks again and again
			case s.source == "trace" || s.source == "metrics":
				err = f.stream(w, s.source, s.member)
			default:
				err = f.pieces(w, s.source, s.member)
			}
			if err != nil {
				f.refuse(s.member, explain(err))
			}
		})
	}
	sent.Wait()
	started()
	f.about(ctx)
	wg.Wait()
}

// about takes over what the agent knows of the program while it is recorded.
func (f *fetch) about(ctx context.Context) {
	if !f.at.agent {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	text, err := f.at.get(ctx, f.at.handlerURL("about"), 1<<20)
	var m recording.Manifest
	if err != nil || json.Unmarshal(text, &m) != nil {
		return
	}
	f.man.Go, f.man.Procs = cmp.Or(f.man.Go, m.Go), cmp.Or(f.man.Procs, m.Procs)
	f.man.Rates = m.Rates
	if len(f.man.Env) == 0 {
		f.man.Env = m.Env
	}
	if f.wants("build") && !f.has(recording.BuildMember) { // on another machine
		if text, err := f.at.get(ctx, f.at.handlerURL("build"), 1<<20); err == nil {
			_ = f.w.Add(recording.BuildMember, text) // without it there is less
		}
	}
}

// A windowRequest asks for what lasts until a moment, zero for until stop.
// Its answer may take longer, until ctx is done.
type windowRequest struct {
	stop, ctx context.Context
	until     time.Time
}

// How long an answer may take when the recording has ended: the recorder let the agent end
// it, or the program has ended and some of it is on its way.
const (
	agentGrace = 10 * time.Second
	goneGrace  = 2 * time.Second
)

// answering returns a context for requests that outlives stop when answers are still to come:
// net/http/pprof ends a profile only when its time has run out, and then cannot send it any
// more; the agent ends it on request.
func (f *fetch) answering(stop context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(stop))
	go func() {
		select {
		case <-stop.Done():
		case <-ctx.Done():
			return
		}
		switch {
		case programEnded(stop):
			sleepUntil(ctx, time.Now().Add(goneGrace))
		case f.at.agent:
			asked, done := context.WithTimeout(ctx, probeLimit)
			_, _ = f.at.get(asked, f.at.handlerURL("stop"), 1<<16) // without it there is less
			done()
			sleepUntil(ctx, time.Now().Add(agentGrace))
		}
		cancel(context.Cause(stop))
	}()
	return ctx, func() { cancel(nil) }
}

// agentTail is how much the agent may send beyond the limit and a quarter of
// it, for the trace to be whole.
const agentTail = 32 << 20

// minTraceLimit is the least that the agent takes.
const minTraceLimit = 1 << 20

// openEnd is what is asked for when the end is not known: the connection is
// closed before.
const openEnd = 24 * time.Hour

// stream writes an answer into its member as it comes, and keeps what had come
// when it is cut.
func (f *fetch) stream(w *windowRequest, path, member string) error {
	d, ctx := openEnd, w.ctx
	if !w.until.IsZero() {
		d = time.Until(w.until)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(w.ctx, d+f.patience)
		defer cancel()
	}
	stop := w.stop
	resp, err := f.at.request(ctx, f.at.windowURL(path, d))
	if err != nil {
		return ended(stop, err)
	}
	defer resp.Body.Close()
	limit := int64(math.MaxInt64)
	body := io.Reader(charged{resp.Body, f.at})
	if path == "trace" {
		var err error
		if body, err = f.traceIn(resp.Body); err != nil {
			return ended(stop, err)
		}
		if limit = f.o.TraceLimit; f.at.agent {
			limit += limit/4 + agentTail // it ends it well, but not to the byte
		}
	}
	began := time.Now()
	n, err := f.fill(member, body, limit)
	switch {
	case errors.Is(err, errTooMuch):
		f.refuse(member, artifact.Refusal{Why: err.Error()})
		err = nil // what came before is of use
	case path == "trace" && err == nil && n >= f.o.TraceLimit:
		f.refuse(member, artifact.Refusal{Why: fmt.Sprintf("it reached its limit of %s after %s and ends there",
			figures.Bytes(min(n, max(f.o.TraceLimit, 1))), figures.Duration(time.Since(began))), How: "--trace-limit 2GB raises it, --without trace goes without it"})
	}
	if err != nil && f.has(member) && stopped(stop) {
		f.cutByEnd(stop, member)
		return nil // what came before the end is of use
	}
	return ended(stop, err)
}

// cutByEnd notes that the last of a member was lost with the program that has
// the agent, which could have kept it.
func (f *fetch) cutByEnd(stop context.Context, member string) {
	if f.at.agent && programEnded(stop) {
		f.refuse(member, artifact.Refusal{Why: "the program ended while it was recorded, and what it had not sent is lost", How: finishHint})
	}
}

const finishHint = "`defer agent.Finish()` in main keeps the end of a recording, too"

// programEnded reports whether a recording is over because its program is.
func programEnded(stop context.Context) bool { return errors.Is(context.Cause(stop), errProgramGone) }

// fill writes a member from a stream, as much as there is and at most limit.
func (r *recorder) fill(member string, from io.Reader, limit int64) (int64, error) {
	to, err := os.Create(r.w.Path(member))
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(to, io.LimitReader(from, limit))
	return n, errors.Join(err, to.Close())
}

// Pieces of a profile whose end is not known begin short and grow, to a third of what is
// there: what is lost when the program ends is the last one, a quarter of all at most, or a
// second. Between two the profiler is off, for less than the tenth of a second that it takes
// to end one.
const (
	firstPiece = time.Second
	lastPiece  = 8 * time.Second
	// maxPiece is for a profile of known length, which is rarely cut.
	maxPiece = 15 * time.Second
)

// pieces records a profile, in more than one piece when it is long, and joins
// them.
func (f *fetch) pieces(w *windowRequest, source, member string) error {
	stop, until := w.stop, w.until
	path := source
	if source == "cpu" {
		path = "profile"
	}
	var all *profile.Profile
	var only []byte
	var had time.Duration
	for n := 0; stop.Err() == nil; n++ {
		d := nextPiece(cmp.Or(f.firstPiece, firstPiece), had)
		if !until.IsZero() {
			if d = min(time.Until(until), maxPiece); d < firstPiece/2 && n > 0 {
				break
			}
		}
		had += d
		start := time.Now()
		p, data, begun, err := f.piece(w.ctx, path, d)
		if err != nil {
			if all == nil {
				return ended(stop, err)
			}
			f.endsEarly(stop, member, begun, err)
			break
		}
		if only = data; all != nil {
			only = nil
			if p, err = profile.Merge([]*profile.Profile{all, p}); err != nil {
				return err
			}
		}
		all = p
		if time.Since(start) < d/2 {
			break // it does not wait, and requests would never end
		}
	}
	if all == nil {
		return ended(stop, context.Canceled)
	}
	f.keep(member, all, only)
	return nil
}

// nextPiece returns the length of the piece of a profile behind those that were had.
func nextPiece(first, had time.Duration) time.Duration { return min(max(first, had/3), lastPiece) }

// endsEarly says why there is no further piece of a profile, unless all is
// well: the recording is over, or the program ended and had sent everything, for it
// had not begun the next piece.
func (f *fetch) endsEarly(stop context.Context, member string, begun bool, err error) {
	broken := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
	if broken || unreachable(err) || isEnding(err) {
		// A program is seen to have ended some time after its connections.
		sleepUntil(stop, time.Now().Add(goneGrace))
	}
	switch {
	case programEnded(stop) && broken:
		if begun {
			f.cutByEnd(stop, member)
		}
	case !stopped(stop) && !isEnding(err):
		f.refuse(member, artifact.Refusal{Why: "it ends early: " + explain(err).Why, How: explain(err).How})
	}
}

// isEnding reports whether the agent refused a request because its program is
// in [agent.Finish].
func isEnding(err error) bool {
	var status *statusError
	return errors.As(err, &status) && strings.HasSuffix(status.text, "the program is ending")
}

// piece fetches one; begun is set when the program had begun to answer.
func (f *fetch) piece(ctx context.Context, path string, d time.Duration) (p *profile.Profile, data []byte, begun bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, d+f.patience)
	defer cancel()
	var first atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { first.Store(true) }})
	p, data, err = f.at.profile(ctx, f.at.windowURL(path, d))
	return p, data, first.Load(), err
}

// stopped reports whether the recording has ended, or does so at once: the
// connection to a program that ends breaks before its end is noticed.
func stopped(stop context.Context) bool {
	sleepUntil(stop, time.Now().Add(2*goneEvery))
	return stop.Err() != nil
}

// ended puts the reason of an error before its symptom.
func ended(stop context.Context, err error) error {
	if err != nil && !isStatusError(err) && stopped(stop) {
		return errEnded(stop)
	}
	return err
}

// traceIn looks at the beginning of an answer that should be a trace. A trace has
// a limit of its own; what is packed and may be one has not.
func (f *fetch) traceIn(answer io.Reader) (io.Reader, error) {
	body := bufio.NewReader(answer)
	head, err := body.Peek(16)
	switch kind := artifact.Sniff(head); {
	case kind == artifact.Trace:
		return body, nil
	case kind == artifact.Gzip:
		return charged{body, f.at}, nil
	case len(head) == 0 && err != io.EOF:
		return nil, err
	case kind == artifact.HTML:
		return nil, errors.New("the answer is a web page")
	}
	return nil, errors.New("the answer is something else")
}

// explain says why something could not be fetched and what would help.
func explain(err error) artifact.Refusal {
	var status *statusError
	r := artifact.Refusal{Why: cause(err).Error()}
	if errors.Is(err, context.DeadlineExceeded) {
		r.Why = "the server did not answer in time"
	}
	if !errors.As(err, &status) {
		return r
	}
	switch {
	case strings.Contains(status.text, "WriteTimeout"):
		r.How = "record for less with -d, or take http.Server's WriteTimeout away"
	case strings.Contains(status.text, "already"):
		r.How = "somebody else records it: wait until they are done"
	case status.code == http.StatusNotFound:
		r.Why = "the program does not offer it"
	}
	return r
}
