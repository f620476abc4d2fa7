package rules

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
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
	for _, g := range memory.GrowingLines(p, false) {
		got = append(got, fmt.Sprint(code.Line(g.Place), " ", g.Bytes/(1<<20)))
	}
	if want := []string{"main.z:99 30", "main.a:7 20", "main.a:12 20"}; !slices.Equal(got, want) {
		t.Errorf("grownPlaces(, false) = %q, want %q", got, want)
	}
}

// What lines keep is held against what the heap profile shows: of a heap that doubles half of the
// growth, and not less than that where it was taken early.
func TestKeptPart(t *testing.T) {
	s := time.Second
	types := []model.ValueType{{Name: "alloc_objects"}, {Name: "alloc_space"}, {Name: "inuse_objects"}, {Name: "inuse_space"}}
	for _, c := range []struct {
		name  string
		known bool
		at    time.Duration
		want  float64
	}{
		{"at nobody knows when", false, 0, 30.0 / 150},
		{"at the end", true, 5 * s, 30.0 / 80},
		{"of the middle", true, 3*s + 1, 30.0 / 75},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &model.Model{GCLog: []model.GCLine{{At: s, Live: 10}, {At: 2 * s, Live: 20}, {At: 3 * s, Live: 40}, {At: 4 * s, Live: 90}, {At: 5 * s, Live: 160}}}
			keeps := m.Stacks.Add([]model.Frame{{Func: "main.keeps", File: "main.go", Line: 7}})
			m.Heap = &model.Profile{Types: types, Samples: []model.Sample{{Stack: keeps, Values: []int64{30, 30, 0, 0}}}}
			m.LiveHeap = model.Snapshots{Start: &model.Profile{Types: types},
				End: &model.Profile{Types: types, At: c.at, Known: c.known, Samples: []model.Sample{{Stack: keeps, Values: []int64{0, 0, 30, 30}}}}}
			g := &swelling{bytes: fact.Fact{Value: 150}}
			if got := keptPart(&diagnosis.Pass{Meter: fact.Meter{Model: m}}, g); got != c.want {
				t.Errorf("keptPart() = %v, want %v", got, c.want)
			}
		})
	}
}

// Of a heap that nothing tells about, nothing is said but that.
func TestNoLiveHeap(t *testing.T) {
	d := diagnosis.Run(passOf(t, heapgrowth, "window 60s procs=2 go=go1.26").Model, []*diagnosis.Rule{heapgrowth}, diagnosis.Options{})
	if n := len(d.Findings) + len(d.Fine) + len(d.Warnings); n != 0 || len(d.Unchecked) != 1 || d.Unchecked[0].Why != "no collection said what is alive" {
		t.Errorf("%q, %q, %q", d.Fine, d.Unchecked, d.Warnings)
	}
}

// A heap that came to twice its size, and grew by a lot, is doubted; else the question is open.
func TestOpenHeap(t *testing.T) {
	for _, c := range []struct {
		from, to string
		doubted  bool
	}{{"16MiB", "33MiB", true}, {"16MiB", "31MiB", false}, {"40MiB", "57MiB", false}, {"14MiB", "29MiB", false}} {
		p := passOf(t, heapgrowth, "window 60s\nmetric /gc/heap/live:bytes 0s="+c.from+" 20s="+c.from+" 40s="+c.to+" 60s="+c.to)
		var asked []string
		p.Unchecked = func(what, _, _ string) { asked = append(asked, "unchecked "+what) }
		p.Doubt = func(what, _, _ string) { asked = append(asked, "doubt "+what) }
		want := "unchecked " + heapgrowthOpen
		if c.doubted {
			want = "doubt " + heapgrowthOpen
		}
		if openHeap(p, "", ""); len(asked) != 1 || asked[0] != want {
			t.Errorf("from %s to %s: %q, want %q", c.from, c.to, asked, want)
		}
	}
}
