package record

import (
	"os"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
)

// A program that nobody can ask still has its goroutines in its memory, and what its
// runtime counts and samples: profiles of them and of the heap are read there at the
// beginning of a recording and at its end, and the counters all the time.

// A Memory is the memory of a program that somebody has open: a [goroutines.Reader], or who
// reads one anyway.
type Memory interface {
	// Read returns the goroutines; nil while nobody knows them.
	Read() (*goroutines.Snapshot, error)
	// Gauge opens the counters of the runtime, and HeapReader the memory profile.
	Gauge() (*goroutines.Gauge, error)
	HeapReader() (*goroutines.HeapReader, error)
}

// A countedProgram is one that is read from outside; nil is none.
type countedProgram struct {
	r        *recorder
	memory   Memory
	done     func()
	profiles bool  // of goroutines are wanted
	at       int64 // of the first profile
	counters *counterLog
	heap     *goroutines.HeapReader
	course   *heapCourse
	wall     *wallSampler
	next     time.Time // of the next look at a command that may end by itself
}

// A command that nobody can ask is read from outside, too, once it has run for outsideAfter: by then
// its runtime is there, and most that will answer do. Beyond outsideTries it is no program that can be
// read. Profiles of the end are taken each time that it
// has run twice as long, so that of one that ends by itself they are never older than half of its run.
const (
	outsideAfter = 300 * time.Millisecond
	outsideTries = 3 * time.Second
)

// countSilent reads a command that has not answered since it began.
func (r *recorder) countSilent(p *process, began time.Time) {
	switch since := time.Since(began); {
	case since < outsideAfter || p.ended() || p.wrapper && p.child == 0:
	case p.counted == nil:
		if since < outsideTries {
			p.counted = r.count(p.subject(), false)
		}
		if p.counted != nil {
			p.counted.next = time.Now().Add(since)
		}
	case time.Now().After(p.counted.next):
		p.counted.look()
		p.counted.next = time.Now().Add(since)
	}
}

// drop lets go of a program that answers after all: what was read of it gives way to what it says.
func (c *countedProgram) drop() {
	if c == nil {
		return
	}
	c.close()
	for _, m := range []string{recording.MetricsMember, recording.HeapStartMember, recording.HeapEndMember, recording.HeapCourseMember, recording.GoroutineStartMember, recording.GoroutineEndMember, recording.WallMember} {
		os.Remove(c.r.w.Path(m))
	}
}

// count takes the first profile and begins to read the counters, each unless the
// program's endpoint gives it.
func (r *recorder) count(pid int, asked bool) *countedProgram {
	profiles := r.wants("goroutine") && (!asked || r.o.Memory != nil)
	metrics, heap, wall := r.wants("metrics") && !asked, r.wants("heap") && !asked, r.wants("wall") && !asked
	if pid == 0 || !profiles && !metrics && !heap && !wall {
		return nil
	}
	c := &countedProgram{r: r, memory: r.o.Memory, done: func() {}, profiles: profiles}
	if c.memory == nil {
		reader, err := goroutines.Open(pid)
		if err != nil {
			return nil // no Go program, or not ours: that there is no endpoint is said already
		}
		reader.Stacks = true
		c.memory, c.done = reader, reader.Close
		if p := reader.Counters().Procs; r.man.Procs == 0 && p > 0 {
			r.man.Procs = p
		}
	}
	if metrics {
		if g, err := c.memory.Gauge(); err == nil {
			c.counters = r.logCounters(g)
		}
	}
	if heap {
		c.heap, _ = c.memory.HeapReader() // a program that keeps no profile has none
		c.keepHeap(recording.HeapStartMember)
		c.course = r.followHeap(c.memory.HeapReader)
	}
	c.at = c.keep(recording.GoroutineStartMember, 0)
	if wall && r.o.Memory == nil {
		c.wall = sampleWall(pid)
	}
	return c
}

// end takes the second profile.
func (c *countedProgram) end() {
	if c == nil {
		return
	}
	c.wall.stop()
	c.look()
	c.close()
}

// close lets go of the program.
func (c *countedProgram) close() {
	if c == nil {
		return
	}
	c.wall.stop()
	c.course.end(c.r)
	c.counters.end(c.r)
	if c.heap != nil {
		c.heap.Close()
	}
	c.done()
}

// look takes the profiles of the end.
func (c *countedProgram) look() {
	c.keep(recording.GoroutineEndMember, c.at)
	c.keepHeap(recording.HeapEndMember)
	c.wall.keep(c.r)
}

// keep writes a profile that is later than another, and tells its time.
func (c *countedProgram) keep(member string, than int64) int64 {
	if !c.profiles {
		return 0
	}
	s, err := c.memory.Read()
	if err != nil || s == nil || s.Time.UnixNano() <= than {
		return 0
	}
	watched := min(s.Watched, c.r.o.Duration) // before the recording, by who watches anyway
	if than > 0 {
		watched = time.Duration(s.Time.UnixNano() - than)
	}
	c.r.keep(member, artifact.GoroutineProfile(s, watched), nil)
	return s.Time.UnixNano()
}

// laterComment tells a memory profile that has what was allocated since the last collection, too.
const laterComment = "with what was allocated since the last collection, garbage included"

// keepHeap writes the memory profile of now.
func (c *countedProgram) keepHeap(member string) {
	if c.heap == nil {
		return
	}
	h, err := c.heap.Read()
	if err != nil {
		return // it has ended, or keeps none
	}
	if c.r.box == nil {
		c.r.keep(member, artifact.MemoryProfile(h, c.heap.Frames), nil)
		return
	}
	h.Sites = h.Later // the memory is full of what was not yet collected, too
	p := artifact.MemoryProfile(h, c.heap.Frames)
	p.Comments = append(p.Comments, laterComment)
	c.r.keep(member, p, nil)
}
