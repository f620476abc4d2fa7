package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/vote"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/heap"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/sense/record"
	"github.com/gowhy/gowhy/internal/watch/budget"
)

// How programs are judged: one piece of time after the other is recorded and
// diagnosed as any recording is, and the last ones vote.
const (
	// pieceTime is of a program that is looked at, turnTime of each of several.
	pieceTime = 10 * time.Second
	turnTime  = 5 * time.Second
	// firstTime is of the first pieces of a program, so that all that vote are there
	// within half a minute.
	firstTime = 8 * time.Second
	// keepTime is what is kept as a recording where no window is chosen.
	keepTime = 30 * time.Second
	// maxGone is how many findings are remembered that are not there any more.
	maxGone = 50
	// traceLimit is for a piece that has a trace.
	traceLimit = 64 << 20
	// idleCores is what a program must use to be judged in its turn: of less there
	// are no samples to speak of.
	idleCores = 0.005
	// mostDebt is for how many seconds the judge waits for the budget.
	mostDebt = 30
	// idleTime is how long a program has to be seen before it is called idle.
	idleTime = 5 * time.Second
	// growing is how many more goroutines a minute make a program worth judging that
	// does little: in a turn they are as many as the rule for them asks for. It counts
	// as one that uses growingCores then.
	growing      = 1200
	growingCores = 0.05
	// levelTime is for how long counts of goroutines are looked at together: a little more
	// than what votes, so that a leak that just began is not held off for long. In a pool
	// that was well they went from 123 to 768 and back every few seconds.
	levelTime = 40 * time.Second
	// longLock is how long somebody must have waited for a lock when a program is not called
	// idle. Locks of programs that are well are held for microseconds, over a call of the
	// network for a second at most.
	longLock = 10 * time.Second
)

// outside are the sources that ask a program nothing; agents are those that the agent answers
// without stopping the program; traced are the options of a trace.
var (
	outside = []string{"proc", "kernel", "offcpu", "syscalls", "goroutine", "metrics", "heap", "build"}
	agents  = []string{"allocs", "mutex", "block"}
	traced  = []string{"trace", "cpu", "allocs", "mutex", "block"}
)

// A judge judges programs, one at a time, on a goroutine of its own.
type judge struct {
	rules  []*diagnosis.Rule
	dir    string
	budget float64
	trace  bool
	cancel context.CancelFunc
	done   chan struct{}
	wake   chan struct{}
	share  func() float64 // of a CPU, that all of the watching took lately
	memory func(pid int) memory
	look   func(context.Context, int, heap.Options) (*model.HeapLook, error) // [heap.Read]

	mu       sync.Mutex
	cases    map[int]*judgedProgram
	attended int
	traceOne bool     // of the attended, in its next piece
	pieces   []*Piece // that are kept, oldest first
	number   int

	files   sync.RWMutex // held by who reads pieces, and to let go of some; taken before mu
	judging sync.WaitGroup
}

// A judgedProgram is a program with its findings.
type judgedProgram struct {
	rules []*diagnosis.Rule // that find
	pid   int
	start time.Time
	cores float64
	procs int  // GOMAXPROCS, 0 when not known
	grows bool // has more and more goroutines, or a heap that rises
	// stands says how many goroutines have waited for a lock for long; empty for none.
	stands string
	since  time.Time // when it was seen first
	// counts are how many goroutines it had, in the last levelTime. A piece of ten seconds
	// has two counts, of which the later one is often the larger where they go up and down:
	// that they grow is to be seen in these too.
	counts model.Series
	// alive is what collections found alive in the last keptTime, and gcs the number of the last.
	alive   model.Series
	gcs     int64
	holding holding
	at      time.Time // of its last piece
	// recorded are its pieces, and pieces those of them that were judged.
	recorded, pieces int
	votes            []*suspect
	gone             []Finding // that were shown, the last to go first
	last             *diagnosis.Diagnosis
	did              Activity
	file             string
	err              error
	probed           bool
	url              string // of its endpoint
	isAgent          bool
}

// A suspect is a finding that some of the last pieces have.
type suspect struct {
	finding      diagnosis.Finding
	key          vote.Key
	first, last  time.Time
	looks        vote.Looks // the last pieces
	shown, fresh bool
	file         string
}

// startJudge begins to judge what a watch sees.
func startJudge(o Options, w *Watch) (*judge, error) {
	sweep(os.TempDir())
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", dirPrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	j := &judge{rules: o.Rules, dir: dir, budget: o.Budget, trace: o.Trace, cancel: cancel, done: make(chan struct{}), wake: make(chan struct{}, 1),
		share: w.ownCPU, memory: w.memory, look: heap.Read, cases: map[int]*judgedProgram{}}
	if len(o.PIDs) == 1 {
		j.attended = o.PIDs[0]
	}
	go j.run(ctx)
	return j, nil
}

// dirPrefix begins the name of the directory with the pieces; the number of the
// process that has it follows.
const dirPrefix = "gowhy-live-"

// sweep removes what was left by those that were killed.
func sweep(temp string) {
	dirs, _ := filepath.Glob(filepath.Join(temp, dirPrefix+"*"))
	for _, d := range dirs {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(d), dirPrefix), "-")
		if pid, err := strconv.Atoi(number); err == nil {
			if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); errors.Is(err, os.ErrNotExist) {
				os.RemoveAll(d) // not ours to remove if it is another user's
			}
		}
	}
}

func (j *judge) stop() {
	if j == nil {
		return
	}
	j.cancel()
	<-j.done
	j.judging.Wait()
	j.files.Lock() // nobody reads any more
	defer j.files.Unlock()
	os.RemoveAll(j.dir)
}

func (j *judge) attend(pid int, trace bool) {
	if j == nil {
		return
	}
	j.mu.Lock()
	j.attended, j.traceOne = pid, trace
	j.mu.Unlock()
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// follow has the program that took another's place attended as that was.
func (j *judge) follow(was, pid int) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.attended == was {
		j.attended = pid
	}
}

// choose tells the judge which programs there are.
func (j *judge) choose(f *Frame) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	here := map[int]bool{}
	for _, p := range f.Processes {
		if !p.IsGo() || p.PID == os.Getpid() { // who watches is not judged for it
			continue
		}
		here[p.PID] = true
		start := f.Time.Add(-p.Up)
		c := j.cases[p.PID]
		if c == nil || c.start.Sub(start).Abs() > 2*time.Second {
			c = &judgedProgram{pid: p.PID, start: start, since: time.Now(), rules: j.rules}
			j.cases[p.PID] = c
		}
		c.cores = p.CPU.Cores()
		if p.Runtime != nil {
			c.procs = p.Runtime.Procs
		}
		c.count(p.Goroutines, f.Time)
		c.noteCollection(p.Runtime, f.Time)
		c.grows = p.Goroutines != nil && p.Goroutines.Growth >= growing || c.rises()
		c.stands = standing(p.Goroutines)
	}
	for pid := range j.cases {
		if !here[pid] {
			delete(j.cases, pid)
		}
	}
}

// standing says how many goroutines have waited for a lock for long. Such a program uses no
// CPU, and is anything but idle.
func standing(g *Goroutines) string {
	if g == nil {
		return ""
	}
	n, longest := 0, time.Duration(0)
	for i := range g.Groups {
		k := &g.Groups[i]
		if strings.HasPrefix(k.Reason, "sync.Mutex.") || strings.HasPrefix(k.Reason, "sync.RWMutex.") {
			n, longest = n+k.Count, max(longest, k.Oldest)
		}
	}
	if longest < longLock {
		return ""
	}
	if n == 1 {
		return "a goroutine waits for a lock, since " + longest.Truncate(time.Second).String()
	}
	return fmt.Sprintf("%d goroutines wait for locks, the longest for %s", n, longest.Truncate(time.Second))
}

// count notes how many goroutines there are.
func (c *judgedProgram) count(g *Goroutines, now time.Time) {
	if g == nil || g.Why != "" {
		return
	}
	at := now.Add(-g.Age).Sub(c.since)
	if last, ok := c.counts.Last(); ok && at <= last.At {
		return // not read again
	}
	c.counts = append(c.counts, model.Point{At: at, Value: float64(g.Total)})
	old := 0
	for c.counts[old].At < at-levelTime {
		old++
	}
	c.counts = c.counts[old:]
}

// confirmed reports whether the counts of its goroutines bear out what a rule found.
func (c *judgedProgram) confirmed(rule string) bool {
	i := slices.IndexFunc(c.rules, func(r *diagnosis.Rule) bool { return r.Name == rule })
	return i < 0 || c.rules[i].Confirm == nil || c.rules[i].Confirm(c.counts)
}

// run judges until ctx ends.
func (j *judge) run(ctx context.Context) {
	defer close(j.done)
	for ctx.Err() == nil {
		j.lookAtHeap(ctx)
		began, used := time.Now(), budget.OwnCPU()
		c, d, trace := j.nextTurn()
		rest := 500 * time.Millisecond
		if c != nil {
			j.piece(ctx, c, d, trace)
			if j.hurries(c) {
				continue
			}
			cost := budget.OwnCPU() - used
			rest = time.Until(began.Add(pace(0, cost, j.budget/2)))
		}
		select {
		case <-ctx.Done():
		case <-j.wake:
		case <-time.After(max(rest, 0)):
		}
		j.payBack(ctx)
	}
}

// hurries tells whether the next piece comes at once: who looks at a program waits for
// its first verdict, and what that costs beyond the budget is paid back later.
func (j *judge) hurries(c *judgedProgram) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return c.pid == j.attended && c.recorded > 0 && c.recorded < vote.Voters
}

// payBack waits while all of the watching together takes more than its budget: what is
// shown each second goes before what is judged. It does not wait for ever, for a budget
// may be too small for the refreshes alone.
func (j *judge) payBack(ctx context.Context) {
	for range mostDebt {
		if j.share() <= j.budget {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-j.wake:
			return
		case <-time.After(time.Second):
		}
	}
}

// nextTurn returns the program whose turn it is: the one that is looked at, or the one
// that was not judged for longest, by what it uses.
func (j *judge) nextTurn() (c *judgedProgram, d time.Duration, trace bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if c := j.cases[j.attended]; c != nil {
		trace, j.traceOne = j.traceOne || j.trace, false
		d = pieceTime
		if c.recorded < vote.Voters {
			d = firstTime
		}
		return c, d, trace
	}
	most := 0.0
	for _, is := range j.cases {
		wait := time.Since(is.at).Seconds()
		if is.at.IsZero() {
			wait = 1e6
		}
		cores := is.cores
		if is.grows || is.stands != "" {
			cores = max(cores, growingCores)
		}
		if due := wait * cores; cores >= idleCores && due > most {
			c, most = is, due
		}
	}
	return c, turnTime, j.trace
}

// piece records a piece of a program's time, and has it judged while the next one is
// recorded: of a program that is looked at nothing is missing between two pieces.
func (j *judge) piece(ctx context.Context, c *judgedProgram, d time.Duration, trace bool) {
	j.mu.Lock()
	j.number++
	out := filepath.Join(j.dir, fmt.Sprintf("%d-%d.gowhy", c.pid, j.number))
	first, procs, looks := c.at.IsZero(), c.procs, c.heapLooks()
	probe := (j.attended == c.pid || trace) && (!c.probed || trace && c.url == "")
	j.mu.Unlock()
	if probe {
		j.probe(ctx, c)
	}
	if first {
		j.awaitGoroutines(ctx, c.pid)
	}
	o := record.Options{Out: out, Duration: d, Only: outside, Piece: true, TraceLimit: traceLimit,
		Memory: j.memory(c.pid), Procs: procs, Looks: looks}
	to := record.Target{PID: c.pid}
	trace = trace && c.url != ""
	switch {
	case trace:
		to.URL, o.Only = c.url, slices.Concat(outside, traced)
	case c.isAgent:
		to.URL, o.Only = c.url, slices.Concat(outside, agents)
	}
	p := &Piece{PID: c.pid, From: time.Now(), Traced: trace, file: out}
	result, err := record.Run(ctx, to, o)
	p.To = time.Now()
	j.judging.Wait() // for the piece before
	j.mu.Lock()
	c.recorded++            // or tried to
	c.at, c.err = p.To, err // others have their turn meanwhile
	j.mu.Unlock()
	if err != nil || !result.Written {
		os.Remove(out)
		return
	}
	for _, r := range result.Refused {
		if r.Member == recording.KernelMember {
			p.Why, p.How = r.Why, r.How
		}
	}
	j.judging.Go(func() { j.judgePiece(ctx, c, p) })
}

// probe looks for an endpoint of a program, and for none of one whose network is another:
// at its port here another program may answer.
func (j *judge) probe(ctx context.Context, c *judgedProgram) {
	url, agent := "", false
	if addrs := proc.OwnListening(c.pid)[c.pid]; len(addrs) > 0 {
		url, agent = record.Endpoint(ctx, addrs)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	c.probed, c.url, c.isAgent = true, url, agent
}

// awaitGoroutines waits until a program's goroutines were read for the first time, so
// that the first piece has them at both its ends; not for long, for that may fail.
func (j *judge) awaitGoroutines(ctx context.Context, pid int) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 15 {
		if s, _ := j.memory(pid).Read(); s != nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// judgePiece diagnoses a piece, and counts what that says.
func (j *judge) judgePiece(ctx context.Context, c *judgedProgram, p *Piece) {
	var d *diagnosis.Diagnosis
	var did Activity
	m, err := evidence.Load(ctx, []string{p.file}, evidence.Options{Workers: 1, NoSource: true})
	if err == nil {
		d, did = diagnosis.Run(m, j.rules, diagnosis.Options{}), activity(m, p.To.Sub(p.From))
		p.picture(m)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if c.at, c.err = time.Now(), err; err != nil {
		os.Remove(p.file)
		return
	}
	c.did = did
	c.vote(d, p.From, p.file)
	j.add(p)
}

// vote adds what a piece found to what the pieces before it did.
func (c *judgedProgram) vote(d *diagnosis.Diagnosis, at time.Time, file string) {
	c.pieces++
	c.last, c.file = d, file
	for _, a := range c.votes {
		a.fresh = false
	}
	for _, f := range d.Findings {
		if !c.confirmed(f.Rule) {
			continue
		}
		key := keyOf(&f)
		n := slices.IndexFunc(c.votes, func(a *suspect) bool { return a.key == key })
		if n < 0 {
			c.votes = append(c.votes, &suspect{key: key, first: at})
			n = len(c.votes) - 1
		}
		a := c.votes[n]
		a.finding, a.last, a.file, a.fresh = f, at, file, true
	}
	c.votes = slices.DeleteFunc(c.votes, func(a *suspect) bool {
		a.looks.Add(a.fresh)
		n := a.looks.N()
		// What is there stays as long as one piece has it; what is new waits for a
		// second, but for what the first piece of all is sure of.
		sure := c.pieces == 1 && a.finding.Confidence == diagnosis.High
		before := a.shown
		a.shown = a.shown && n > 0 || n >= vote.Quorum || sure
		if before && !a.shown {
			f := c.tell(a)
			f.Until = at
			c.gone = slices.Insert(c.gone, 0, f)
			c.gone = c.gone[:min(len(c.gone), maxGone)]
		}
		return n == 0
	})
	slices.SortStableFunc(c.votes, func(a, b *suspect) int { return cmp.Compare(rank(d, a.key), rank(d, b.key)) })
}

// rank returns the place of a finding in the latest piece; what that does not have is
// behind what it has.
func rank(d *diagnosis.Diagnosis, k vote.Key) int {
	n := slices.IndexFunc(d.Findings, func(f diagnosis.Finding) bool { return keyOf(&f) == k })
	if n < 0 {
		return len(d.Findings)
	}
	return n
}

// verdict returns the verdict on a program; nil when nothing is known yet.
func (j *judge) verdict(pid int) *Verdict {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.cases[pid]
	switch {
	case c == nil:
		return nil
	case c.pieces == 0 && c.err != nil:
		return &Verdict{Line: "cannot be judged: " + c.err.Error(), At: c.at}
	case c.pieces == 0 && c.stands != "":
		return &Verdict{Line: c.stands + "; not judged yet"}
	case c.pieces == 0 && c.cores < idleCores && !c.grows && j.attended != pid:
		if time.Since(c.since) < idleTime {
			return nil
		}
		return &Verdict{Line: Idle}
	case c.pieces == 0:
		return nil
	}
	v := &Verdict{Judged: c.pieces, At: c.at, Recording: c.file, Unchecked: unchecked(j.rules, c.last), Activity: c.did, NoEndpoint: c.probed && c.url == ""}
	for _, a := range c.votes {
		if a.shown {
			v.Findings = append(v.Findings, c.tell(a))
		}
	}
	for _, f := range c.gone {
		if c.at.Sub(f.Until) < keptTime {
			v.Gone = append(v.Gone, f)
		}
	}
	v.Line = c.line(v)
	return v
}

func (c *judgedProgram) tell(a *suspect) Finding {
	f := a.finding
	t := Finding{Rule: f.Rule, Title: f.Title, Summary: f.Summary, Confidence: string(f.Confidence), Remark: f.Remark, Stalled: f.Stalls,
		Since: a.first, Last: a.last, Recording: a.file, Gain: f.Bound.Gain()}
	if len(f.Where) > 0 && f.Where[0].Function != "" {
		p := f.Where[0]
		t.Where = fmt.Sprintf("%s %s:%d", p.Function, filepath.Base(p.File), p.Line)
	}
	if h := c.holding.held; h != nil && slices.Contains(vote.GrowingHeap, f.Rule) {
		t.Held = h
		if f.Rule == vote.GrowingHeap[0] { // the other one's summary has the holder
			t.Summary += " " + h.sentence()
		}
	}
	return t
}

// line returns the verdict in one line.
func (c *judgedProgram) line(v *Verdict) string {
	problems := 0
	for _, f := range v.Findings {
		if !f.Remark {
			problems++
		}
	}
	if problems > 0 {
		f := v.Findings[slices.IndexFunc(v.Findings, func(f Finding) bool { return !f.Remark })]
		line := f.Title
		if f.Stalled { // its sentence says who holds it
			line = "stalled: " + f.Summary
		} else if h := f.Held; h != nil && h.By != "" { // the pace first: ways are long
			line = "Heap grows: " + h.pace() + " held by " + h.By
		} else if f.Where != "" {
			line += ": " + f.Where
		}
		if problems > 1 {
			line += fmt.Sprintf(" (+%d)", problems-1)
		}
		return line
	}
	switch {
	case c.stands != "" && c.last.Verdict == diagnosis.Idle:
		return c.stands
	case c.rises() && c.last.Verdict != diagnosis.Stalled:
		return c.heapLine()
	}
	switch c.last.Verdict {
	case diagnosis.Idle:
		return Idle
	case diagnosis.TooThin, diagnosis.Partial:
		return "not enough evidence"
	case diagnosis.Stalled:
		return "one recording shows goroutines that make no step; checking again"
	case diagnosis.Problem:
		return "one recording shows a problem; checking again"
	}
	if len(v.Unchecked) > 0 {
		return "nothing found without a trace"
	}
	return "nothing found"
}

// unchecked returns the rules that need an execution trace, where there was none.
func unchecked(rules []*diagnosis.Rule, d *diagnosis.Diagnosis) (names []string) {
	if d.Trace != nil {
		return nil
	}
	for _, r := range rules {
		if slices.Contains(r.Needs, model.Trace) {
			names = append(names, r.Name)
		}
	}
	return names
}

var errNothing = errors.New("nothing was recorded of it yet")

// keep writes a recording of what a program did in a window: from a zero time to a zero time
// it is the last half minute.
func (j *judge) keep(pid int, from, to time.Time, out string) error {
	if j == nil {
		return errNothing
	}
	j.files.RLock()
	defer j.files.RUnlock()
	list := j.piecesOf(pid, from, to)
	if len(list) == 0 {
		return errNothing
	}
	if last := list[len(list)-1].To; from.IsZero() {
		list = j.piecesOf(pid, last.Add(-keepTime), last)
	}
	var files []string
	for _, p := range list {
		files = append(files, p.file)
	}
	return record.Join(out, files)
}
