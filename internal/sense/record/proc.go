package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/beat"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

const (
	// The counters of the process are read this often: ten a second shows a
	// burst and costs less than a thousandth of a CPU. A long recording goes on
	// at one a second, so that an hour is some megabytes.
	procEvery      = 100 * time.Millisecond
	procEveryLater = time.Second
	procLater      = 5 * time.Minute
	// A piece is one of many recordings, and is to cost next to nothing: at ten a
	// second the counters were a quarter of what a piece cost.
	procEveryPiece = time.Second
)

// A pace is how often something is looked at that was begun some time ago.
type pace func(since time.Duration) time.Duration

// slowing returns the pace of a log that may become long.
func slowing(every, later time.Duration) pace {
	return func(since time.Duration) time.Duration {
		if since >= procLater {
			return later
		}
		return every
	}
}

// until calls look at its pace, until it fails or quit is closed.
func (p pace) until(quit <-chan struct{}, look func() error) {
	began := time.Now()
	next := time.NewTimer(beat.UntilNext(p(0)))
	defer next.Stop()
	for {
		select {
		case <-next.C:
			if look() != nil {
				return
			}
			next.Reset(beat.UntilNext(p(time.Since(began))))
		case <-quit:
			return
		}
	}
}

// A procLog writes samples of a process as they are taken.
type procLog struct {
	mu   sync.Mutex // while a sample is taken
	p    *proc.Process
	out  io.WriteCloser // unbuffered: what was seen must survive us
	pace pace

	// maps, if set, says of a process with so much resident memory what it is mapped from: at the
	// end, and where ends is set, as the process may end before it is read, whenever it has grown.
	maps   func(resident uint64) *proc.Maps
	ends   bool
	mapped uint64 // resident memory when that was read

	first, last proc.Sample
	any         bool
	quit, done  chan struct{}
}

// start begins with a sample of every thread of a process.
func (l *procLog) start(pid int) error {
	p, err := proc.Open(pid)
	if err != nil {
		return errors.Join(err, l.out.Close())
	}
	l.p, l.quit, l.done = p, make(chan struct{}), make(chan struct{})
	if err := json.NewEncoder(l.out).Encode(artifact.Header{Kind: artifact.ProcKind, Schema: artifact.ProcSchema}); err != nil {
		return errors.Join(err, p.Close(), l.out.Close())
	}
	if err := l.sample(true); err != nil {
		return errors.Join(err, p.Close(), l.out.Close())
	}
	go l.run()
	return nil
}

func (l *procLog) run() {
	defer close(l.done)
	l.pace.until(l.quit, func() error { return l.sample(false) })
}

// sample writes the state of now. Of a process that has just ended, only its
// CPU time and faults are left; the rest stays as it was.
func (l *procLog) sample(threads bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.p.Sample(threads)
	if errors.Is(err, proc.ErrGone) && l.any && s.Process.User+s.Process.System > 0 {
		final := l.last
		final.Time, final.Threads, final.Maps = s.Time, nil, nil
		final.Process.User = max(final.Process.User, s.Process.User)
		final.Process.System = max(final.Process.System, s.Process.System)
		final.Process.MinorFaults = max(final.Process.MinorFaults, s.Process.MinorFaults)
		final.Process.MajorFaults = max(final.Process.MajorFaults, s.Process.MajorFaults)
		s = final
	} else if err != nil {
		return err
	}
	if err == nil && l.maps != nil && (threads && l.any || l.ends && s.Process.RSS >= l.mapped+max(mapsGrow, l.mapped/4)) {
		s.Maps, l.mapped = l.maps(s.Process.RSS), s.Process.RSS
	}
	text, jerr := json.Marshal(s)
	if jerr != nil {
		return jerr
	}
	if !l.any {
		l.first, l.any = s, true
	}
	l.last = s
	if _, werr := l.out.Write(append(text, '\n')); werr != nil {
		return werr
	}
	return err
}

// stop ends with a sample of every thread, as long as the process is there.
func (l *procLog) stop() error {
	close(l.quit)
	<-l.done
	err := l.sample(true)
	if errors.Is(err, proc.ErrGone) {
		err = nil // what was read before counts
	}
	l.p.Close()
	return errors.Join(err, l.out.Close())
}

// mapsGrow is how much resident memory must come, a quarter of what there was at least, before
// mappings are read again: at the end of a program four fifths of its memory were there when they
// last were, and a program of a gigabyte is looked at twenty times.
const mapsGrow = 8 << 20

// maxWalked is the resident memory of a process up to which its mappings are read: the
// kernel walks through all of it for that, which takes 27 ms for 1 GB in small pages.
const maxWalked = 16 << 30

// mapsOf returns what a process's memory is mapped from, by where its runtime says that its heap
// is; nil where that is not known. That it may not be read is noted.
func (r *recorder) mapsOf(pid int, resident uint64) *proc.Maps {
	if resident > maxWalked {
		return nil
	}
	var heap []proc.Range
	if reader, err := goroutines.Open(pid); err == nil {
		arenas, _ := reader.Arenas() // else it is where most programs have it
		reader.Close()
		for _, a := range arenas {
			heap = append(heap, proc.Range(a))
		}
	}
	m, err := proc.ReadMaps(pid, heap)
	if errors.Is(err, os.ErrPermission) {
		refusal := procRefusal(pid, err)
		refusal.Why = "what its memory is mapped from may not be read"
		r.refuse(recording.ProcMember, refusal)
	}
	if err != nil {
		return nil
	}
	if r.o.Redact { // they are paths
		m.Largest = nil
	}
	return m
}

// cpu returns the CPU time that the process used between the first and the last sample.
func (l *procLog) cpu() (used, in time.Duration) { return cpuBetween(l.first, l.last) }

func cpuBetween(a, b proc.Sample) (used, in time.Duration) {
	return b.Process.User + b.Process.System - a.Process.User - a.Process.System, b.Time.Sub(a.Time)
}

// cpuBefore measures what a process uses while it is not recorded. It waits.
func cpuBefore(pid int, wait func()) (used, in time.Duration) {
	p, err := proc.Open(pid)
	if err != nil {
		return 0, 0
	}
	defer p.Close()
	a, err := p.Sample(false)
	if err != nil {
		return 0, 0
	}
	wait()
	b, err := p.Sample(false)
	if err != nil {
		return 0, 0
	}
	return cpuBetween(a, b)
}

// procRefusal says how a process's counters would be had.
func procRefusal(pid int, err error) artifact.Refusal {
	r := artifact.Refusal{Member: recording.ProcMember, Why: err.Error()}
	if errors.Is(err, os.ErrPermission) {
		r.How = fmt.Sprintf("sudo gowhy record --pid %d", pid)
	}
	return r
}
