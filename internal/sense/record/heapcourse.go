package record

import (
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
)

// What is in use on the heap at the beginning and at the end tells by how much a line has
// more, and not whether it went on: between the two, the memory profile is read in the
// program's memory, which costs the program nothing.

const (
	// courseEvery is how often at first: of a heap that is collected six times a second
	// each collection is seen.
	courseEvery = 150 * time.Millisecond
	// courseLooks is how many are kept: of more, every second one goes, and from then on the
	// next comes after twice the time.
	courseLooks = 48
	// courseShare is the part of the time that looks may take: the profile of a large
	// program has tens of thousands of sites.
	courseShare = 0.01
)

// A heapCourse looks at the heap of a program again and again. A nil one does not.
type heapCourse struct {
	heap       *goroutines.HeapReader
	course     artifact.HeapCourse
	quit, done chan struct{}
}

// followHeapOf begins to look at the heap of a program that answers, too.
func (r *recorder) followHeapOf(pid int) *heapCourse {
	if pid == 0 {
		return nil
	}
	return r.followHeap(func() (*goroutines.HeapReader, error) {
		reader, err := goroutines.Open(pid)
		if err != nil {
			return nil, err
		}
		defer reader.Close()
		return reader.HeapReader()
	})
}

// followHeap begins to look, unless it is not wanted or somebody watches the program anyway.
func (r *recorder) followHeap(open func() (*goroutines.HeapReader, error)) *heapCourse {
	if !r.wants("heap") || r.o.Memory != nil || r.o.Piece {
		return nil
	}
	c := &heapCourse{quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(c.done)
		if heap, err := open(); err == nil { // else it keeps no profile, or is not ours
			c.heap = heap
			c.run()
		}
	}()
	return c
}

func (c *heapCourse) run() {
	every := courseEvery
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-c.quit:
			c.look()
			return
		}
		began := time.Now()
		c.look()
		if c.course.Len() > courseLooks {
			every *= 2
			c.course.Halve()
		}
		next.Reset(max(every, time.Duration(float64(time.Since(began))/courseShare)))
	}
}

func (c *heapCourse) look() {
	if h, err := c.heap.Read(); err == nil { // else it has ended, or its sites change
		c.course.Add(h)
	}
}

// end writes what was seen.
func (c *heapCourse) end(r *recorder) {
	if c == nil {
		return
	}
	close(c.quit)
	<-c.done
	if c.heap == nil {
		return
	}
	if c.course.Len() > 1 {
		if p := c.course.Profile(c.heap.Frames); p != nil {
			r.keep(recording.HeapCourseMember, p, nil)
		}
	}
	c.heap.Close()
}
