package artifact

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/stacks"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// wallComment tells a wall-clock profile that was read from outside from those that programs take.
const wallComment = "gowhy read all goroutines from memory, time and again; one that runs has the function that it began at"

const (
	// maxLabelled is how many samples a wall-clock profile may have until those of further labels
	// of the program go without: one may give each request its own.
	maxLabelled = 1 << 12
	// maxWallSamples is how many it may have until those of further stacks only have the function
	// that the goroutines began at.
	maxWallSamples = 1 << 15
)

// A Wall adds up looks at all goroutines as a wall-clock profile. The zero value has none.
type Wall struct {
	profile *profile.Profile
	writer  *stacks.Writer
	samples map[string]*profile.Sample
	covered time.Duration
	looks   int64
	key     []byte // while a sample is looked for
}

// wallKinds returns the columns: of each look a goroutine is one sample.
func wallKinds() []*profile.ValueType {
	return []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "wall", Unit: "nanoseconds"}}
}

// Add adds the goroutines of a look, each for the time that it stands for. The runtime's own are
// left out.
func (w *Wall) Add(s *goroutines.Snapshot, stands time.Duration) {
	if w.profile == nil {
		kinds := wallKinds()
		w.profile = &profile.Profile{SampleType: kinds, PeriodType: kinds[1], DefaultSampleType: kinds[1].Type,
			TimeNanos: s.Time.Add(-stands).UnixNano(), Comments: []string{wallComment}}
		w.writer, w.samples = stacks.NewWriter(w.profile), map[string]*profile.Sample{}
	}
	w.covered += stands
	w.looks++
	for i := range s.Groups {
		if g := &s.Groups[i]; !g.System {
			w.addGroup(g, int64(stands))
		}
	}
}

func (w *Wall) addGroup(g *goroutines.Group, stands int64) {
	at := w.locations(g)
	if len(at) == 0 {
		return
	}
	for _, part := range partsOf(g) {
		part.Oldest = 0 // which is of one look, and the sample of all
		if len(w.samples) >= maxLabelled {
			part.Parts = nil
		}
		v := w.sample(at, &part).Value
		v[0] += int64(part.Count)
		v[1] += int64(part.Count) * stands
	}
}

// parked is where a goroutine stands that waits, if nothing else is known of that.
var parked = symbols.Place{Func: "runtime.gopark"}

// locations returns where a group stands: the function it began at where its stack is not known.
func (w *Wall) locations(g *goroutines.Group) []*profile.Location {
	if len(g.Stack) > 0 && len(w.samples) < maxWallSamples {
		if at := locationsOf(w.writer, g.Stack); len(at) > 0 {
			return at
		}
	}
	if g.State == goroutines.Waiting && g.Start.Func != "" {
		return locationsOf(w.writer, []symbols.Place{parked, g.Start})
	}
	return locationsOf(w.writer, []symbols.Place{g.Start})
}

// sample returns that of a place and labels, a new one where there is none.
func (w *Wall) sample(at []*profile.Location, g *goroutines.Group) *profile.Sample {
	labels := standingLabels(g, 0)
	key := w.key[:0]
	for _, l := range at {
		key = binary.AppendUvarint(key, l.ID)
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		for _, word := range []string{name, labels[name][0]} {
			key = append(append(key, 0), word...)
		}
	}
	w.key = key
	s, ok := w.samples[string(key)]
	if !ok {
		s = &profile.Sample{Location: at, Value: make([]int64, 2), Label: labels}
		w.samples[string(key)] = s
		w.profile.Sample = append(w.profile.Sample, s)
	}
	return s
}

// Profile returns the profile of what was added; nil where nothing was. It is valid until more is.
func (w *Wall) Profile() *profile.Profile {
	if w.looks == 0 {
		return nil
	}
	w.profile.DurationNanos = int64(w.covered)
	w.profile.Period = int64(w.covered) / w.looks
	return w.profile
}
