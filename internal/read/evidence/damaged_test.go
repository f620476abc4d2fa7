package evidence

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// A piece of a recording that cannot be read costs nothing but itself, and is named.
func TestDamagedMembers(t *testing.T) {
	start := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	man := recording.Manifest{Start: start, End: start.Add(4 * time.Second), PID: 77, Procs: 3}
	whole := map[string]string{
		recording.BuildMember:   "p: go1.26.1\n\tpath\texample.com/p\n",
		recording.GCTraceMember: "gc 1 @0.1s 1%: 0.01+0.2+0.01 ms clock, 0.02+0/0.1/0.2+0.02 ms cpu, 4->4->1 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P\n",
	}
	noise := bytes.Repeat([]byte{0xfe, 0x01, 0x99, '\n'}, 300)
	for _, m := range artifact.Members {
		if m.Source == "" {
			continue // it is not evidence by itself
		}
		t.Run(m.Name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "run.gowhy")
			w, err := recording.Create(file)
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range whole {
				if name == m.Name {
					continue
				}
				if err := w.Add(name, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Add(m.Name, noise); err != nil {
				t.Fatal(err)
			}
			if err := w.Finish(man); err != nil {
				t.Fatal(err)
			}
			got := loaded(t, file)
			if got.Run.PID != 77 || m.Name != recording.BuildMember && got.Build == nil || m.Name != recording.GCTraceMember && !got.Has(model.GCTrace) {
				t.Errorf("the rest was lost: PID %d, build %v, sources %v", got.Run.PID, got.Build, got.Run.Coverage)
			}
			if notes := strings.Join(got.Run.Coverage.Notes, "\n"); !strings.Contains(notes, m.Name) {
				t.Errorf("no note names it:\n%s", notes)
			}
		})
	}
}
