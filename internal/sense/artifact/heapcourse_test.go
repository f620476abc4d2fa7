package artifact

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

func TestHeapCourse(t *testing.T) {
	look := func(at int64, allocs, frees int64) *goroutines.Heap {
		return &goroutines.Heap{Time: time.Unix(at, 0), Rate: 1, Sites: []goroutines.Site{
			{ID: 1, Size: 16, Allocs: allocs, Frees: frees, Stack: []uint64{7}},
			{ID: 2, Size: 1 << 20, Allocs: 3, Frees: 3, Stack: []uint64{9}}, // of which nothing is in use
		}}
	}
	var c HeapCourse
	for i := range int64(5) {
		c.Add(look(i+1, 10*(i+1), i))
		c.Add(look(i+1, 10*(i+1), i)) // no collection since
	}
	if got := c.Len(); got != 5 {
		t.Fatalf("Len() = %d, want 5", got)
	}
	c.Halve()
	frames := func(s *goroutines.Site) []symbols.Place {
		return []symbols.Place{{Func: "main.keeps", File: "/x/main.go", Line: int(s.Stack[0])}}
	}
	p := c.Profile(frames)
	if err := p.CheckValid(); err != nil || !IsHeapCourse(p) || len(p.Sample) != 3 {
		t.Fatalf("Profile() = %v with %d samples, %v; want a course of 3", p, len(p.Sample), err)
	}
	for i, want := range []struct{ at, inUse int64 }{{1, 10}, {3, 28}, {5, 46}} {
		s := p.Sample[i]
		if got := Moment(s); got != time.Unix(want.at, 0).UnixNano() || s.Value[2] != want.inUse || s.Value[3] != 16*want.inUse || s.Location[0].Line[0].Line != 7 {
			t.Errorf("sample %d is of %d with %v, want %d objects at second %d", i, got, s.Value, want.inUse, want.at)
		}
	}
	var none HeapCourse
	none.Add(look(1, 2, 2))
	none.Add(look(2, 3, 3))
	if p := none.Profile(frames); none.Len() != 2 || p != nil {
		t.Errorf("Profile() of %d looks at a heap with nothing in use = %v, want nil", none.Len(), p)
	}
	heap := MemoryProfile(look(1, 2, 1), frames)
	if IsHeapCourse(heap) {
		t.Error("IsHeapCourse(a profile of one moment) = true, want false")
	}
}

// Of many sites those are kept that had most in use.
func TestHeapCourseIsBounded(t *testing.T) {
	h := &goroutines.Heap{Time: time.Unix(1, 0), Rate: 1}
	for i := range uint64(courseSites + 10) {
		h.Sites = append(h.Sites, goroutines.Site{ID: i + 1, Size: int64(i + 1), Allocs: 1, Stack: []uint64{i + 1}})
	}
	var c HeapCourse
	c.Add(h)
	p := c.Profile(func(s *goroutines.Site) []symbols.Place {
		return []symbols.Place{{Func: "main.f", Line: int(s.Stack[0])}}
	})
	if n, least := len(p.Sample), p.Sample[0].Value[3]; n != courseSites || least != 11 {
		t.Errorf("%d samples, the least of %d bytes, want %d and 11", n, least, courseSites)
	}
}
