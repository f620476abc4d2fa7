package follower

import (
	"testing"
	"time"

	"replicas/internal/leader"
	"replicas/internal/state"
)

func TestFollow(t *testing.T) {
	for _, streams := range []bool{false, true} {
		s := state.New()
		for i := range 3000 {
			s.Set("name"+string(rune('a'+i%26))+string(rune('a'+i/26%26)), time.Duration(i).String())
		}
		f := New()
		addr, err := f.Listen()
		if err != nil {
			t.Fatal(err)
		}
		l := leader.New(s, leader.Options{Streams: streams}, []string{addr})
		offered, taken, err := l.Run(100, 60*time.Millisecond)
		if err != nil || taken != 1 || offered < 2 {
			t.Fatal(streams, offered, taken, err)
		}
		if f.State.Index() != s.Index() || f.State.Len() != s.Len() || l.Sent.Bytes() == 0 {
			t.Fatal(streams, f.State.Index(), f.State.Len(), l.Sent.Bytes())
		}
	}
}
