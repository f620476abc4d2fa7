package rules

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
)

// Places that grew as much as each other stand in the order of their names and lines.
func TestGrownPlaces(t *testing.T) {
	p := passOf(t, heapgrowth, `stack b main.b@b.go:1
stack a12 main.a@a.go:12
stack a7 main.a@a.go:7
stack most main.z@z.go:99
stack freed main.freed@f.go:1
liveheap start stack=freed objects=1 bytes=10MiB
liveheap end stack=b objects=1 bytes=20MiB
liveheap end stack=a12 objects=1 bytes=20MiB
liveheap end stack=a7 objects=1 bytes=20MiB
liveheap end stack=most objects=1 bytes=30MiB`)
	var got []string
	for _, g := range memory.GrownPlaces(p, false) {
		got = append(got, fmt.Sprint(code.Line(g.Place), " ", g.Bytes/(1<<20)))
	}
	if want := []string{"main.z:99 30", "main.a:7 20", "main.a:12 20"}; !slices.Equal(got, want) {
		t.Errorf("grownPlaces(, false) = %q, want %q", got, want)
	}
}

// Of a heap that nothing tells about, nothing is said but that.
func TestNoLiveHeap(t *testing.T) {
	d := diagnosis.Run(passOf(t, heapgrowth, "window 60s procs=2 go=go1.26").Model, []*diagnosis.Rule{heapgrowth}, diagnosis.Options{})
	if n := len(d.Findings) + len(d.Fine) + len(d.Warnings); n != 0 || len(d.Unchecked) != 1 || d.Unchecked[0].Why != "no collection said what is alive" {
		t.Errorf("%q, %q, %q", d.Fine, d.Unchecked, d.Warnings)
	}
}
