package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// A program that is killed for want of memory takes all evidence along, and nothing in it has
// time for more. So somebody outside waits, with all that it takes to look already open, and
// looks when the memory is near its end: at what is alive and who waits, beside what was when
// the waiting began. It is on the disk some hundredths of a second later, and is looked at
// again each time that half of what was left is gone, so that a recording is never old.

// A Mark is at what use of memory evidence is kept: at a share of the nearest limit, of its
// control groups (memory.max, memory.high) or GOMEMLIMIT, or at bytes
// resident of the process. The zero Mark is none.
type Mark struct {
	Share float64
	Bytes uint64
}

// MarkSources are what is kept when a mark is reached: what is had at once.
var MarkSources = []string{"heap", "goroutine", "metrics", "proc", "build"}

const (
	// What fills from nothing to its limit in this time is noticed before it is more than a
	// fraction beyond the mark; what is faster, by its pace so far.
	fullIn = 10 * time.Second
	// Looks are so far apart that the memory cannot reach the mark in less than lookAhead of
	// them, within these bounds. A look takes 10 to 50 µs.
	lookAhead           = 4
	leastLook, mostLook = 20 * time.Millisecond, 500 * time.Millisecond
	// The logs have more of the time in which the memory is near the mark.
	nearMark, nearLogs, distantLogs = 0.75, countersEvery, countersLater
	// lastLook is how much room, as a share of the limit, is too little to look again for.
	lastLook = 1. / 64
	// staleAfter is how old evidence may be while the memory is over the mark.
	staleAfter = 10 * time.Minute
	// grown is by how much a program outgrows a mark that limits nothing until it is looked at again.
	grown = 1.1
	// A command's runtime can be read some time after it was started.
	armEvery, armFor = 200 * time.Millisecond, 10 * time.Second
	// statusWait is how long the kernel may take to tell the status of a process that ended.
	statusWait = 300 * time.Millisecond
)

// A blackBox waits for a mark of a program's memory, and keeps evidence.
type blackBox struct {
	r    *recorder
	mark Mark
	pid  int

	watch   *proc.MemoryWatch
	before  proc.MemoryKills // when the waiting began
	status  exitStatus
	program *countedProgram
	runtime *RuntimeLimit // nil where the runtime cannot be read
	fetch   *fetch        // nil where the program answers nobody
	held    heldAtMark
	endless bool // nothing limits it, or did when it was last looked at

	next    float64 // the share at which evidence is kept next
	last    proc.MemoryBound
	looked  time.Time
	highest float64
	kept    time.Time // zero before

	near  atomic.Bool
	mu    sync.Mutex
	logs  map[string]*thinLog
	shown proc.MemoryBound // what is said while it waits
}

func newBlackBox(m Mark) *blackBox {
	if m == (Mark{}) {
		return nil
	}
	b := &blackBox{mark: m, logs: map[string]*thinLog{}}
	b.next = b.threshold()
	return b
}

// pace returns that of the logs.
func (b *blackBox) pace(time.Duration) time.Duration {
	if b.near.Load() {
		return nearLogs
	}
	return distantLogs
}

// log returns a new one for a member.
func (b *blackBox) log(member string) *thinLog {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.logs[member] = &thinLog{}
	return b.logs[member]
}

// untilMemory waits for a mark of a program's memory, and then for the program's end.
func (r *recorder) untilMemory(ctx context.Context, t Target, at *endpoint) (code int, err error) {
	b := r.box
	b.r, b.held.holderLog = r, r.holders()
	defer b.close()
	if len(t.Command) > 0 {
		return b.command(ctx, t.Command)
	}
	pid := t.PID
	if at != nil && pid == 0 {
		if pid = r.processBehind(ctx, at); pid == 0 {
			return 0, problem.New(problem.Absence, "gowhy list   # then give its --pid, on the machine where it runs",
				"whose memory is at %s is not known: a program of this machine can be waited for", at.redactedAddress())
		}
	}
	r.describe(pid)
	r.man.Start = r.clock.now()
	r.seen = r.observe(pid, false)
	if err := b.open(pid); err != nil {
		return 0, err
	}
	b.arm()
	if err := b.limited(); err != nil {
		b.forget()
		return 0, err
	}
	b.ask(ctx, at)
	b.announce()
	gone := b.wait(ctx, nil)
	if gone {
		code, signal := b.status.await()
		b.ended(code, signal)
	}
	b.conclude(gone)
	return 0, nil
}

// command starts a program and does the same.
func (b *blackBox) command(ctx context.Context, argv []string) (code int, err error) {
	if err := b.open(os.Getpid()); err != nil { // it begins in our groups
		return 0, err
	}
	if err := b.limited(); err != nil && os.Getenv("GOMEMLIMIT") == "" {
		return 0, err
	}
	p, err := b.r.start(argv[0], argv[1:], false)
	if err != nil {
		return 0, err
	}
	stop, cancel := p.stopWith(ctx)
	defer cancel()
	err = b.open(p.pid())
	gone := err == nil && b.wait(stop, p) || p.ended()
	b.conclude(gone)
	if gone { // and what started it goes on, or it is about to have an exit status
		sleepUntil(stop, time.Time{})
	}
	code = b.r.finishProcess(ctx, p)
	if gone && !p.killed {
		b.ended(b.statusOf(p))
	}
	return code, err
}

// statusOf returns how a command ended, or the program that it started: the exit status, or
// the signal.
func (b *blackBox) statusOf(p *process) (code, signal int) {
	if p.cmd.ProcessState != nil && p.child == 0 {
		if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
			return ws.ExitStatus(), int(max(0, ws.Signal()))
		}
	}
	return b.status.await()
}

// open begins to watch a process.
func (b *blackBox) open(pid int) (err error) {
	b.close()
	b.pid = pid
	if b.watch, err = proc.WatchMemory(pid); err != nil {
		return problem.New(problem.Absence, "gowhy list", "the memory of process %d cannot be watched: %w", pid, err)
	}
	b.status = openStatus(pid)
	b.watch.Bounds(time.Now(), math.Inf(1)) // which finds its groups
	b.before = b.watch.Kills()
	return nil
}

func (b *blackBox) close() {
	if b.watch != nil {
		b.watch.Close()
		b.status.close()
		b.watch = nil
	}
	b.runtime.Close()
	b.runtime = nil
	b.program.close()
	b.program = nil
}

// arm opens what it takes to look into the program, and looks for the first time. It reports
// whether it could.
func (b *blackBox) arm() bool {
	if b.program != nil {
		b.program.close() // it could be opened before its runtime was ready
	}
	if b.program = b.r.count(b.pid, false); b.program == nil {
		return false
	}
	if b.runtime == nil {
		b.runtime, _ = newRuntimeLimit(b.program.memory)
	}
	return b.program.counters != nil
}

// ask finds who else can say what is on the heap, where it cannot be read.
func (b *blackBox) ask(ctx context.Context, at *endpoint) {
	if b.program != nil && (b.program.heap != nil || !b.r.wants("heap")) {
		return
	}
	if at == nil && !b.r.o.Outside {
		at = b.r.findIn(ctx, b.pid)
	}
	if at == nil {
		return
	}
	b.r.man.URL = at.redactedAddress()
	b.fetch = &fetch{recorder: b.r, at: at}
	b.fetch.begin(ctx)
}

// limited returns an error where a share is asked for and nothing limits the memory.
func (b *blackBox) limited() error {
	if _, err := b.look(); err != nil || !b.endless {
		return err
	}
	return problem.New(problem.Misuse, "give a size, as --until-memory 1.5GiB",
		"nothing limits the memory of process %d: no control group of it, and no GOMEMLIMIT that can be read", b.pid)
}

// forget leaves nothing behind of a wait that was for nothing.
func (b *blackBox) forget() {
	b.r.seen.end()
	b.program.close()
	b.program = nil
	for _, m := range artifact.Members {
		os.Remove(b.r.w.Path(m.Name))
	}
}

// announce says what is waited for.
func (b *blackBox) announce() {
	if l, err := b.look(); err == nil {
		mark := figures.Bytes(int64(b.mark.Bytes)) + " resident"
		if b.mark.Share > 0 {
			mark = figures.Percent(b.mark.Share) + " of " + artifact.LimitWords(l.Of, l.Limit)
		}
		b.r.o.Log(fmt.Sprintf("waiting until the memory of process %d reaches %s; now %s", b.pid, mark, figures.Bytes(int64(l.Used))))
	}
	b.r.o.Started()
}

// wait looks until the process or the wait ends, and reports whether the process did.
func (b *blackBox) wait(stop context.Context, p *process) (gone bool) {
	var until time.Time
	began := time.Now()
	if b.r.o.Duration > 0 {
		until = began.Add(b.r.o.Duration)
	}
	armed := p == nil
	for {
		wait := mostLook
		if !armed {
			armed, wait = b.armCommand(stop, p, began), armEvery
		}
		bound, err := b.look()
		if err != nil {
			return true
		}
		if b.due(&bound) {
			b.keep(&bound)
		}
		if b.lookAtHolders(stop) {
			_ = b.write() // what there was is on the disk
		}
		if b.held.done != nil {
			wait = leastLook
		}
		next := time.Now().Add(min(wait, b.patience(&bound)))
		if !until.IsZero() && next.After(until) {
			next = until
		}
		sleepUntil(stop, next)
		if stop.Err() != nil || !until.IsZero() && !time.Now().Before(until) {
			return programEnded(stop)
		}
	}
}

// armCommand arms for a command that was just started, and reports whether there is no more
// to be done for that.
func (b *blackBox) armCommand(stop context.Context, p *process, began time.Time) bool {
	if b.r.follow(p) {
		if b.open(p.child) != nil {
			return true
		}
	}
	if (!p.wrapper || p.child != 0) && time.Since(began) >= armEvery && b.arm() {
		b.announce()
		return true
	}
	if time.Since(began) < armFor {
		return false
	}
	if p.wrapper && p.child == 0 {
		b.r.refuse(artifact.EndpointMember, artifact.Refusal{Why: p.startedNone()})
	}
	b.ask(stop, nil)
	b.announce()
	return true
}

// look returns the limit that is nearest.
func (b *blackBox) look() (bound proc.MemoryBound, err error) {
	resident, err := b.watch.Resident()
	if err != nil {
		return bound, err
	}
	all := []proc.MemoryBound{{Limit: b.mark.Bytes, Used: resident}}
	if b.mark.Bytes == 0 {
		all = b.watch.Bounds(time.Now(), b.threshold())
		if l, ok := b.runtime.Bound(); ok {
			all = append(all, l)
		}
	}
	if b.endless = len(all) == 0; b.endless {
		return proc.MemoryBound{Limit: math.MaxUint64, Used: resident}, nil
	}
	return slices.MaxFunc(all, func(x, y proc.MemoryBound) int { return cmp.Compare(x.Share(), y.Share()) }), nil
}

// due reports whether evidence is to be kept now.
func (b *blackBox) due(l *proc.MemoryBound) bool {
	share := l.Share()
	b.highest = max(b.highest, share)
	b.mu.Lock()
	b.shown = *l
	b.mu.Unlock()
	return share >= b.next || share >= b.threshold() && time.Since(b.kept) >= staleAfter
}

// threshold returns the share at which evidence is kept first.
func (b *blackBox) threshold() float64 { return cmp.Or(b.mark.Share, 1) }

// patience returns how long nothing can happen that matters.
func (b *blackBox) patience(l *proc.MemoryBound) time.Duration {
	now, share := time.Now(), l.Share()
	pace := 1 / fullIn.Seconds() // shares of the limit a second
	if since := now.Sub(b.looked); l.Of == b.last.Of && since > 0 {
		pace = max(pace, (share-b.last.Share())/since.Seconds())
	}
	b.last, b.looked = *l, now
	left := b.next - share
	b.near.Store(share >= nearMark*b.threshold())
	d := time.Duration(left / pace / lookAhead * float64(time.Second))
	return min(max(d, leastLook), mostLook)
}

// keep puts on the disk what is known now, and says so the first time.
func (b *blackBox) keep(l *proc.MemoryBound) {
	began := time.Now()
	first := b.kept.IsZero()
	e := recording.Event{Kind: "memory", Of: l.Of, Time: b.r.clock.now(), Value: float64(l.Used), Limit: float64(l.Limit)}
	b.r.man.Event = &e
	if err := b.save(); err != nil {
		b.r.o.Log(fmt.Sprintf("the evidence could not be written: %v", err))
	}
	if b.fetch != nil { // which may take as long as the program has left
		b.fetch.end()
		_ = b.save() // what there is was written
	}
	b.kept = time.Now()
	switch share := l.Share(); {
	case b.mark.Bytes > 0:
		b.next = share * grown
	case 1-share < 2*lastLook:
		b.next = math.Inf(1)
	default:
		b.next = share + (1-share)/2
	}
	if first {
		b.r.o.Log(fmt.Sprintf("memory reached %s, %s of %s; the evidence is in %s, written in %s; its end or an interrupt ends the recording",
			figures.Bytes(int64(l.Used)), figures.Percent(l.Share()), artifact.LimitWords(l.Of, l.Limit), shell.Word(b.r.w.Target()), figures.Duration(b.kept.Sub(began))))
	}
	if b.r.o.Kept != nil {
		b.r.o.Kept(e)
	}
}

// save looks at the program and writes what is known: what is on the heap first, and what
// takes longest, what its memory is mapped from, last.
func (b *blackBox) save() error {
	if b.program != nil {
		_ = b.program.counters.look()
		b.program.look()
	}
	if l := b.r.seen.procLog(); l != nil {
		_ = l.sample(true) // of one that ends there is what was
	}
	b.r.man.End = b.r.clock.now()
	return b.write()
}

// write puts what was looked at on the disk.
func (b *blackBox) write() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for member, l := range b.logs {
		errs = append(errs, l.writeTo(b.r.w.Path(member)))
	}
	if b.r.o.Redact {
		b.r.redact()
	}
	man := b.r.man
	man.Clock = append(slices.Clone(man.Clock), anchor())
	for _, f := range b.r.refusals() {
		man.Refused = append(man.Refused, recording.Refusal{Member: f.Member, Why: f.Why})
	}
	return errors.Join(append(errs, b.r.w.Keep(man))...)
}

// conclude ends the looking. What was kept at a mark stays as it is; else this moment is looked at.
func (b *blackBox) conclude(gone bool) {
	b.endHolders(gone)
	if b.kept.IsZero() {
		if err := b.save(); err != nil {
			b.r.o.Log(fmt.Sprintf("the evidence could not be written: %v", err))
		}
		if b.fetch != nil {
			b.fetch.conclude(gone)
		}
		b.r.o.Log(fmt.Sprintf("the mark was not reached: memory was at most %s of %s", figures.Percent(b.highest), artifact.LimitWords(b.last.Of, b.last.Limit)))
	}
	b.r.seen.end()
}

// ended notes how the program ended, and says it.
func (b *blackBox) ended(code, signal int) {
	e := &recording.Ending{Kind: recording.EndedByExit, Time: b.r.clock.now(), Code: code}
	now := b.watch.Kills()
	killed := now.Group > b.before.Group && b.before.Group >= 0 || now.Group < 0 && now.Machine > b.before.Machine
	switch {
	case killed && (signal == int(syscall.SIGKILL) || signal == unknownStatus):
		e.Kind, e.Code = recording.EndedByMemory, int(syscall.SIGKILL)
		if hard := b.last.Of == "memory.max" || b.last.Of == "memory.limit_in_bytes"; hard && (now.Reached > b.before.Reached || b.last.Share() >= 0.75) {
			e.Of, e.Limit = b.last.Of, b.last.Limit
		}
	case signal == unknownStatus:
		e.Kind, e.Code = "", 0
	case signal > 0:
		e.Kind, e.Code = recording.EndedBySignal, signal
	}
	b.r.man.Ended = e
	text := "the program " + artifact.EndingWords(e, time.Local)
	if age := artifact.EvidenceAge(&b.r.man); age != "" {
		text += "; " + age
	}
	b.r.o.Log(text)
}

// waiting says how near the memory is; empty when nobody waits for a mark.
func (b *blackBox) waiting() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown.Limit == 0 {
		return ""
	}
	return figures.Percent(b.shown.Share()) + " of " + artifact.LimitWords(b.shown.Of, b.shown.Limit)
}
