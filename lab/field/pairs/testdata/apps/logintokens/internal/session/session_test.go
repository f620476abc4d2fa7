package session

import (
	"testing"
	"time"
)

func TestGet(t *testing.T) {
	for _, every := range []time.Duration{0, time.Hour} {
		s := NewStore(every)
		token := s.Begin("ada", time.Hour)
		over := s.Begin("bob", -time.Second)
		if one, ok := s.Get(token); !ok || one.User != "ada" {
			t.Errorf("every %s: %v, %v; want ada", every, one, ok)
		}
		if _, ok := s.Get(over); ok {
			t.Errorf("every %s: bob's session has not ended", every)
		}
	}
}
