package simulate_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func plan() simulate.Plan {
	cart := simulate.Service{Name: "cart", Processes: 6}
	cart.Versions = []simulate.Version{{Name: "v1"}, {
		Name: "v2", Deploy: 10 * time.Minute,
		Changes: []simulate.Change{{Type: store.CPU, Function: cart.Function(1), Percent: 50}},
	}}
	mail := simulate.Service{Name: "mail", Processes: 2, Versions: []simulate.Version{{Name: "v7"}}}
	return simulate.Plan{Seed: 1, Start: noon, Length: 20 * time.Minute, Step: time.Minute, Services: []simulate.Service{cart, mail}}
}

func TestSamePlanSameBatches(t *testing.T) {
	first, second := slices.Collect(plan().Batches()), slices.Collect(plan().Batches())
	if len(first) != 20*8 {
		t.Fatalf("%d batches, want 160", len(first))
	}
	if !reflect.DeepEqual(first, second) {
		t.Error("the same plan gave other batches")
	}
	other := plan()
	other.Seed = 2
	if reflect.DeepEqual(first, slices.Collect(other.Batches())) {
		t.Error("another seed gave the same batches")
	}
	ids := map[[16]byte]bool{}
	for _, b := range first {
		ids[b.ID] = true
	}
	if len(ids) != len(first) {
		t.Errorf("%d IDs of %d batches", len(ids), len(first))
	}
}

// A change shows in the function that has it and its size is what the plan says, in the
// cost of an operation: hosts and load are the same for both.
func TestChangeIsInItsFunction(t *testing.T) {
	guilty := plan().Services[0].Function(1)
	cpu, ops := map[string][2]int64{}, map[string]int64{}
	for b := range plan().Batches() {
		if b.Source.Service != "cart" {
			continue
		}
		for _, p := range b.Profiles {
			for _, s := range p.Samples {
				switch p.Type {
				case store.CPU:
					sums := cpu[b.Source.Version]
					has := func(f *store.Frame) bool { return f.Function == guilty }
					if slices.ContainsFunc(b.Stacks[s.Stack], has) {
						sums[0] += s.Value
					} else {
						sums[1] += s.Value
					}
					cpu[b.Source.Version] = sums
				case store.Operations:
					ops[b.Source.Version] += s.Value
				}
			}
		}
	}
	ratio := func(i int) float64 {
		return float64(cpu["v2"][i]) / float64(ops["v2"]) / (float64(cpu["v1"][i]) / float64(ops["v1"]))
	}
	if r := ratio(0); r < 1.4 || r > 1.6 {
		t.Errorf("the changed function costs %.2f times what it did, want about 1.5", r)
	}
	if r := ratio(1); r < 0.93 || r > 1.07 {
		t.Errorf("the others cost %.2f times what they did, want about 1", r)
	}
}

func TestRowsAreAboutNineHundred(t *testing.T) {
	for b := range plan().Batches() {
		rows := 0
		for _, p := range b.Profiles {
			rows += len(p.Samples)
			for _, s := range p.Samples {
				if s.Value <= 0 {
					t.Fatalf("%s has the value %d", p.Type, s.Value)
				}
				if _, known := b.Stacks[s.Stack]; !known && s.Stack != 0 {
					t.Fatalf("stack %d of %s has no frames", s.Stack, p.Type)
				}
			}
		}
		if rows < 700 || rows > 900 {
			t.Fatalf("%d rows a process and minute, want about 850", rows)
		}
	}
}

func TestRolloutReachesHostsInOrder(t *testing.T) {
	p := plan()
	p.Services[0].Versions[1].Rollout = 5 * time.Minute
	first := map[string]time.Time{}
	for b := range p.Batches() {
		if b.Source.Version == "v2" && first[b.Source.Instance].IsZero() {
			first[b.Source.Instance] = b.From
		}
	}
	for host, want := range map[string]time.Duration{"host-000": 10 * time.Minute, "host-003": 13 * time.Minute, "host-005": 15 * time.Minute} {
		if got := first[host].Sub(noon); got != want {
			t.Errorf("%s has v2 after %v, want %v", host, got, want)
		}
	}
}
