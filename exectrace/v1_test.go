package exectrace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/corpus"
	xtrace "golang.org/x/exp/trace"
)

// oldTrace returns a trace of a version whose format another reader reads.
func oldTrace(t *testing.T, program string) []byte {
	t.Helper()
	data, err := os.ReadFile(corpus.Trace(t, corpus.Old(program)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOldFormatEvents(t *testing.T) {
	for _, program := range []string{"timers", "annotations", "spawn"} {
		t.Run(program, func(t *testing.T) {
			data := oldTrace(t, program)
			r, err := xtrace.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			c := comparer{}
			for e, err := range mustRead(t, data).Events(EventOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				w, err := r.ReadEvent()
				if err != nil {
					t.Fatalf("Events has event %d, the reference = %v", n, err)
				}
				c.compare(t, n, &e, &w)
				n++
			}
			if _, err := r.ReadEvent(); !errors.Is(err, io.EOF) {
				t.Errorf("Events = %d, the reference goes on: %v", n, err)
			}
			if n < 1000 {
				t.Errorf("events = %d, want 1000 or more", n)
			}
		})
	}
}

func TestOldFormatAccounts(t *testing.T) {
	data := oldTrace(t, "annotations")
	a := replayAccounts(t, data, Options{})
	if a.Info.Version != "go1.21" || len(a.Info.Generations) != 1 || a.Info.Generations[0].Events == 0 {
		t.Errorf("Info = %+v, want go1.21 and one generation with events", a.Info)
	}
	if len(a.Tasks) == 0 || len(a.Regions) == 0 || len(a.Logs) == 0 || len(a.Procs) == 0 || len(a.Buckets) == 0 {
		t.Errorf("Account has %d tasks, %d regions, %d logs, %d Ps and %d buckets, want some of each",
			len(a.Tasks), len(a.Regions), len(a.Logs), len(a.Procs), len(a.Buckets))
	}
	// Every goroutine's parts add up to its existence.
	for _, g := range a.Goroutines {
		from, to := a.Info.Start, a.Info.End
		if g.Created > 0 {
			from = g.Created
		}
		if g.Ended > 0 {
			to = g.Ended
		}
		sum := g.Running + g.Runnable + g.Syscall + g.SyscallBlocked + g.Unknown
		for _, b := range g.Blocked {
			sum += b.Total
		}
		if sum != to.Sub(from) {
			t.Errorf("goroutine %d: sum of states = %v, want %v", g.ID, sum, to.Sub(from))
		}
	}
}

func TestOldFormatDamage(t *testing.T) {
	data := oldTrace(t, "annotations")
	for _, n := range []int{20, len(data) / 3} {
		_, err := mustRead(t, data[:n]).Account(context.Background(), Options{})
		if !errors.Is(err, ErrOldFormat) || !strings.Contains(err.Error(), "record it again") {
			t.Errorf("Account of %d bytes = %v, want %v with advice", n, err, ErrOldFormat)
		}
	}
}
