package model

import "testing"

func TestWaitState(t *testing.T) {
	for reason, want := range map[string]string{
		"sync": "sync", "sync.(*Cond).Wait": "sync", "chan receive": "sync", "select": "sync", // of traces
		"sync.Mutex.Lock": "sync", "semacquire": "sync", "chan send (nil chan)": "sync", // of profiles
		"network": "net", "IO wait": "net",
		"sleep": "wait", "GC background sweeper wait": "wait", "": "wait", "system goroutine wait": "wait",
	} {
		if got := WaitState(reason); got != want {
			t.Errorf("WaitState(%q) = %q, want %q", reason, got, want)
		}
	}
}

func TestStatesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range States {
		for _, x := range []string{"word " + s.Word, "name " + s.Name, "letter " + s.Letter} {
			if seen[x] {
				t.Errorf("two states have the %s", x)
			}
			seen[x] = true
		}
	}
}
