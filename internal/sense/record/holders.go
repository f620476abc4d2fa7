package record

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/heap"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// Who holds the heap is read out of a program's memory without stopping it, which takes seconds
// of a large one. So it is read before the window and behind it, where nothing else is measured.
// A command that ends when it likes is looked at meanwhile, at times ever further apart. At a
// mark of memory it is read when all else is on the disk. Where nobody said whether, a heap is looked at
// once the program has come to need more memory, and is not too large to be read beside all else.

// HolderLooks is when a recording looks at who holds the heap.
type HolderLooks uint8

const (
	NoLooks      HolderLooks = iota
	LooksIfGrows             // when the resident memory has grown by what is no drift
	Looks
)

const (
	// holdersApart is the least time between two looks: less shows no growth.
	holdersApart = 3 * time.Second
	// firstHolders is when a command is looked at first: before, it has just started.
	firstHolders = time.Second
	// holdersEvery is how long after each other it is seen whether a program's memory has grown, until two looks show by how much.
	holdersEvery = time.Second
	// holdersGrown is what the resident memory must grow by, and holdersPart which part of what it was, for a look that nobody
	// asked for: by less a collector's course is up and down, and the rules say nothing of a heap that grows by less.
	holdersGrown = 8 << 20
	holdersPart  = 0.2
	// holdersUnasked is how many bytes a look may use then: those of half a million objects, which take 0.15 s of CPU time
	// beside 0.4 s for what a program of 50 MB says of its types.
	holdersUnasked = 8 << 20
	// lastHolders is how long the look at the end may take when somebody waits for that.
	lastHolders = 20 * time.Second
	// roomForHolders is the part of what is left of the memory that a look may use where the
	// program and its recorder share the limit.
	roomForHolders = 4
)

// A holderLog keeps the first look and the last. A nil one does not look.
type holderLog struct {
	r      *recorder
	looks  artifact.HeapLooks
	n      int    // looks made
	budget uint64 // bytes that a look may use
	last   time.Time
	err    error // why the latest could not be made
	// Of LooksIfGrows: the process, and its memory at first or at the latest look.
	pid   int
	level uint64
}

// holders returns that of a recording; nil where it is not asked for.
func (r *recorder) holders() *holderLog {
	switch r.o.Holders {
	case Looks:
		return &holderLog{r: r, budget: r.o.HolderBudget}
	case LooksIfGrows:
		return &holderLog{r: r, budget: holdersUnasked}
	}
	return nil
}

// unasked reports whether nobody said that the heap is to be looked at.
func (l *holderLog) unasked() bool { return l.r.o.Holders == LooksIfGrows }

// look reads who holds the heap of a process now, if it is time to, and writes it.
func (l *holderLog) look(ctx context.Context, pid int) {
	switch {
	case l == nil, pid == 0, l.unasked() && !l.grown(pid):
		return
	case !l.unasked() && !l.last.IsZero() && time.Since(l.last) < holdersApart:
		return
	}
	if l.err = l.read(ctx, pid, heap.Options{Budget: l.budget}); l.err == nil {
		l.err = l.write()
	}
}

// grown reports whether a process needs more memory than at first, or than when it was looked at.
func (l *holderLog) grown(pid int) bool {
	rss, err := proc.ResidentOf(pid)
	if err != nil {
		return false
	}
	if l.pid == pid && (rss < l.level+holdersGrown || float64(rss) < (1+holdersPart)*float64(l.level)) {
		return false
	}
	first := l.pid != pid
	l.pid, l.level = pid, rss
	return !first
}

func (l *holderLog) read(ctx context.Context, pid int, o heap.Options) error {
	look, err := heap.Read(ctx, pid, o)
	if err != nil {
		return err
	}
	if look.Partial {
		return context.Cause(ctx) // two looks are compared
	}
	l.looks.Add(look)
	l.n++
	l.last = time.Now()
	return nil
}

// write puts the looks into the recording, at once: who packs it meanwhile has the old or the new.
func (l *holderLog) write() error {
	path := l.r.w.Path(recording.HoldersMember)
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	if err := os.WriteFile(tmp, l.looks.JSON(), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// conclude looks once more when a recording ends, whoever ended it, if the program goes on, and
// notes why there is no look; that there is one and no second needs no words.
func (l *holderLog) conclude(pid int, gone bool) {
	if l == nil {
		return
	}
	if !gone {
		ctx, cancel := context.WithTimeout(context.Background(), lastHolders)
		defer cancel()
		l.look(ctx, pid)
	}
	if !l.unasked() && !l.r.has(recording.HoldersMember) {
		l.r.refuse(recording.HoldersMember, heldRefusal(pid, l.err))
	}
}

// heldRefusal says why there is no look at a process.
func heldRefusal(pid int, err error) artifact.Refusal {
	var small *heap.BudgetError
	switch {
	case err == nil && pid == 0:
		return artifact.Refusal{Why: "it is read in the memory of a process of this machine, and which is not known", How: "gowhy list   # then add its --pid"}
	case err == nil, errors.Is(err, goroutines.ErrGone):
		return artifact.Refusal{Why: "the program ended before its heap was read"}
	case errors.As(err, &small):
		return artifact.Refusal{Why: err.Error(), How: fmt.Sprintf("gowhy memory %d --holders --budget %d", pid, max(small.Need>>20+1, 2*small.Budget>>20))}
	case errors.Is(err, fs.ErrPermission):
		return artifact.Refusal{Why: "the memory of the process may not be read", How: fmt.Sprintf("sudo gowhy record --holders --pid %d", pid)}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return artifact.Refusal{Why: "the recording ended before the heap was read"}
	}
	return artifact.Refusal{Why: strings.TrimPrefix(err.Error(), goroutines.ErrUnsure.Error()+": ")}
}

// keepLooks writes looks that somebody else has made.
func (r *recorder) keepLooks() {
	if r.o.Looks == nil {
		return
	}
	if err := r.w.Add(recording.HoldersMember, r.o.Looks.JSON()); err != nil {
		r.refuse(recording.HoldersMember, artifact.Refusal{Why: err.Error()})
	}
}

// follow looks at a command while it runs: when it has run for a second, as soon as growth can show, and again each
// time that twice as long has passed, so that the last look is never older than half of the run; where nobody asked, it
// is each time that its memory has grown. The returned function ends that, with a look if the program goes on.
func (l *holderLog) follow(ctx context.Context, p *process) (end func()) {
	if l == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	subject := func() int {
		if p.wrapper {
			return GoProgram(p.pid())
		}
		return p.pid()
	}
	go func() {
		defer close(done)
		begun := time.Now()
		for wait := firstHolders; ; {
			sleepUntil(ctx, time.Now().Add(wait))
			if ctx.Err() != nil {
				return
			}
			l.look(ctx, subject())
			if wait = holdersEvery; !l.unasked() || l.n > 1 {
				wait = max(time.Since(begun), holdersApart)
			}
		}
	}()
	return func() {
		cancel()
		<-done
		l.conclude(cmp.Or(subject(), p.pid()), p.ended())
	}
}

// heldAtMark are the looks of a black box, beside its waiting.
type heldAtMark struct {
	*holderLog
	done  chan error // nil while nobody reads
	tries int        // looks begun
	begun time.Time  // the latest
}

// lookAtHolders goes on with the looks once evidence is on the disk: one at once, one that shows
// the growth, and one after each time that evidence is kept again. It reports whether there is
// a new one to be put on the disk.
func (b *blackBox) lookAtHolders(ctx context.Context) (more bool) {
	h := &b.held
	if h.holderLog == nil || b.kept.IsZero() {
		return false
	}
	if h.done != nil {
		select {
		case h.err = <-h.done:
			h.done = nil
			return h.keep()
		default:
			return false
		}
	}
	again := h.tries == 1 || b.kept.After(h.begun)
	if h.tries > 0 && (!again || time.Since(h.begun) < holdersApart) {
		return false
	}
	h.tries, h.begun, h.done = h.tries+1, time.Now(), make(chan error, 1)
	o := heap.Options{Budget: b.holderBudget()}
	go func() { h.done <- h.read(ctx, b.pid, o) }()
	return false
}

// keep writes what was read, and reports whether it did.
func (h *heldAtMark) keep() bool {
	if h.err == nil {
		h.err = h.write()
	}
	return h.err == nil
}

// endHolders waits for a look that is under way, which ends with its program or with the wait.
func (b *blackBox) endHolders(gone bool) {
	h := &b.held
	if h.done != nil {
		h.err = <-h.done
		h.done = nil
		h.keep()
	}
	h.conclude(b.pid, gone || !b.kept.IsZero()) // what was kept stays as it is
}

// holderBudget returns what a look may use: little where the program's limits are the recorder's, too.
func (b *blackBox) holderBudget() uint64 {
	budget := cmp.Or(b.r.o.HolderBudget, heap.Budget)
	if sameGroups(b.pid) {
		for _, l := range b.watch.Bounds(time.Now(), b.threshold()) {
			budget = min(budget, (l.Limit-min(l.Limit, l.Used))/roomForHolders)
		}
	}
	return max(budget, 1)
}

// sameGroups reports whether a process is in the control groups of this one.
func sameGroups(pid int) bool {
	theirs, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	ours, oerr := os.ReadFile("/proc/self/cgroup")
	return err == nil && oerr == nil && bytes.Equal(theirs, ours)
}
