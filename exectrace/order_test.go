package exectrace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	rtrace "runtime/trace"
	"slices"
	"sync"
	"testing"
	"time"

	xtrace "golang.org/x/exp/trace"
)

// recording returns a trace of this process doing a bit of everything. It is
// made once: the runtime can trace only once at a time.
var recording = sync.OnceValues(func() ([]byte, error) {
	old := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(old)
	stop := make(chan bool)
	idle := make(chan bool) // known to the trace from its begin
	for range 100 {
		go func() { <-idle }()
	}
	defer close(idle)
	var buf bytes.Buffer
	if err := rtrace.Start(&buf); err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	wg.Go(func() {}) // ends before all others begin, however slow the machine is
	wg.Wait()
	for i := range 12 {
		wg.Go(func() { busy(i, stop) })
	}
	timer := time.NewTimer(80 * time.Millisecond)
	<-timer.C
	close(stop)
	wg.Wait()
	wg.Go(func() {}) // begins when they have ended
	wg.Wait()
	rtrace.Stop()
	return buf.Bytes(), nil
})

// busy is one of a dozen programs until stop is closed.
func busy(i int, stop chan bool) {
	dir := os.TempDir()
	ctx, task := rtrace.NewTask(context.Background(), "busy")
	defer task.End()
	c := make(chan int)
	go func() {
		for range c {
		}
	}()
	defer close(c)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return
	}
	defer l.Close()
	var ballast [4][]byte
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		switch (i + n/16) % 6 {
		case 0:
			c <- n
		case 1:
			f, err := os.Open(filepath.Join(dir, "."))
			if err == nil {
				_, _ = f.Readdirnames(1)
				f.Close()
			}
		case 2:
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { time.Sleep(time.Microsecond) })
			}
			wg.Wait()
		case 3:
			rtrace.WithRegion(ctx, "allocate", func() {
				ballast[n%len(ballast)] = make([]byte, 1<<20)
			})
		case 4:
			rtrace.Logf(ctx, "count", "%d", n)
			next, end := pull(n)
			next()
			next()
			end()
		case 5:
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				return
			}
			peer, err := l.Accept()
			if err == nil {
				fmt.Fprintln(conn, n)
				_, _ = peer.Read(make([]byte, 8))
				peer.Close()
			}
			conn.Close()
		}
	}
}

// equalEvents compares the reference reading of a trace with that of
// golang.org/x/exp/trace, event by event. Both must fail or neither.
func equalEvents(t *testing.T, data []byte) (events int) {
	t.Helper()
	var failed error
	r, err := xtrace.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	tr := mustRead(t, data)
	c := comparer{}
	for e, err := range tr.Events(EventOptions{reference: true}) {
		if err != nil {
			failed = err
			break
		}
		w, err := r.ReadEvent()
		if err != nil {
			t.Fatalf("event %d: the reference ends with %v, this goes on with %s", events, err, describe(&e))
		}
		c.compare(t, events, &e, &w)
		events++
	}
	// The reference ends every generation with a sync event, even before an error.
	for {
		w, err := r.ReadEvent()
		if err == nil && failed != nil && w.Kind() == xtrace.EventSync {
			continue
		}
		if errors.Is(err, io.EOF) != (failed == nil) || err == nil {
			t.Fatalf("after %d events: got %v, want %v", events, failed, err)
		}
		return events
	}
}

// A comparer compares events. It remembers which stacks are the same.
type comparer map[stackPair]bool

type stackPair struct {
	want xtrace.Stack
	tab  *eventTables
	id   uint64
}

func (c comparer) compare(t *testing.T, n int, e *Event, w *xtrace.Event) {
	t.Helper()
	if c.sameTransition(e, w) {
		return
	}
	if got, want := describe(e), describeReference(w); got != want {
		t.Fatalf("event %d:\ngot  %s\nwant %s", n, got, want)
	}
}

// sameTransition reports whether both are the same change of state, which
// most events are. What it does not understand is not the same.
func (c comparer) sameTransition(e *Event, w *xtrace.Event) bool {
	if w.Kind() != xtrace.EventStateTransition || e.Time != Time(w.Time()) || e.Thread != int64(w.Thread()) ||
		int64(e.Proc) != int64(w.Proc()) || e.Goroutine != int64(w.Goroutine()) {
		return false
	}
	x := w.StateTransition()
	if x.Resource.Kind != xtrace.ResourceGoroutine || e.Kind != EventGoroutine {
		return false
	}
	g, from, to := e.GoTransition()
	wantFrom, wantTo := x.Goroutine()
	return g == int64(x.Resource.Goroutine()) && goNames[from] == wantFrom.String() && goNames[to] == wantTo.String() &&
		e.Reason() == x.Reason && c.sameStack(w.Stack(), e, e.stackID()) && c.sameStack(x.Stack, e, e.subjectStackID())
}

func (c comparer) sameStack(want xtrace.Stack, e *Event, id uint64) bool {
	k := stackPair{want, e.tab, id}
	ok, known := c[k]
	if !known {
		ok = slices.Equal(frames(want), e.tab.resolve(id))
		c[k] = ok
	}
	return ok
}

func mustRead(t testing.TB, data []byte) *Trace {
	t.Helper()
	tr, err := NewReaderAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// describe puts everything that an event tells into a line.
func describe(e *Event) string {
	s := fmt.Sprintf("%d M=%d P=%d G=%d ", e.Time, e.Thread, e.Proc, e.Goroutine)
	switch e.Kind {
	case EventSync:
		n, c := e.Sync()
		s += fmt.Sprintf("Sync %d %d", n, c.Mono)
		if c.Mono != 0 {
			s += fmt.Sprintf(" %d %s", c.At, c.Wall)
		}
	case EventGoroutine:
		g, from, to := e.GoTransition()
		s += fmt.Sprintf("G%d %s>%s %q %v", g, goNames[from], goNames[to], e.Reason(), e.GoStack())
	case EventProc:
		p, from, to := e.ProcTransition()
		s += fmt.Sprintf("P%d %d>%d", p, from, to)
	case EventMetric:
		name, v := e.Metric()
		s += fmt.Sprint(name, v)
	case EventLabel:
		s += fmt.Sprintf("label %q", e.Label())
	case EventRangeBegin, EventRangeActive, EventRangeEnd:
		name, g, p := e.Range()
		s += fmt.Sprint(e.Kind, name, g, p)
		swept, reclaimed := e.Swept()
		s += fmt.Sprint(swept, reclaimed)
	case EventTaskBegin, EventTaskEnd:
		id, parent, name := e.Task()
		s += fmt.Sprint(e.Kind, id, parent, name)
	case EventRegionBegin, EventRegionEnd:
		id, name := e.Region()
		s += fmt.Sprint(e.Kind, id, name)
	case EventLog:
		id, category, message := e.Log()
		s += fmt.Sprint("log", id, category, message)
	case EventExperimental:
		s += e.Name()
		for _, a := range e.Args() {
			s += fmt.Sprint(" ", a.Name, a.Value)
		}
	case EventSample:
		s += "sample"
	default:
		s += "unknown kind"
	}
	return s + fmt.Sprint(" at ", e.Stack())
}

var goNames = map[State]string{
	Unknown: "Undetermined", Dead: "NotExist", Runnable: "Runnable",
	Running: "Running", Waiting: "Waiting", Syscall: "Syscall",
}

var procNumbers = map[xtrace.ProcState]ProcState{
	xtrace.ProcUndetermined: ProcUnknown, xtrace.ProcNotExist: ProcAbsent,
	xtrace.ProcRunning: ProcRunning, xtrace.ProcIdle: ProcIdle,
}

// describeReference is describe for events of golang.org/x/exp/trace.
func describeReference(e *xtrace.Event) string {
	s := fmt.Sprintf("%d M=%d P=%d G=%d ", e.Time(), e.Thread(), e.Proc(), e.Goroutine())
	switch e.Kind() {
	case xtrace.EventSync:
		y := e.Sync()
		s += fmt.Sprintf("Sync %d", y.N)
		if c := y.ClockSnapshot; c != nil {
			s += fmt.Sprintf(" %d %d %s", c.Mono, c.Trace, c.Wall)
		} else {
			s += " 0"
		}
	case xtrace.EventStateTransition:
		x := e.StateTransition()
		if x.Resource.Kind == xtrace.ResourceGoroutine {
			from, to := x.Goroutine()
			s += fmt.Sprintf("G%d %s>%s %q %v", x.Resource.Goroutine(), from, to, x.Reason, frames(x.Stack))
		} else {
			from, to := x.Proc()
			s += fmt.Sprintf("P%d %d>%d", x.Resource.Proc(), procNumbers[from], procNumbers[to])
		}
	case xtrace.EventMetric:
		s += fmt.Sprint(e.Metric().Name, e.Metric().Value.Uint64())
	case xtrace.EventLabel:
		s += fmt.Sprintf("label %q", e.Label().Label)
	case xtrace.EventRangeBegin, xtrace.EventRangeActive, xtrace.EventRangeEnd:
		x := e.Range()
		g, p := int64(-1), int64(-1)
		switch x.Scope.Kind {
		case xtrace.ResourceGoroutine:
			g = int64(x.Scope.Goroutine())
		case xtrace.ResourceProc:
			p = int64(x.Scope.Proc())
		}
		s += fmt.Sprint(e.Kind(), x.Name, g, p)
		var swept, reclaimed uint64
		if e.Kind() == xtrace.EventRangeEnd {
			if a := e.RangeAttributes(); len(a) == 2 {
				swept, reclaimed = a[0].Value.Uint64(), a[1].Value.Uint64()
			}
		}
		s += fmt.Sprint(swept, reclaimed)
	case xtrace.EventTaskBegin, xtrace.EventTaskEnd:
		x := e.Task()
		s += fmt.Sprint(e.Kind(), uint64(x.ID), uint64(x.Parent), x.Type)
	case xtrace.EventRegionBegin, xtrace.EventRegionEnd:
		x := e.Region()
		s += fmt.Sprint(e.Kind(), uint64(x.Task), x.Type)
	case xtrace.EventLog:
		x := e.Log()
		s += fmt.Sprint("log", uint64(x.Task), x.Category, x.Message)
	case xtrace.EventExperimental:
		x := e.Experimental()
		s += x.Name
		for i, a := range x.Args {
			s += fmt.Sprint(" ", a, x.ArgValue(i).Uint64())
		}
	case xtrace.EventStackSample:
		s += "sample"
	}
	return s + fmt.Sprint(" at ", frames(e.Stack()))
}

func frames(s xtrace.Stack) (out []Frame) {
	for f := range s.Frames() {
		out = append(out, Frame{f.PC, f.Func, f.File, int(f.Line)})
	}
	return out
}

func TestReferenceEventsOfOwnTrace(t *testing.T) {
	data, err := recording()
	if err != nil {
		t.Skip("tracing is on already:", err)
	}
	n := equalEvents(t, data)
	t.Logf("%d events in %d bytes", n, len(data))
	if n < 5_000 {
		t.Errorf("events = %d, want 5000 or more", n)
	}
}
