package model

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// growing has counts that were read each second: a heap of 30 MiB in objects and a MiB a second
// more, of which a collection after two seconds left 20 MiB, beside 40 MiB that others have.
func growing(seconds int) *Model {
	m := &Model{Metrics: &Metrics{Series: map[string]Series{}}, Process: &Process{}}
	for name, s := range counted().Series {
		for i := range seconds {
			v := s[0].Value
			switch name {
			case "/memory/classes/heap/objects:bytes", "/memory/classes/total:bytes":
				v += float64(i) * mib
			case "/gc/heap/live:bytes":
				if i < 2 {
					v = 0
				}
			}
			m.Metrics.Series[name] = append(m.Metrics.Series[name], Point{time.Duration(i) * time.Second, v})
		}
	}
	for i := range seconds {
		m.Process.Samples = append(m.Process.Samples, ProcessSample{At: time.Duration(i)*time.Second + 3*time.Millisecond, RSS: uint64(90+i) * mib})
	}
	return m
}

// TestMemoryOver: at each moment the parts add up to what was resident then, and at the last one
// they are those of the account.
func TestMemoryOver(t *testing.T) {
	m := growing(5)
	moments := m.MemoryOver()
	if len(moments) != 5 {
		t.Fatalf("%d moments, want 5", len(moments))
	}
	for i, x := range moments {
		a := &MemoryAccount{Parts: x.Parts}
		if addsUp(t, "over time", &MemoryAccount{Parts: x.Parts, Counted: uint64(90+i) * mib}); x.At != time.Duration(i)*time.Second {
			t.Errorf("moment %d is at %v", i, x.At)
		}
		objects := a.part(partObjects) + a.part(AlivePart) + a.part(partSince)
		if alive := a.part(AlivePart) > 0; objects != uint64(30+i)*mib || alive != (i >= 2) || a.part(partRest) != 40*mib {
			t.Errorf("moment %d: %d MiB of objects, alive %v, %d MiB of others, want %d, %v, 40; parts %+v",
				i, objects>>20, alive, a.part(partRest)>>20, 30+i, i >= 2, x.Parts)
		}
	}
	if last := m.MemoryAccount(); !slices.Equal(last.Parts, moments[4].Parts) {
		t.Errorf("MemoryAccount() has the parts %+v, want those of the last moment, %+v", last.Parts, moments[4].Parts)
	}
	names := PartNames(moments)
	if want := []string{AlivePart, partSince, partObjects, UnusedPart, partFree, StacksPart, partOwn, partRest}; !slices.Equal(names, want) {
		t.Errorf("parts %q, want %q", names, want)
	}
}

// Parts of a later moment stand behind the one that they follow there, and one that is not told nowhere.
func TestPartNames(t *testing.T) {
	moment := func(names ...string) (m MemoryMoment) {
		for _, n := range names {
			name, isNot := strings.CutPrefix(n, "-")
			m.Parts = append(m.Parts, MemoryPart{Name: name, Told: !isNot})
		}
		return m
	}
	moments := []MemoryMoment{moment("a", "e", "-x"), moment("a", "b", "c", "e", "f"), moment("z", "-y", "d", "e", "g")}
	if got, want := PartNames(moments), []string{"z", "d", "a", "b", "c", "e", "g", "f"}; !slices.Equal(got, want) {
		t.Errorf("PartNames(…) = %q, want %q", got, want)
	}
}

// TestMemoryOverEnds: of what was read after the process gave all back nothing is told, and of
// what was read once nothing over time.
func TestMemoryOverEnds(t *testing.T) {
	m := growing(5)
	m.Process.Samples[4].RSS = 0
	if moments := m.MemoryOver(); len(moments) != 4 {
		t.Errorf("%d moments of a process that was gone at the fifth, want 4", len(moments))
	}
	for name, s := range m.Metrics.Series {
		m.Metrics.Series[name] = s[:1]
	}
	if moments := m.MemoryOver(); len(moments) != 4 {
		t.Errorf("%d moments of counts that were read once, want the four at which it was resident", len(moments))
	}
	m.Metrics = nil
	if moments := m.MemoryOver(); len(moments) != 4 || moments[3].Parts[2] != (MemoryPart{partWhole, 93 * mib, true, fromResident}) {
		t.Errorf("without the runtime's counts %+v, want what is resident", moments)
	}
	m = growing(5)
	for name, s := range m.Metrics.Series {
		m.Metrics.Series[name] = s[:3]
	}
	if moments := m.MemoryOver(); len(moments) != 3 {
		t.Errorf("%d moments of counts that were read three times, want three", len(moments))
	}
	m.Process = nil
	if moments := m.MemoryOver(); len(moments) != 3 || (&MemoryAccount{Parts: moments[0].Parts}).part(partObjects) != 30*mib {
		t.Errorf("%d moments of a process that nobody looked at, want the three of the counts", len(moments))
	}
	m = growing(2)
	m.Process.Samples[1].RSS = 0
	if moments := m.MemoryOver(); len(moments) != 1 {
		t.Errorf("%d moments of a process that was gone at the second, want one", len(moments))
	}
	m.Process.Samples = []ProcessSample{{At: -time.Second, RSS: 90 * mib}, {}}
	if moments := m.MemoryOver(); len(moments) != 0 {
		t.Errorf("%d moments of a process that was gone before, want none", len(moments))
	}
	if moments := growing(1).MemoryOver(); moments != nil {
		t.Errorf("MemoryOver() of what was read once = %+v, want nil", moments)
	}
	if moments := (&Model{}).MemoryOver(); moments != nil {
		t.Errorf("MemoryOver() of nothing = %+v, want nil", moments)
	}
}

// TestEnding: a kill has its words, and what a core says of a death is said without one.
func TestEnding(t *testing.T) {
	for want, r := range map[string]Run{
		"": {}, "was killed for want of memory": {Killed: &Kill{}}, "was killed at noon": {Killed: &Kill{Words: "was killed at noon"}, Death: &Death{}},
		"died of SIGABRT": {Death: &Death{Signal: "SIGABRT"}},
	} {
		if got := r.Ending(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
