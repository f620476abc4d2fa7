package jobs

import (
	"context"
	"testing"
	"time"
)

func TestAwait(t *testing.T) {
	f := NewFarm(1, func(name string) []byte { return []byte("picture of " + name) })
	for _, look := range []time.Duration{0, time.Millisecond} {
		if out, err := f.Submit("sea").Await(t.Context(), look); err != nil || string(out) != "picture of sea" {
			t.Errorf("look %s: %q, %v", look, out, err)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Job{done: make(chan struct{})}).Await(stopped, 0); err == nil {
		t.Error("somebody waited who was told to stop")
	}
}
