package heap

import (
	"context"
	"strings"
)

// specials are what the runtime notes of single objects.
type specials struct {
	// kept is what finalizers and cleanups keep until they are called: their objects, and what they themselves lead to.
	kept    []uint32
	samples []sample
}

// A sample is an object that the memory profile has, with the number of its site there.
type sample struct {
	object uint32
	site   uint64
}

// maxSamples are those of a heap of 512 GiB; a program that samples each of more objects has none here.
const maxSamples = 1 << 20

// specialKinds are how a release of the runtime numbers what it notes; 0 is none.
type specialKinds struct{ finalizer, profile, cleanup byte }

func specialKindsOf(version string) specialKinds {
	switch {
	case strings.HasPrefix(version, "go1.22"):
		return specialKinds{finalizer: 1, profile: 2}
	case strings.HasPrefix(version, "go1.23"):
		return specialKinds{finalizer: 1, profile: 3}
	case strings.HasPrefix(version, "go1.24"):
		return specialKinds{finalizer: 1, profile: 3, cleanup: 6}
	}
	return specialKinds{finalizer: 2, profile: 4, cleanup: 7}
}

// specialsEach is over how many an object has: a finalizer, a sample, some cleanups. A list
// that leads back to its begin ends there.
const specialsEach = 16

// readSpecials reads them span by span; without an error it has all.
func readSpecials(ctx context.Context, c *scanner, kinds specialKinds) (s specials, err error) {
	next, ok1 := c.m.Field("runtime.special", "next")
	offset, ok2 := c.m.Field("runtime.special", "offset")
	kind, ok3 := c.m.Field("runtime.special", "kind")
	behind, ok4 := c.m.Field("runtime.specialfinalizer", "fn") // of a sample that is the address of its site
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return s, nil
	}
	const words = 3
	b := make([]byte, max(behind, kind)+8*words)
	wide := uint64(1)<<min(8*(kind-offset), 48) - 1 // until Go 1.23 an offset has two bytes
	all := true                                     // the samples
	for i := range c.s.list {
		sp := &c.s.list[i]
		left := specialsEach * (int(sp.n) + 1)
		for at := sp.specials; at != 0 && left > 0; left-- {
			if left%1024 == 0 && ctx.Err() != nil {
				return s, ctx.Err()
			}
			got, err := c.m.Read(b, at)
			if err != nil {
				return s, err
			}
			if got < len(b) {
				break
			}
			at = word(b[next:])
			n := sp.index(word(b[offset:]) & wide)
			object := sp.first + n
			switch k := b[kind]; {
			case k == 0 || n >= sp.n || !c.s.isUsed(object):
			case k == kinds.profile:
				if all = all && len(s.samples) < maxSamples; all {
					s.samples = append(s.samples, sample{object, word(b[behind:])})
				}
			case k == kinds.finalizer || k == kinds.cleanup:
				s.kept = append(s.kept, object)
				for w := range uint64(words) {
					if to, _, ok := c.lookup(word(b[behind+8*w:])); ok {
						s.kept = append(s.kept, to)
					}
				}
			}
		}
	}
	if !all {
		s.samples = nil
	}
	return s, nil
}

// What finalizers hold, those that nobody called yet and those of what is reached from nowhere else.
const (
	nameQueued = "finalizers that wait to be called"
	nameKept   = "finalizers and cleanups of what is not reached"
)
