package goroutines

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// TestUsage compares what is read of a program's memory with what the program says itself.
func TestUsage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for _, toolchain := range toolchains {
		for _, env := range []string{"", "GOFLAGS=-ldflags=-s"} {
			t.Run(toolchain+" "+env, func(t *testing.T) {
				if toolchain != "local" {
					attempt.Only(t, "downloads a toolchain")
				}
				s := start(t, build(t, toolchain, source(t, "program"), env))
				r := s.open()
				g, err := r.Gauge()
				if err != nil {
					t.Fatal(err)
				}
				defer g.Close()
				fmt.Fprintln(s.in, "heap") // so that there is one
				s.line("end of heap")
				if err := attempt.Repeat(t, func() error { return s.comparesUsage(r, g) }); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func (s *subject) comparesUsage(r *Reader, g *Gauge) (err error) {
	fmt.Fprintln(s.in, "usage")
	told, address, _ := strings.Cut(strings.TrimSpace(s.line("end of usage")), "\n")
	u, ok := g.Usage()
	if !ok {
		return errors.New("nothing can be told of its memory")
	}
	names := []string{"objects", "unused", "free", "stacks", "spans", "caches", "buckets", "GC"}
	for i, got := range []int64{u.Objects, u.Unused, u.Free, u.Stacks, u.Spans, u.Caches, u.Buckets, u.GC + u.GCWork} {
		var want int64
		fmt.Sscan(strings.Fields(told)[i], &want)
		// What Ps have not told of what they allocate from is a span of each size, some 8 KiB.
		if apart := got - want; max(apart, -apart) > 1<<20 {
			err = errors.Join(err, fmt.Errorf("%s: %d, and the program says %d", names[i], got, want))
		}
	}
	var object uint64
	fmt.Sscanf(address, "0x%x", &object)
	arenas, aerr := r.Arenas()
	if aerr != nil {
		return errors.Join(err, aerr)
	}
	if !slices.ContainsFunc(arenas, func(a Range) bool { return a.Low <= object && object < a.High }) {
		err = errors.Join(err, fmt.Errorf("the object at %#x is in none of %#x", object, arenas))
	}
	return err
}

// TestArenasThatLie: of memory that is not what it should be nothing is told.
func TestArenasThatLie(t *testing.T) {
	head := func(first, n, room uint64) (b []byte) {
		for _, v := range []uint64{first, n, room} {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	number := func(of ...uint64) (b []byte) {
		for _, v := range of {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	const list = 0x2000
	for name, c := range map[string]struct {
		head, numbers []byte
		want          []Range
	}{
		"two that touch": {head(list, 2, 4), number(3, 4), []Range{{3 * arenaBytes, 5 * arenaBytes}}},
		"two apart":      {head(list, 2, 4), number(9, 4), []Range{{4 * arenaBytes, 5 * arenaBytes}, {9 * arenaBytes, 10 * arenaBytes}}},
		"more than room": {head(list, 5, 4), number(1, 2, 3, 4, 5), nil},
		"too many":       {head(list, 1<<40, 1<<41), nil, nil},
		"nowhere":        {head(0x9000, 1, 1), nil, nil},
		"zero":           {head(list, 1, 1), number(0), nil},
		"too far":        {head(list, 1, 1), number(1 << 50), nil},
	} {
		r := &Reader{memory: fake{0x1000: c.head, list: c.numbers}}
		got, err := r.arenas(0x1000, 0)
		if got = joined(got); !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) || err != nil && !errors.Is(err, ErrUnsure) {
			t.Errorf("%s: %#x, %v; want %#x", name, got, err, c.want)
		}
	}
}
