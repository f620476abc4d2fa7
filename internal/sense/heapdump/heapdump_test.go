package heapdump

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/dumpfile"
)

func open(b []byte) (*File, error) { return Open(bytes.NewReader(b), int64(len(b)), 1<<20, nil) }

func TestOpen(t *testing.T) {
	f, err := open(dumpfile.Small())
	if err != nil {
		t.Fatal(err)
	}
	if !f.Whole || f.Params != (Params{"amd64", "go1.26.8", 4}) || f.Objects != 9 || f.Goroutines != 1 || f.Types[f.Itabs[0x610000]] != "main.Closer" {
		t.Errorf("open() = whole %v, %+v, %d objects, %d goroutines, type %q, "+
			"want true, {amd64 go1.26.8 4}, 9, 1, main.Closer",
			f.Whole, f.Params, f.Objects, f.Goroutines, f.Types[f.Itabs[0x610000]])
	}
	if f.Stats["Alloc"] != 1<<20 || f.Stats["PauseTotalNs"] != 24<<20 || f.Stats["NumGC"] != 281<<20 || len(f.Stats) != 25 {
		t.Errorf("counts %v", f.Stats)
	}
	if len(f.Waiting) != 1 || len(f.Queued) != 1 || len(f.Roots) != 1 || f.Data.Mask[0] != 2 || f.BSS.Mask[0] != 5 {
		t.Errorf("%d waiting, %d queued, %d roots, masks %v and %v, want 1, 1, 1, 2 first, 5 first",
			len(f.Waiting), len(f.Queued), len(f.Roots), f.Data.Mask, f.BSS.Mask)
	}
	var runs []string
	for _, r := range f.Rows {
		runs = append(runs, fmt.Sprintf("%#x %d×%d %v", r.Start, r.Count, r.Size, r.Pointers))
	}
	if want := []string{"0xc000010000 7×64 true", "0xc000020000 1×480 false", "0xc000400000 1×40960 true"}; !slices.Equal(runs, want) {
		t.Errorf("runs %q, want %q", runs, want)
	}
	var stacks, sites []string
	err = f.EachGoroutine(func(g *Goroutine) error {
		for _, at := range g.Frames {
			stacks = append(stacks, fmt.Sprintf("%d %s %s %#x+%d %d", g.ID, g.Reason, at.Name, at.SP, len(at.Content), at.Pointers))
		}
		return nil
	})
	if want := []string{"7 chan receive main.wait 0xc000800000+64 [8]", "7 chan receive main.main 0xc000800040+32 []"}; err != nil || !slices.Equal(stacks, want) {
		t.Errorf("stacks %q, %v, want %q", stacks, err, want)
	}
	f.EachSite(func(s *Site) { sites = append(sites, fmt.Sprint(*s)) }, func(at, site uint64) { sites = append(sites, fmt.Sprintf("%#x of %d", at, site)) })
	if want := []string{"{1 512 [{main.wait main.go 12} {main.main main.go 5}] 30 10}", "0xc000010000 of 1"}; !slices.Equal(sites, want) {
		t.Errorf("sites %q, want %q", sites, want)
	}
}

// Of a dump that ends anywhere what is before that is there.
func TestCut(t *testing.T) {
	whole := dumpfile.Small()
	objects, stacks := uint64(0), 0
	for n := range whole {
		if n > 1500 && n < dumpfile.LargeSize && n%997 != 0 { // among the contents of one object
			continue
		}
		f, err := open(whole[:n])
		if err != nil {
			if !errors.Is(err, ErrOther) || n > 64 {
				t.Fatalf("%d bytes: %v", n, err)
			}
			continue
		}
		if f.Whole || len(f.Missing) == 0 || !strings.HasPrefix(f.Missing[0], "the rest of its") || !errors.Is(f.Damage, errEnd) {
			t.Fatalf("%d bytes: whole %v, missing %q, %v", n, f.Whole, f.Missing, f.Damage)
		}
		got := 0
		if err := f.EachGoroutine(func(g *Goroutine) error { got += len(g.Frames); return nil }); err != nil {
			t.Fatal(err)
		}
		if f.Objects < objects || got < stacks {
			t.Fatalf("%d bytes have %d objects and %d frames, fewer have %d and %d", n, f.Objects, got, objects, stacks)
		}
		objects, stacks = f.Objects, got
	}
	if objects != 9 || stacks != 2 {
		t.Errorf("%d objects and %d frames, want 9 and 2", objects, stacks)
	}
}

// What cannot be is an error, or ends what is read.
func TestDamaged(t *testing.T) {
	const huge = uint64(1) << 63
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing":            {nil, "does not begin"},
		"another format":     {[]byte("go1.5 heap dump\n"), "does not begin"},
		"big numbers first":  {dumpfile.File(dumpfile.Magic).Put(dumpfile.Params, 1, 8, 0, 0, "ppc64", "go1.26", 1), "ppc64 is no machine"},
		"32 bits":            {dumpfile.File(dumpfile.Magic).Put(dumpfile.Params, 0, 4, 0, 0, "386", "go1.26", 1), "386 is no machine"},
		"no program":         {dumpfile.File(dumpfile.Magic).Put(dumpfile.Thread, 1, 2, 3), "does not say first"},
		"an unknown record":  {dumpfile.New().Put(99), "unknown kind 99"},
		"an object too long": {dumpfile.New().Put(dumpfile.Object, dumpfile.Small0, huge), "bytes"},
		"an odd object":      {dumpfile.New().Put(dumpfile.Object, 3, dumpfile.Words(8), dumpfile.Pointers{}), "an object of 8 bytes is at 0x3"},
		"a pointer outside":  {dumpfile.New().Put(dumpfile.Object, dumpfile.Small0, dumpfile.Words(16), dumpfile.Pointers{9}), "a pointer is at 9 of 16"},
		"a number too long":  {append(dumpfile.New(), bytes.Repeat([]byte{0xff}, 11)...), "more than 64 bits"},
		"a stack too deep":   {dumpfile.New().Put(dumpfile.MemProf, 1, 8, maxDepth+1), "too deep"},
	} {
		f, err := open(c.b)
		if err == nil {
			err = f.Damage
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestRuns has spans of several kinds behind each other.
func TestRuns(t *testing.T) {
	f := dumpfile.New()
	object := func(at, size int, pointers ...int) {
		f = f.Put(dumpfile.Object, at, dumpfile.Words(size), dumpfile.Pointers(pointers))
	}
	const page = dumpfile.Small0
	object(page, 4096, 0)
	object(page+4096, 4096)
	object(page+8192, 4096) // a span without pointers follows
	object(page+12288, 4096)
	object(page+4*8192, 4096) // a page of another is between
	object(page+16, 4096)     // lower
	object(page+5*8192+48, 48, 0)
	object(page+6*8192, 48, 0) // another place in its page
	got, err := open(f.Put(dumpfile.End))
	if err != nil || !got.Whole {
		t.Fatal(err, got.Damage)
	}
	var counts []uint32
	for _, r := range got.Rows {
		counts = append(counts, r.Count)
	}
	if want := []uint32{2, 2, 1, 1, 1, 1}; !slices.Equal(counts, want) {
		t.Errorf("runs of %d objects, want %d", counts, want)
	}
}

func TestBudget(t *testing.T) {
	b := dumpfile.Small()
	if _, err := Open(bytes.NewReader(b), int64(len(b)), runCost, nil); !errors.Is(err, ErrBudget) {
		t.Errorf("with room for one run: %v, want %v", err, ErrBudget)
	}
}

// FuzzOpen changes and cuts dumps, and reads all that there is.
func FuzzOpen(f *testing.F) {
	whole := dumpfile.Small()
	f.Add(whole)
	for n := 0; n < len(whole); n += 997 {
		f.Add(whole[:n])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := open(b)
		if err != nil {
			return
		}
		count := uint64(0)
		s := d.NewScanner()
		for i := range d.Rows {
			r := &d.Rows[i]
			if (r.End-r.Start)%r.Size != 0 || r.End <= r.Start {
				t.Fatalf("a run from %#x to %#x has objects of %d", r.Start, r.End, r.Size)
			}
			err := s.Each(r, func(o *Object) { count++ }, func(o *Object, at uint64) {
				if len(o.Bytes(at, 8)) != 8 {
					t.Fatalf("a pointer at %d of %d bytes", at, o.Size)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if count != d.Objects {
			t.Errorf("%d objects are in the runs, %d in all", count, d.Objects)
		}
		d.EachSite(func(*Site) {}, func(uint64, uint64) {})
		if err := d.EachGoroutine(func(*Goroutine) error { return nil }); err != nil {
			t.Error(err)
		}
	})
}
