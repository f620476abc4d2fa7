package oracle

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"
)

// Options say what [Analyze] does. The zero value is what the tools do.
type Options struct {
	// RawTimes sums up with the times that the threads wrote, in the
	// reference's order of events. What then still differs from a correct
	// reading is not the fault of the moved times.
	RawTimes bool
	// NoProfiles leaves the four profiles out.
	NoProfiles bool
}

// A Report is what the reference makes of a trace.
type Report struct {
	Start, End trace.Time // of the first and last event
	Goroutines map[trace.GoID]*Goroutine
	Tasks      map[trace.TaskID]*Task
	Profiles   [profiles][]Record // by Net, Sync, Syscall, Sched
}

// A Goroutine is the summary of a goroutine; of an id used more than once,
// that of its last life. Times are 0 for what did not happen.
type Goroutine struct {
	ID      trace.GoID
	Name    string // function of the root frame
	PC      uint64 // of that frame, as first seen
	Created trace.Time
	First   trace.Time // of running
	Ended   trace.Time // or blocked for good
	Stats
	Regions []*Region // in the order of their begin
	Earlier int       // lives of the same id that are not in here
	State   trace.GoState

	open  openStats
	track track
}

// Stats is how a goroutine, or a region of one, spent its time. The parts up to
// Blocked do not overlap; Ranges do.
type Stats struct {
	Running, Runnable, Syscall, SyscallBlocked time.Duration
	Blocked                                    []Part // by reason
	Total                                      time.Duration
	Ranges                                     []Part // by name
}

// A Part is a duration with its cause.
type Part struct {
	Name string
	Time time.Duration
}

// A Task is a user task.
type Task struct {
	ID         trace.TaskID
	Name       string
	Parent     trace.TaskID // trace.NoTask when not known
	Children   []trace.TaskID
	Begin, End trace.Time // 0 outside the trace
	Logs       int
	Regions    []*Region
	Goroutines map[trace.GoID]bool
}

// A Region is a user region. One without a name stands for the task that a
// goroutine got from its creator.
type Region struct {
	Task       trace.TaskID
	Name       string
	Begin, End trace.Time // 0 outside the trace, or not ended
	Stats
}

// Analyze reads a whole trace and sums it up.
func Analyze(r io.Reader, o Options) (*Report, error) {
	s := newSummarizer()
	var p *profiler
	if !o.NoProfiles {
		p = newProfiler(s)
	}
	add := func(ev *trace.Event, at trace.Time) error {
		s.event(ev, at)
		if p == nil {
			return nil
		}
		return p.event(ev, at)
	}
	var err error
	if o.RawTimes {
		var data []byte
		if data, err = io.ReadAll(r); err == nil {
			err = Raw(data, add)
		}
	} else {
		err = eachEvent(r, func(ev *trace.Event) error { return add(ev, ev.Time()) })
	}
	if err != nil {
		return nil, err
	}
	rep := s.finish()
	if p != nil {
		rep.Profiles = p.finish()
	}
	return rep, nil
}

// Of gives the time of one part.
func Of(parts []Part, name string) time.Duration {
	for _, p := range parts {
		if p.Name == name {
			return p.Time
		}
	}
	return 0
}

// String lists all of s, for comparing and for messages.
func (s Stats) String() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "running %d runnable %d syscall %d syscall-blocked %d", s.Running, s.Runnable, s.Syscall, s.SyscallBlocked)
	writeParts(&b, "blocked", s.Blocked)
	fmt.Fprintf(&b, " total %d", s.Total)
	writeParts(&b, "range", s.Ranges)
	return b.String()
}

func writeParts(b *bytes.Buffer, word string, parts []Part) {
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(x, y Part) int { return strings.Compare(x.Name, y.Name) })
	for _, p := range parts {
		if p.Time != 0 {
			fmt.Fprintf(b, " %s %q %d", word, p.Name, p.Time)
		}
	}
}

func addPart(parts *[]Part, name string, d time.Duration) {
	for i := range *parts {
		if (*parts)[i].Name == name {
			(*parts)[i].Time += d
			return
		}
	}
	*parts = append(*parts, Part{name, d})
}

// since gives what s has more than the earlier e.
func (s Stats) since(e *Stats) Stats {
	s.Running -= e.Running
	s.Runnable -= e.Runnable
	s.Syscall -= e.Syscall
	s.SyscallBlocked -= e.SyscallBlocked
	s.Total -= e.Total
	s.Blocked = partsSince(s.Blocked, e.Blocked)
	s.Ranges = partsSince(s.Ranges, e.Ranges)
	return s
}

func partsSince(now, then []Part) []Part {
	out := slices.Clone(now)
	for i := range out {
		out[i].Time -= Of(then, out[i].Name)
	}
	return out
}

func byBegin(a, b *Region) int { return cmp.Compare(a.Begin, b.Begin) }
