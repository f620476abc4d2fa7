package aggregate

import (
	"slices"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// The recording has what the store has, to the last unit, and says how long the processes
// ran.
func TestRecording(t *testing.T) {
	start := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	plan := simulate.Plan{Seed: 5, Start: start, Length: 10 * time.Minute, Step: time.Minute, Services: []simulate.Service{
		{Name: "shop", Processes: 3, Versions: []simulate.Version{{Name: "v1"}}},
	}}
	r := new(storetest.Reference)
	for b := range plan.Batches() {
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	s := store.Selection{Service: "shop", From: start, Until: start.Add(20 * time.Minute)}
	e, err := Of(t.Context(), r, s)
	if err != nil {
		t.Fatal(err)
	}
	if e.Seen != 3 || e.Alive != 1.5 { // half of the time
		t.Errorf("%d processes, %g on average, want 3 and 1.5", e.Seen, e.Alive)
	}
	rec, err := e.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		member string
		column int
		kind   store.Type
	}{
		{recording.CPUMember, 1, store.CPU}, {recording.AllocsMember, 1, store.AllocSpace},
		{recording.MutexMember, 1, store.MutexDelay}, {recording.BlockMember, 1, store.BlockDelay},
	} {
		s.Type = want.kind
		stacks, _ := r.Stacks(t.Context(), s)
		p := member(t, rec, want.member)
		var sum int64
		for _, x := range p.Sample {
			sum += x.Value[want.column]
		}
		if sum != stacks.Total || sum == 0 || len(p.Sample) != len(stacks.Samples) {
			t.Errorf("%s sums to %d in %d stacks, the store to %d in %d", want.member, sum, len(p.Sample), stacks.Total, len(stacks.Samples))
		}
		if d := time.Duration(p.DurationNanos); d != 30*time.Minute {
			t.Errorf("%s is of %v, want 30 minutes", want.member, d)
		}
	}
	cpu := member(t, rec, recording.CPUMember)
	for _, x := range cpu.Sample {
		if x.Value[0] != x.Value[1]/int64(period) {
			t.Fatalf("%d samples of %v", x.Value[0], time.Duration(x.Value[1]))
		}
	}
}

func member(t *testing.T, rec *recording.Recording, name string) *profile.Profile {
	t.Helper()
	i := slices.IndexFunc(rec.Members, func(m recording.Member) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	f, err := rec.Members[i].Open()
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Nothing was sent: there is nothing to say.
func TestNothing(t *testing.T) {
	e, err := Of(t.Context(), new(storetest.Reference), store.Selection{Until: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Parts) != 0 || e.Alive != 0 {
		t.Errorf("Of() of an empty store has %d parts and %v alive, want none", len(e.Parts), e.Alive)
	}
}
