package evidence_test

import (
	"bytes"
	"math"
	"os"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/testing/corpus"
	"github.com/gowhy/gowhy/internal/testing/oracle"
)

// TestUtilization holds the minimum mutator utilization of real traces
// against one that is computed from single events by trying every window.
// Both take the times that were written down.
func TestUtilization(t *testing.T) {
	flags := []struct {
		name   string
		ours   model.LoadFlags
		theirs oracle.Flags
	}{
		{"stw", model.CountSTW, oracle.STW},
		{"background", model.CountBackground, oracle.Background},
		{"assist", model.CountAssist, oracle.Assist},
		{"sweep", model.CountSweep, oracle.Sweep},
		{"all", model.CountSTW | model.CountBackground | model.CountAssist | model.CountSweep,
			oracle.STW | oracle.Background | oracle.Assist | oracle.Sweep},
		{"all per P", model.CountSTW | model.CountBackground | model.CountAssist | model.PerProc,
			oracle.STW | oracle.Background | oracle.Assist | oracle.PerProc},
	}
	windows := []time.Duration{10 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second}
	loaded := 0
	for _, s := range corpus.Specs(t) {
		t.Run(s.String(), func(t *testing.T) {
			path := corpus.Trace(t, s)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.HasPrefix(data, []byte("go 1.21")) {
				t.Skip("the old format has no labels of mark workers")
			}
			m, err := evidence.Load(t.Context(), []string{path}, evidence.Options{Sweeps: true})
			if err != nil {
				t.Fatal(err)
			}
			if m.GC == nil {
				t.Fatal("no account of the collector")
			}
			for _, f := range flags {
				functions, err := oracle.Utilization(data, f.theirs)
				if err != nil {
					t.Fatal(err)
				}
				u := m.GC.Utilization(f.ours, 0, 0, m.Run.Duration)
				for _, w := range windows {
					_, got := u.Worst(w)
					want := oracle.MMU(functions, int64(w))
					if d := math.Abs(got - want); d > 1e-6 || math.IsNaN(d) {
						t.Errorf("%s: MMU(%v) = %.9f, want %.9f", f.name, w, got, want)
					}
					if want < 1 {
						loaded++
					}
				}
			}
		})
	}
	if loaded == 0 && !t.Failed() {
		t.Error("no trace shows the collector at work")
	}
}
