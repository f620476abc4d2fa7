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
)

// Who holds the heap is read out of a program's memory without stopping it, which takes seconds
// of a large one. So it is read before the window and behind it, where nothing else is measured.
// A command that ends when it likes is looked at meanwhile, at times ever further apart. At a
// mark of memory it is read when all else is on the disk.

const (
	// holdersApart is the least time between two looks: less shows no growth.
	holdersApart = 3 * time.Second
	// firstHolders is when a command is looked at first: before, it has just started.
	firstHolders = time.Second
	// lastHolders is how long the look at the end may take when somebody waits for that.
	lastHolders = 20 * time.Second
	// roomForHolders is the part of what is left of the memory that a look may use where the
	// program and its recorder share the limit.
	roomForHolders = 4
)

// A holderLog keeps the first look and the last. A nil one does not look.
type holderLog struct {
	r     *recorder
	looks artifact.HeldLooks
	last  time.Time
	err   error // why the latest could not be made
}

// holders returns that of a recording; nil where it is not asked for.
func (r *recorder) holders() *holderLog {
	if !r.o.Holders {
		return nil
	}
	return &holderLog{r: r}
}

// look reads who holds the heap of a process now, and writes it.
func (l *holderLog) look(ctx context.Context, pid int) {
	if l == nil || pid == 0 || !l.last.IsZero() && time.Since(l.last) < holdersApart {
		return
	}
	if l.err = l.read(ctx, pid, heap.Options{Budget: l.r.o.HolderBudget}); l.err == nil {
		l.err = l.write()
	}
}

func (l *holderLog) read(ctx context.Context, pid int, o heap.Options) error {
	look, err := heap.Read(ctx, pid, o)
	if err != nil {
		return err
	}
	l.looks.Add(look)
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
	if !l.r.has(recording.HoldersMember) {
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
// time that twice as long has passed, so that the last look is never older than half of the run. The
// returned function ends that, with a look if the program goes on.
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
		for wait := firstHolders; ; wait = max(time.Since(begun), holdersApart) {
			sleepUntil(ctx, time.Now().Add(wait))
			if ctx.Err() != nil {
				return
			}
			l.look(ctx, subject())
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
	n     int        // looks begun
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
	again := h.n == 1 || b.kept.After(h.begun)
	if h.n > 0 && (!again || time.Since(h.begun) < holdersApart) {
		return false
	}
	h.n, h.begun, h.done = h.n+1, time.Now(), make(chan error, 1)
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
