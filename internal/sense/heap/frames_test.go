package heap

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// TestUnused has three frames of 64 bytes, a word in use in each: a local variable, what a function
// was called with, and a variable that another leads to.
func TestUnused(t *testing.T) {
	const sp, size = 0x1000, 64
	caller := &symbols.FrameMap{Size: size - 8, Locals: symbols.NewWords(false, true)}
	called := &symbols.FrameMap{Size: size - 8, Args: symbols.NewWords(true)}
	leads := &symbols.FrameMap{Size: size - 8, Locals: symbols.NewWords(true), Objects: []symbols.StackObject{{At: -32, Size: 8}, {At: -48, Size: 16}}}
	for name, c := range map[string]struct {
		frames []*symbols.FrameMap
		change func(b []byte)
		want   []int // words in use
	}{
		"locals":               {[]*symbols.FrameMap{caller, caller}, nil, []int{5, 13}},
		"arguments":            {[]*symbols.FrameMap{called, caller}, nil, []int{8, 13}},
		"an address":           {[]*symbols.FrameMap{leads}, func(b []byte) { binary.LittleEndian.PutUint64(b[5*8:], sp+2*8) }, []int{2, 5}},
		"an address elsewhere": {[]*symbols.FrameMap{leads}, func(b []byte) { binary.LittleEndian.PutUint64(b[5*8:], sp) }, []int{0, 1, 5}},
		"no address":           {[]*symbols.FrameMap{leads}, nil, []int{5}},
		"deferred calls":       {[]*symbols.FrameMap{{Size: size - 8, Defers: true, Objects: []symbols.StackObject{{At: -48, Size: 40}}}, {Size: size - 8, Defers: true, Objects: []symbols.StackObject{{At: -48, Size: deferRecord}}}}, nil, []int{8, 9, 10, 11, 12, 13}},
		"of another size":      {[]*symbols.FrameMap{{Size: size, Locals: caller.Locals}}, nil, []int{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		b := make([]byte, len(c.frames)*size)
		if c.change != nil {
			c.change(b)
		}
		var frames []frame
		for i, uses := range c.frames {
			frames = append(frames, frame{end: sp + uint64(i+1)*size - argsBehind, uses: uses})
		}
		k := &stacks{}
		left := k.unused(&goroutines.Goroutine{State: goroutines.Waiting, SP: sp, High: sp + uint64(len(b))}, sp, frames, b)
		var got []int
		for i := range len(b) / 8 {
			if !left.has(i) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: words %v are in use, want %v", name, got, c.want)
		}
	}
	if (&stacks{}).unused(&goroutines.Goroutine{State: goroutines.Running}, sp, nil, make([]byte, 8)) != nil {
		t.Error("words of a goroutine that runs are left out")
	}
}

// TestOrdered has a server whose handlers have lower numbers than itself, as those that another
// processor dealt out; and two that started each other, which cannot be.
func TestOrdered(t *testing.T) {
	k := &stacks{groups: map[string]*stackGroup{}}
	for _, g := range []*stackGroup{
		{name: "handler", first: 5, creator: 1, frames: []frame{{name: 2}}},
		{name: "server", first: 9, creator: 3, frames: []frame{{name: 4}, {name: 1}}},
		{name: "main", first: 1, creator: -1, frames: []frame{{name: 3}}},
		{name: "worker", first: 7, creator: 3, frames: []frame{{name: 2}}},
		{name: "chicken", first: 20, creator: 7, frames: []frame{{name: 6}}},
		{name: "egg", first: 21, creator: 6, frames: []frame{{name: 7}}},
	} {
		k.groups[g.name] = g
	}
	var got []string
	for _, g := range k.ordered() {
		got = append(got, g.name)
	}
	if want := []string{"main", "server", "handler", "worker", "egg", "chicken"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
