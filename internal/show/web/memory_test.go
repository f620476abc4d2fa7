package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// remembering returns a run whose memory was read twice a second and grows by a MiB each time, in a
// group of 200 MiB.
func remembering() *model.Model {
	m := &model.Model{Run: model.Run{Duration: 20 * time.Second}, Process: &model.Process{}, Limits: &model.Limits{Memory: 200 << 20}, Metrics: &model.Metrics{Series: map[string]model.Series{}}}
	for i := range 40 {
		at := time.Duration(i) * time.Second / 2
		grown := float64(i << 20)
		m.Process.Samples = append(m.Process.Samples, model.ProcessSample{At: at, RSS: uint64(100<<20 + grown)})
		for name, v := range map[string]float64{"/memory/classes/heap/objects:bytes": 50<<20 + grown, "/memory/classes/heap/stacks:bytes": 2 << 20, "/memory/classes/total:bytes": 60<<20 + grown,
			"/gc/heap/live:bytes": 40<<20 + grown, "/gc/heap/goal:bytes": 80<<20 + grown, "/gc/gomemlimit:bytes": 1 << 63} {
			m.Metrics.Series[name] = append(m.Metrics.Series[name], model.Point{At: at, Value: v})
		}
	}
	return m
}

func memoryOf(t *testing.T, m *model.Model) Memory {
	t.Helper()
	value, err := (&View{Model: m.Frozen()}).memory(nil)
	return ask[Memory](t, value, err)
}

// The page has the rows of gowhy memory, and over time parts that add up to what was resident.
func TestMemory(t *testing.T) {
	m := remembering()
	m.Run.Killed = &model.Kill{Words: "was killed at 12:03:11 by the memory limit"}
	got := memoryOf(t, m)
	if got.Ended != m.Run.Killed.Words || len(got.Missing) != 1 || got.Missing[0].Source != "holders" || got.Missing[0].How == "" {
		t.Errorf("ended %q, missing %+v, want %q, holders with how to get them",
			got.Ended, got.Missing, m.Run.Killed.Words)
	}
	var sum, all float64
	for _, r := range got.Rows {
		switch {
		case r.Of == "resident" && r.Value != nil:
			sum += *r.Value
		case r.Of == "all":
			all = *r.Value
		case r.Of == "limit" && strings.Contains(r.Name, "killed over") && (r.ReachedSeconds == nil || *r.ReachedSeconds < 30 || *r.ReachedSeconds > 31):
			t.Errorf("the limit is %+v, want it reached in 30.5 s", r)
		}
	}
	if all != 139<<20 || sum != all {
		t.Errorf("parts of %.0f, and %.0f in all, want 139 MiB", sum, all)
	}
	if !slices.ContainsFunc(got.Notes, func(n string) bool { return strings.Contains(n, "reached in") }) {
		t.Errorf("notes %q do not say when the limit is reached", got.Notes)
	}
	for i := range got.Chart.Series[0].At {
		sum := 0.0
		for _, s := range got.Chart.Series {
			sum += *s.Value[i]
		}
		if want := float64((100 + i) << 20); sum != want {
			t.Fatalf("at moment %d the parts are %.0f, want %.0f", i, sum, want)
		}
	}
	var limits []string
	for _, s := range got.Limits {
		limits = append(limits, fmt.Sprintf("%s %d %.0f", s.Name, len(s.At), *s.Value[len(s.Value)-1]/(1<<20)))
	}
	if want := []string{"GOGC: the next collection ends at 40 119", "control group: killed over 2 200"}; !slices.Equal(limits, want) {
		t.Errorf("limits %q, want %q", limits, want)
	}
}

// What is not known is said to be missing, with what was refused; a run that says nothing of its
// memory has no such screen.
func TestMemoryMissing(t *testing.T) {
	m := remembering()
	m.Metrics, m.Run.Refused = nil, []model.Refusal{{Member: "metrics.jsonl", Source: model.MetricsLog, Why: "the program has no endpoint"}}
	got := memoryOf(t, m)
	if len(got.Missing) != 2 || got.Missing[0].Source != "metrics" || got.Missing[0].Why != "the program has no endpoint" || got.Missing[0].How == "" {
		t.Errorf("missing %+v, want the metrics, why and how", got.Missing)
	}
	if len(got.Chart.Series) != 1 || len(got.Limits) != 1 {
		t.Errorf("%+v beside %+v, want what is resident beside the group's limit", got.Chart, got.Limits)
	}
	nothing := &View{Model: &model.Model{}}
	if _, err := nothing.memory(nil); !refused(err, "nothing here says") || slices.Contains(nothing.screens(), "memory") {
		t.Errorf("of nothing %v, screens %v", err, nothing.screens())
	}
	if v := (&View{Model: remembering()}); !slices.Contains(v.screens(), "memory") {
		t.Errorf("screens %v", v.screens())
	}
}

// What would spare memory leads to what the memory is.
func TestLinkToMemory(t *testing.T) {
	l := newLinker(&View{Model: remembering()})
	leads := func(g diagnosis.Goal) bool {
		f := &diagnosis.Finding{Evidence: []fact.Fact{fact.Figure("n", 1, fact.Bytes, "")}, Bound: diagnosis.Bound{Goal: g}}
		return slices.Contains(l.finding(f, "0").More, Link{"link.memory", "memory"})
	}
	if !leads(diagnosis.MemoryGoal) || leads(diagnosis.CPUGoal) {
		t.Error("a finding about memory, and no other, leads to the account")
	}
}

// Who holds the heap is that of the last look, with the growth since the one before, as rows and
// as a tree that are named alike.
func TestHeld(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	look := func(at time.Duration, bytes uint64) *model.HeapLook {
		use := 0.25
		of := model.ObjectSum{Objects: 3, Bytes: bytes}
		return &model.HeapLook{Time: start.Add(at), Reached: model.ObjectSum{Objects: 9, Bytes: bytes + 50}, Typed: true, Types: []model.HeldType{{Name: "[]byte", ObjectSum: of}},
			Holders: []model.Holder{{Kind: model.HeldByVariable, Name: evilName, ObjectSum: of, Shared: 1, Path: []model.HolderStep{{Field: ".m", Type: "[]byte", ObjectSum: of, Retained: bytes, Use: &use}}}}}
	}
	m := remembering()
	m.Run.Start = start
	m.Run.Holders = []*model.HeapLook{look(time.Second, 100), look(3*time.Second, 130)}
	m.Run.Holders[1].Since(m.Run.Holders[0])
	got := memoryOf(t, m).Held
	if got == nil || got.AtNS != 3e9 || got.OverNS != 2e9 || got.Reached != 180 || len(got.Holders) != 1 || len(got.Notes) == 0 {
		t.Fatalf("held %+v, want one holder, 180 bytes reached, at 3 s, over 2 s, with notes", got)
	}
	h := got.Holders[0]
	if h.Bytes != 130 || *h.Grew != 30 || h.Shared != 1 || len(h.Way) != 2 || h.Way[1].Name != "[]byte" || *h.Way[1].Use != 0.25 || *got.Types[0].Grew != 30 {
		t.Errorf("holder of %d bytes, grown by %v, %d shared, way %+v, types grown by %v, "+
			"want 130, 30, 1, []byte second with use 0.25, 30", h.Bytes, *h.Grew, h.Shared, h.Way, *got.Types[0].Grew)
	}
	if tree := got.Tree; tree.Total != 180 || tree.Names[tree.Func[1]] != h.Way[0].Name || tree.Sum[1] != 130 || len(tree.Kinds) != 1 {
		t.Errorf("tree of %d, names %q, sums %v, %d kinds, want 180, %q with 130 below the root, 1",
			tree.Total, tree.Names, tree.Sum, len(tree.Kinds), h.Way[0].Name)
	}
	m.Run.Start = time.Time{}
	if got := memoryOf(t, m).Held; got.AtNS != -1 {
		t.Errorf("a look is at %d of a window that begins at no known time", got.AtNS)
	}
}
