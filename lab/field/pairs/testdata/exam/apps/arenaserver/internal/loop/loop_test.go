package loop

import (
	"testing"

	"arenaserver/internal/system"
	"arenaserver/internal/world"
)

func TestFrames(t *testing.T) {
	var digests []uint64
	for _, pin := range []bool{false, true} {
		w := world.New(20, 3)
		systems := []*system.System{
			system.New("movement", system.Movement(w), pin),
			system.New("sight", system.Sight(w), pin),
			system.New("combat", system.Combat(w), pin),
		}
		l := New(w, systems, 100)
		for range 50 {
			l.Frame()
		}
		for _, s := range systems {
			s.Stop()
		}
		digests = append(digests, w.Digest())
	}
	if digests[0] != digests[1] {
		t.Errorf("worlds are %x and %x", digests[0], digests[1])
	}
}
