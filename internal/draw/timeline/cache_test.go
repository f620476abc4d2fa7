package timeline

import (
	"context"
	"testing"
)

// A slowShelf makes each thing when it is told to.
type slowShelf struct {
	*cache
	begun chan itemKey  // what is being made
	end   chan struct{} // one for each thing that is to be done
}

func newSlowShelf(t *testing.T) *slowShelf {
	s := &slowShelf{newCache(1<<20, 1), make(chan itemKey), make(chan struct{})}
	s.batch = func(itemKey) (int, func(itemKey) bool) { return 1, nil }
	s.make = func(ctx context.Context, items []*item) {
		s.begun <- items[0].key
		select {
		case <-s.end:
			items[0].value = items[0].key
		case <-ctx.Done():
			items[0].err = ctx.Err()
		}
	}
	t.Cleanup(s.close)
	return s
}

// What is made on a guess is given up when something else is asked for, and made
// anew when it is asked for itself.
func TestGuessIsGivenUp(t *testing.T) {
	s := newSlowShelf(t)
	guess, want := itemKey{n: 1}, itemKey{n: 2}
	s.hint(guess)
	if k := <-s.begun; k != guess {
		t.Fatalf("%v is made first, want %v", k, guess)
	}
	it := s.want(want)
	if k := <-s.begun; k != want {
		t.Fatalf("%v is made, want %v, which was asked for", k, want)
	}
	s.end <- struct{}{}
	if ok, err := wait(t.Context(), it); !ok || err != nil {
		t.Fatalf("wait(what was asked for) = %v, %v; want it made", ok, err)
	}
	it = s.want(guess)
	<-s.begun
	s.end <- struct{}{}
	if ok, err := wait(t.Context(), it); !ok || err != nil || it.value != guess {
		t.Errorf("wait(the guess) = %v, %v, %v; want %v", ok, err, it.value, guess)
	}
}

// A guess that turns out to be right goes on, whatever else is asked for.
func TestRightGuessGoesOn(t *testing.T) {
	s := newSlowShelf(t)
	ready, guess, want := itemKey{n: 1}, itemKey{n: 2}, itemKey{n: 3}
	it := s.want(ready)
	<-s.begun
	s.end <- struct{}{}
	if ok, err := wait(t.Context(), it); !ok || err != nil {
		t.Fatalf("wait(the first) = %v, %v; want it made", ok, err)
	}
	s.hint(guess)
	<-s.begun
	s.want(ready) // is there: nobody waits for it
	it = s.want(guess)
	other := s.want(want)
	s.end <- struct{}{}
	if ok, err := wait(t.Context(), it); !ok || err != nil {
		t.Errorf("wait(the guess) = %v, %v; want it made", ok, err)
	}
	if k := <-s.begun; k != want {
		t.Errorf("%v is made then, want %v", k, want)
	}
	s.end <- struct{}{}
	if ok, err := wait(t.Context(), other); !ok || err != nil {
		t.Errorf("wait(the other) = %v, %v; want it made", ok, err)
	}
}
