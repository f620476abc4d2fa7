package model

import (
	"slices"
	"testing"
	"time"
)

// courseModel ran for twelve seconds with ten operations in each, and had a sample of the
// kernel in each half of a second.
func courseModel() *Model {
	m := &Model{Load: &Load{Tool: "test", Known: true, Duration: 12 * time.Second, Ops: 120}, Kernel: &Kernel{CPU: &Profile{Samples: make([]Sample, 2)}}}
	m.Run.Duration = 12 * time.Second
	for i := range 12 {
		at := time.Duration(i) * time.Second
		m.Load.Over = append(m.Load.Over, Interval{At: at, Width: time.Second, Ops: 10})
		m.Kernel.Moments = append(m.Kernel.Moments, KernelMoment{At: at, Sample: 0}, KernelMoment{At: at + time.Second/2, Sample: 1})
	}
	return m
}

// What was sampled and what was done fall into the same pieces, and add up to what lies
// between the first and the last of both.
func TestCourse(t *testing.T) {
	c := courseModel().Course()
	if c == nil || c.From != 0 || c.To != 11500*time.Millisecond {
		t.Fatalf("course %+v, want from 0 to the last sample at 11.5s", c)
	}
	var ops, first, all float64
	for i, n := range c.Samples(func(sample int) bool { return sample == 0 }) {
		first, all, ops = first+n, all+c.Samples(nil)[i], ops+c.Operations[i]
	}
	if ops < 114.9 || ops > 115.1 || first != 12 || all != 23 {
		t.Errorf("%v operations, %v of %v samples; want 115, and 12 of 23 before the end", ops, first, all)
	}
	var second float64
	for _, n := range c.Samples(func(sample int) bool { return sample == 1 }) {
		second += n
	}
	if second != 11 {
		t.Errorf("Samples(the second) are %v, want 11", second)
	}
}

// A course begins with the later of both, and ends with the earlier.
func TestCourseWithin(t *testing.T) {
	m := courseModel()
	m.Kernel.Moments = m.Kernel.Moments[6:] // from the third second on
	c := m.Course()
	if c == nil || c.From != 3*time.Second || c.To != 11500*time.Millisecond || len(c.Operations) != 12 {
		t.Fatalf("Course() = %+v, want twelve pieces from 3s to 11.5s", c)
	}
	for i, n := range c.Operations { // of which each is a twelfth of 8.5 s
		if want := 10 * 8.5 / 12; n < want-1e-6 || n > want+1e-6 {
			t.Errorf("piece %d has %v operations, want %v", i, n, want)
		}
	}
	m.Kernel.Moments = append(m.Kernel.Moments, KernelMoment{At: time.Minute})
	if c = m.Course(); c.To != 12*time.Second {
		t.Errorf("Course() ends at %v, want the run's end", c.To)
	}
	m.Run.Duration = 9 * time.Second
	if c = m.Course(); c.To != 9*time.Second {
		t.Errorf("Course() of a run that ended before its load ends at %v, want 9s", c.To)
	}
}

// Operations of another time than the samples' leave what both have, piece by piece.
func TestCoursePieces(t *testing.T) {
	m := courseModel()
	m.Load.Over = nil
	for i := range 6 { // from 3 to 9 s, each half of a second one operation more
		m.Load.Over = append(m.Load.Over, Interval{At: time.Duration(3+i) * time.Second, Width: time.Second, Ops: int64(2*i + 2)})
	}
	c := m.Course()
	if c == nil || c.From != 3*time.Second || c.To != 9*time.Second {
		t.Fatalf("Course() = %v, want one from 3s to 9s", c)
	}
	if want := []float64{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}; !slices.Equal(c.Operations, want) {
		t.Errorf("Course() has operations %v, want %v", c.Operations, want)
	}
	if got, want := c.Samples(nil), []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("Samples(nil) = %v, want %v", got, want)
	}
}

// Where one of both has no times there is no course.
func TestCourseUnknown(t *testing.T) {
	for name, change := range map[string]func(*Model){
		"no samples":                  func(m *Model) { m.Kernel = nil },
		"samples without times":       func(m *Model) { m.Kernel.Moments = nil },
		"no operations":               func(m *Model) { m.Load = nil },
		"a load of an unknown time":   func(m *Model) { m.Load.Known = false },
		"a load without intervals":    func(m *Model) { m.Load.Over = nil },
		"samples of one moment alone": func(m *Model) { m.Kernel.Moments = m.Kernel.Moments[:1] },
	} {
		m := courseModel()
		if change(m); m.Course() != nil {
			t.Errorf("%s: there is a course", name)
		}
	}
}

// A server's goroutines are counted by the runtime as they are created, where nearly all are
// a server's.
func TestOperationsDone(t *testing.T) {
	m := courseModel()
	m.Load, m.Metrics = nil, &Metrics{Series: map[string]Series{createdMetric: {{At: 0, Value: 100}, {At: 12 * time.Second, Value: 1100}}}}
	served := &Operations{Count: 950, From: fromServed}
	if n := m.operationsDone(served).At(6 * time.Second); n != 600 {
		t.Errorf("%v were created after half of the time, want 600", n)
	}
	served.Count = 500
	if m.operationsDone(served) != nil {
		t.Error("half of all goroutines created stand for operations, want none")
	}
	for name, o := range map[string]*Operations{"nothing": nil, "tasks": {Count: 950, From: "user tasks ended"}} {
		if got := m.operationsDone(o); got != nil {
			t.Errorf("operationsDone(%s) = %v, want nil", name, got)
		}
	}
	m.Metrics, served.Count = nil, 950
	if got := m.operationsDone(served); got != nil {
		t.Errorf("operationsDone(…) without metrics = %v, want nil", got)
	}
}

// The last interval of a load is left out where it was cut, and those before the first
// operation are.
func TestLoadDone(t *testing.T) {
	l := Load{Over: []Interval{{At: 0, Width: time.Second}, {At: time.Second, Width: time.Second, Ops: 7},
		{At: 2 * time.Second, Width: time.Second, Ops: 5}, {At: 3 * time.Second, Width: time.Second / 3, Ops: 1}}}
	done := l.done()
	if len(done) < 2 || done[0] != (Point{At: time.Second}) || done[len(done)-1] != (Point{At: 3 * time.Second, Value: 12}) {
		t.Errorf("done %v, want from 0 at 1s to 12 at 3s", done)
	}
}
