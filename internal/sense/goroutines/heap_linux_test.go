package goroutines

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// TestHeap compares what is read of the memory profile with what the runtime tells.
func TestHeap(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	type variant struct{ toolchain, env string }
	var variants []variant
	for _, toolchain := range toolchains {
		variants = append(variants, variant{toolchain, ""}, variant{toolchain, "GOFLAGS=-ldflags=-s"})
	}
	for _, v := range variants {
		t.Run(v.toolchain+" "+v.env, func(t *testing.T) {
			if v.toolchain != "local" {
				attempt.Only(t, "downloads a toolchain")
			}
			s := start(t, build(t, v.toolchain, source(t, "program"), v.env))
			r := s.open()
			h, err := r.HeapReader()
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			fmt.Fprintln(s.in, "heap")
			want, has := map[string]int{}, map[string]int{}
			for l := range strings.Lines(s.line("end of heap")) {
				want[strings.TrimSpace(l)]++
			}
			got, err := h.Read()
			if err != nil {
				t.Fatal(err)
			}
			var allocs, frees int64
			for _, x := range got.Sites {
				if x.Allocs == 0 {
					continue
				}
				has[fmt.Sprint(x.Size, x.Allocs, x.Frees, x.Stack[:min(len(x.Stack), 32)])]++ // as many as a record has
				if f := h.Frames(&x); x.Size == 4096 && len(f) == 4 && f[0].Func == "main.keeps" && f[1].Func == "main.heap" && f[2].Func == "main.main" && f[0].Line > 0 {
					allocs, frees = allocs+x.Allocs, frees+x.Frees
				}
			}
			if !maps.Equal(has, want) {
				t.Errorf("read %d stacks, the runtime has %d", len(has), len(want))
				for _, k := range slices.SortedFunc(maps.Keys(want), cmp.Compare) {
					if has[k] != want[k] {
						t.Errorf("%s is not among what was read", k)
					}
				}
			}
			// 20 MB, and a sample for each 512 KiB, make 39.
			if got.Rate != 512<<10 || allocs < 10 || frees == 0 || frees >= allocs {
				t.Errorf("a sample for %d bytes; main.keeps has %d, and %d were freed", got.Rate, allocs, frees)
			}
		})
	}
}

// What leads nowhere is refused, and so is a program that keeps no profile.
func TestHostileHeap(t *testing.T) {
	l := &layout{}
	for f, at := range map[field]uint32{bucketNext: 8, bucketKind: 16, bucketSize: 32, bucketDepth: 40, recordFuture: 32, cycleFrees: 8} {
		l.at[f] = at
	}
	const base, head, rate, site = 0x10000, 0x10000, 0x10008, 0x100
	for name, change := range map[string]func(b []byte){
		"":                 func([]byte) {},
		"no profile":       func(b []byte) { put(b[8:], 0) },
		"a kind":           func(b []byte) { put(b[site+16:], 9) },
		"a depth":          func(b []byte) { put(b[site+40:], 1<<40) },
		"a size":           func(b []byte) { put(b[site+32:], 1<<50) },
		"more freed":       func(b []byte) { put(b[site+64:], 8) },
		"a circle":         func(b []byte) { put(b[site+8:], base+site) },
		"too far":          func(b []byte) { put(b[site+8:], 1<<60) },
		"nothing is there": func(b []byte) { put(b[site+8:], base+blockBytes) },
		"over the end":     func(b []byte) { put(b[site+8:], base+blockBytes-20) },
	} {
		b := make([]byte, blockBytes)
		for at, v := range map[int]uint64{0: base + site, 8: 512 << 10, site + 16: memProfile, site + 32: 64, site + 40: 1, site + 48: 0x1234, site + 56: 7, site + 64: 3} {
			put(b[at:], v)
		}
		change(b)
		got, err := (&Reader{layout: l}).heapReader(fake{base: b}, head, rate).Read()
		switch {
		case name != "":
			if !errors.Is(err, ErrUnsure) {
				t.Errorf("%s: %v, want %v", name, err, ErrUnsure)
			}
		case err != nil || len(got.Sites) != 1 || got.Sites[0].Allocs != 7 || got.Sites[0].Frees != 3 || !slices.Equal(got.Sites[0].Stack, []uint64{0x1234}):
			t.Errorf("Read() of a good one = %+v, %v, want one site, 7 allocated, 3 freed, at 0x1234", got, err)
		}
	}
}
