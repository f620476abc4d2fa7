package agent

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"testing"
)

var escaped [100]*[64]byte

// What was allocated between the first sample and the last is in their
// difference, though it is less than the runtime counts at once by itself.
func TestMetricsAreWhole(t *testing.T) {
	r, w := io.Pipe()
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- sampleTo(w, startClock(), nil, stop)
		w.Close()
	}()
	lines := bufio.NewReader(r)
	next := func(v any) bool {
		text, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, v); err != nil {
			t.Fatal(err)
		}
		return true
	}
	var head struct{ Scalars []string }
	var first, last struct {
		V []*float64
		H [][]uint64
	}
	next(&head)
	next(&first)
	for i := range escaped {
		escaped[i] = new([64]byte)
	}
	close(stop)
	for next(&last) {
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(first.H) == 0 || len(last.H) == 0 {
		t.Error("the first or the last sample has no histograms")
	}
	i := slices.Index(head.Scalars, "/gc/heap/allocs:objects")
	if i < 0 {
		t.Fatal("the runtime does not count objects")
	}
	if got := *last.V[i] - *first.V[i]; got < float64(len(escaped)) {
		t.Errorf("%v objects were counted, want the %d or more that escaped", got, len(escaped))
	}
}
