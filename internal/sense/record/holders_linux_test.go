package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/heap"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// TestRecordHolders has a program that keeps 20 MB more each second: a recording of it has two
// looks with who it is, whoever started it and whatever ends it, and none where nobody asked.
func TestRecordHolders(t *testing.T) {
	exe := memoryProgram(t)
	pid := func(t *testing.T) Target { return Target{PID: startMemory(t, exe, "filling", "").Process.Pid} }
	command := func(*testing.T) Target { return Target{Command: []string{exe, "filling"}} }
	ends := func(*testing.T) Target { return Target{Command: []string{exe, "filling", "5500ms"}} }
	only := []string{"metrics", "proc"}
	for _, c := range []struct {
		name   string
		target func(t *testing.T) Target
		o      Options
	}{
		{"process", pid, Options{Duration: 4 * time.Second, Only: only, Outside: true, Holders: Looks}},
		{"command", command, Options{Duration: 6 * time.Second, Startup: 6 * time.Second, Only: only, Holders: Looks}},
		{"command that ends", ends, Options{Startup: 6 * time.Second, Only: only, Holders: Looks}},
		{"mark", pid, Options{Duration: 8 * time.Second, UntilMemory: Mark{Bytes: 130 << 20}, Holders: Looks}},
		{"unasked, process", pid, Options{Duration: 4 * time.Second, Only: only, Outside: true, Holders: LooksIfGrows}},
		{"unasked, command that ends", ends, Options{Startup: 6 * time.Second, Only: only, Holders: LooksIfGrows}},
		{"not asked", pid, Options{Duration: time.Second, Only: only, Outside: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// A look at a variable in the moment that it changes leaves it out, and says so.
			if err := attempt.Repeat(t, func() error { return lookedAt(t, c.target(t), c.o) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// lookedAt records a program that keeps more and more, and says what is wrong with what was seen.
func lookedAt(t *testing.T, target Target, o Options) error {
	t.Helper()
	var kept time.Time
	o.Out, o.Log = filepath.Join(t.TempDir(), "r.gowhy"), func(s string) { t.Log(s) }
	o.Kept = func(recording.Event) {
		if kept.IsZero() {
			kept = time.Now()
		}
	}
	res, err := Run(t.Context(), target, o)
	if err != nil || !res.Written {
		t.Fatalf("Run() = %+v, %v, want it written", res, err)
	}
	looks := load(t, evidence.Options{}, o.Out).Run.Holders
	if o.Holders == NoLooks {
		if len(looks) > 0 {
			return fmt.Errorf("%d looks that nobody asked for", len(looks))
		}
		return nil
	}
	if o.Holders == LooksIfGrows {
		if len(looks) == 0 || len(looks[0].Holders) == 0 || looks[0].Holders[0].Name != "main.kept" || looks[0].Holders[0].Bytes < 100<<20 {
			return fmt.Errorf("%d looks, want one or two in which main.kept has most", len(looks))
		}
		return nil
	}
	if len(looks) != 2 || len(looks[1].Holders) == 0 {
		return fmt.Errorf("%d looks, want two; refused %+v", len(looks), res.Refused)
	}
	h := looks[1].Holders[0]
	if h.Kind != model.HeldByVariable || h.Name != "main.kept" || h.Growth() < 20<<20 || looks[1].Over < holdersApart {
		return fmt.Errorf("%s grew most, by %d MiB in %v; want main.kept", h.Way(), h.Growth()>>20, looks[1].Over)
	}
	if o.UntilMemory != (Mark{}) && (kept.IsZero() || looks[0].Time.Before(kept)) {
		return fmt.Errorf("the first look is of %v, want one when evidence was on the disk, at %v", looks[0].Time, kept)
	}
	return nil
}

// TestHoldersLevel: nobody looks unasked at a heap that does not grow, and nothing is said of that.
func TestHoldersLevel(t *testing.T) {
	cmd, out := startMemory(t, memoryProgram(t), "live", ""), filepath.Join(t.TempDir(), "r.gowhy")
	o := Options{Out: out, Duration: 1500 * time.Millisecond, Only: []string{"proc"}, Outside: true, Holders: LooksIfGrows}
	res, err := Run(t.Context(), Target{PID: cmd.Process.Pid}, o)
	if err != nil || slices.ContainsFunc(res.Members, func(m recording.Member) bool { return m.Name == recording.HoldersMember }) {
		t.Errorf("Run() = %+v, %v, want no look", res.Members, err)
	}
	for _, r := range res.Refused {
		if r.Member == recording.HoldersMember {
			t.Errorf("it refuses a look that nobody asked for: %s", r.Why)
		}
	}
}

// TestHoldersRefused: the reason why there is no look stands in the recording.
func TestHoldersRefused(t *testing.T) {
	out := filepath.Join(t.TempDir(), "r.gowhy")
	res, err := Run(t.Context(), Target{Command: []string{"sleep", "0.2"}}, Options{Out: out, Only: []string{"proc"}, Holders: Looks})
	if err != nil {
		if _, lacks := exec.LookPath("sleep"); lacks != nil {
			t.Skip("there is no program that ends")
		}
		t.Fatal(err)
	}
	why := ""
	for _, r := range res.Refused {
		if r.Member == recording.HoldersMember {
			why = r.Why
		}
	}
	if !strings.Contains(why, "ended before") {
		t.Errorf("refused %+v, want the heap of a program that ended", res.Refused)
	}
	for _, c := range []struct {
		pid       int
		err       error
		why, hint string
	}{
		{0, nil, "which is not known", "gowhy list"},
		{7, goroutines.ErrGone, "ended before", ""},
		{7, fmt.Errorf("open: %w", fs.ErrPermission), "may not be read", "sudo gowhy record --holders --pid 7"},
		{7, &heap.BudgetError{Need: 300 << 20, Budget: 256 << 20}, "300 MiB or more", "gowhy memory 7 --holders --budget 512"},
		{7, context.Canceled, "ended before the heap", ""},
		{7, fmt.Errorf("%w: no symbols", goroutines.ErrUnsure), "no symbols", ""},
		{7, errors.New("other"), "other", ""},
	} {
		if got := heldRefusal(c.pid, c.err); !strings.Contains(got.Why, c.why) || !strings.HasPrefix(got.How, c.hint) || (got.How == "") != (c.hint == "") {
			t.Errorf("%v: %+v, want %q and %q", c.err, got, c.why, c.hint)
		}
	}
}

// TestKeptLooks: looks that somebody else has made are kept, and so they are where pieces are joined.
func TestKeptLooks(t *testing.T) {
	pid := startMemory(t, memoryProgram(t), "filling", "").Process.Pid
	held := func(bytes uint64) []model.Holder {
		return []model.Holder{{Kind: model.HeldByVariable, Name: "main.kept", ObjectSum: model.ObjectSum{Bytes: bytes}}}
	}
	now, looks := time.Now(), &artifact.HeapLooks{}
	looks.Add(&model.HeapLook{Time: now.Add(-time.Minute), Holders: held(1 << 20)})
	looks.Add(&model.HeapLook{Time: now, Holders: held(3 << 20)})
	dir := t.TempDir()
	pieces := []string{filepath.Join(dir, "1.gowhy"), filepath.Join(dir, "2.gowhy")}
	for _, out := range pieces {
		o := Options{Out: out, Duration: 400 * time.Millisecond, Only: []string{"proc"}, Outside: true, Looks: looks}
		if _, err := Run(t.Context(), Target{PID: pid}, o); err != nil {
			t.Fatal(err)
		}
	}
	joined := filepath.Join(dir, "joined.gowhy")
	if err := Join(joined, pieces); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{pieces[0], joined} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			got := load(t, evidence.Options{}, file).Run.Holders
			if len(got) != 2 || got[1].Holders[0].Growth() != 2<<20 {
				t.Errorf("it has the looks %+v, want both", got)
			}
		})
	}
}
