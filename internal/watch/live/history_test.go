package live

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// frameAt returns a frame of one program, and of others that do nothing.
func frameAt(second int, p Process, others int) *Frame {
	f := &Frame{Time: time.Unix(int64(second), 0), Processes: []Process{p}}
	for i := range others {
		f.Processes = append(f.Processes, Process{PID: 1000 + i, Go: "go1.26"})
	}
	return f
}

func groups(names ...string) *Goroutines {
	g := &Goroutines{Total: len(names), Waiting: len(names)}
	for i, n := range names {
		g.Groups = append(g.Groups, Group{Function: n, State: "waiting", Reason: "chan receive", Count: len(names) - i})
	}
	return g
}

// Somebody who asks again and again knows in the end what there is.
func TestNews(t *testing.T) {
	h := Remember(nil)
	var known []Point
	var names []GroupName
	var seen Cursor
	for second := range 1200 {
		// Every function is there for a while only, so that names run out.
		p := Process{PID: 7, Go: "go1.26", CPU: CPU{User: float64(second)}, Goroutines: groups("main.work", fmt.Sprint("main.f", second/2), fmt.Sprint("main.g", second/2))}
		h.Add(frameAt(second, p, 0))
		if second%3 != 2 {
			continue
		}
		n, _ := h.News(7, seen)
		if n.Whole {
			known, names = nil, nil
		}
		if n.GroupsFrom != len(names) {
			t.Fatalf("second %d: groups from %d, and %d are known", second, n.GroupsFrom, len(names))
		}
		known, names, seen = append(known, n.Points...), append(names, n.Groups...), n.Seen
		last := known[len(known)-1]
		if last.User != float64(second) {
			t.Fatalf("second %d: the last point is of %v", second, last.User)
		}
		for i, g := range p.Goroutines.Groups {
			if name, n := names[last.Groups[2*i]].Function, last.Groups[2*i+1]; name != g.Function || n != g.Count {
				t.Fatalf("second %d: group %d is %d of %s, want %d of %s", second, i, n, name, g.Count, g.Function)
			}
		}
	}
	all, _ := h.News(0, Cursor{})
	if !all.Whole || len(all.Points) != 901 || len(all.Groups) > maxNames {
		t.Errorf("whole %v, %d points and %d names, want those of 15 minutes", all.Whole, len(all.Points), len(all.Groups))
	}
	if n, _ := h.News(7, all.Seen); n.Whole || len(n.Points) != 0 || len(n.Groups) != 0 {
		t.Errorf("News(7) of nothing new: whole %v, %d points, %d names, want false, none, none",
			n.Whole, len(n.Points), len(n.Groups))
	}
	if n, _ := h.News(8, Cursor{}); n.Process != nil {
		t.Error("there is news of a program that is not there")
	}
}

// A program that begins anew goes on under its new number; one that ended is
// remembered for a while.
func TestNewsOfRestart(t *testing.T) {
	h := Remember(nil)
	h.Add(frameAt(0, Process{PID: 7, Go: "go1.26"}, 0))
	h.Add(frameAt(0, Process{PID: 7, Go: "go1.26"}, 0))
	first, next := h.News(7, Cursor{})
	h.Add(frameAt(1, Process{PID: 8, Was: 7, Go: "go1.26", Restarts: 1}, 0))
	h.Add(frameAt(2, Process{PID: 8, Was: 7, Go: "go1.26", Restarts: 1}, 0))
	select {
	case <-next:
	default:
		t.Error("nobody is told of the second frame")
	}
	n, _ := h.News(7, first.Seen)
	if n.Whole || n.Ended || n.Process == nil || n.Process.PID != 8 || len(n.Points) != 1 || n.Points[0].PID != 8 {
		t.Errorf("News(7) after a restart: whole %v, ended %v, process %+v, points %+v, "+
			"want false, false, PID 8, one point of it", n.Whole, n.Ended, n.Process, n.Points)
	}
	if old, _ := h.News(8, Cursor{}); len(old.Points) != 2 {
		t.Errorf("it has %d points, want those of before too", len(old.Points))
	}
	h.Add(&Frame{Time: time.Unix(2, 0)})
	if n, _ := h.News(8, n.Seen); !n.Ended || n.Process == nil {
		t.Errorf("News(8) after its end: ended %v, process %+v, want true, the last", n.Ended, n.Process)
	}
	h.Add(&Frame{Time: time.Unix(1000, 0)})
	if n, _ := h.News(8, Cursor{}); n.Process != nil {
		t.Error("a program that ended long ago is remembered")
	}
}

// A program that rests has a point in each frame, of which two are kept.
func TestNewsOfRest(t *testing.T) {
	h := Remember(nil)
	var known []Point
	var seen Cursor
	for second := range 2000 {
		p := Process{PID: 7, Go: "go1.26", RSS: 5, still: true}
		if second%500 < 100 { // it works for a while
			p.CPU.User, p.still = float64(second), false
		}
		h.Add(frameAt(second, p, 0))
		if second%7 == 0 {
			n, _ := h.News(7, seen)
			known, seen = append(known, n.Points...), n.Seen
		}
	}
	for i, x := range known {
		if second := int64(i + 1); x.AtMS != 1000*second || x.Number != second+1 || x.RSS != 5 || x.User != 0 && x.User != float64(second) || (second%500 < 100) != (x.User > 0) {
			t.Fatalf("point %d is number %d at %d ms, RSS %d, user %v, want %d at %d, 5, %d where it works, else 0",
				i, x.Number, x.AtMS, x.RSS, x.User, second+1, 1000*second, second)
		}
	}
	all, _ := h.News(7, Cursor{})
	if len(all.Points) != 901 || all.Points[0].AtMS != 1099_000 {
		t.Errorf("%d points from %d ms, want those of 15 minutes", len(all.Points), all.Points[0].AtMS)
	}
	if kept := len(h.courses[7].points); kept > 105 {
		t.Errorf("%d points are kept, want those of 100 seconds of work and few more", kept)
	}
	h.Add(&Frame{Time: time.Unix(2000, 0)})
	h.Add(frameAt(2001, Process{PID: 7, Go: "go1.26", still: true}, 0))
	if n, _ := h.News(7, all.Seen); len(n.Points) != 1 || n.Points[0].AtMS != 2001_000 {
		t.Errorf("after a frame without it the points are %+v, want one at %d ms", n.Points, 2001_000)
	}
}

// An hour of many programs with ever new groups stays within what is said.
func TestHistoryIsBounded(t *testing.T) {
	h := Remember(nil)
	before := heapInUse()
	for second := range 3600 {
		var names []string
		for i := range 100 {
			names = append(names, fmt.Sprintf("main.function%d", (second*7+i)%5000))
		}
		f := frameAt(second, Process{PID: 7, Go: "go1.26", Goroutines: groups(names...)}, 300)
		for i := range f.Processes[1:] {
			f.Processes[1+i].Goroutines = f.Processes[0].Goroutines
		}
		if second%10 != 0 { // the others tell the same each second: it is a slow test otherwise
			f.Processes = f.Processes[:1]
			f.Processes = append(f.Processes, frameAt(0, Process{}, 300).Processes[1:]...)
		}
		h.Add(f)
	}
	if used := heapInUse() - before; used > 100<<20 {
		t.Errorf("%d MB are kept", used>>20)
	} else {
		t.Logf("%d MB are kept", used>>20)
	}
	runtime.KeepAlive(h)
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
