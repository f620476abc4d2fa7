package artifact

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/stacks"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A HeapCourse is what was in use on the heap at several moments, site by site. It becomes one
// profile in the form of runtime/pprof's, each of whose samples says of which moment it is:
// go tool pprof -tagfocus shows one of them.
type HeapCourse struct {
	rate  int64
	sites map[uint64]goroutines.Site // by their identity
	looks []heapLook
	made  int64 // sampled objects that the last look had
}

type heapLook struct {
	at   time.Time
	live []liveSite
}

type liveSite struct {
	id            uint64
	allocs, frees int64
}

const (
	// momentLabel is when a look was taken, in nanoseconds since 1970.
	momentLabel = "moment"
	// courseSites is how many a course has, those that had most in use at any moment: what
	// makes a heap grow is among them.
	courseSites = 1000
)

// Add adds a look, unless no collection was published since the one before.
func (c *HeapCourse) Add(h *goroutines.Heap) {
	look, made := heapLook{at: h.Time}, int64(0)
	for i := range h.Sites {
		s := &h.Sites[i]
		made += s.Allocs
		if s.Allocs > s.Frees {
			look.live = append(look.live, liveSite{s.ID, s.Allocs, s.Frees})
		}
	}
	if made <= c.made {
		return
	}
	if c.sites == nil {
		c.sites = map[uint64]goroutines.Site{}
	}
	for i := range h.Sites {
		s := &h.Sites[i]
		if _, known := c.sites[s.ID]; !known && s.Allocs > s.Frees {
			kept := *s
			kept.Stack = slices.Clone(s.Stack) // alone: a look's stacks share their memory
			c.sites[s.ID] = kept
		}
	}
	c.rate, c.made, c.looks = h.Rate, made, append(c.looks, look)
}

// Len returns how many looks there are.
func (c *HeapCourse) Len() int { return len(c.looks) }

// Halve leaves every second look out.
func (c *HeapCourse) Halve() {
	kept := c.looks[:0]
	for i := 0; i < len(c.looks); i += 2 {
		kept = append(kept, c.looks[i])
	}
	clear(c.looks[len(kept):])
	c.looks = kept
}

// Profile returns all looks as one profile, nil where none of them saw anything in use.
func (c *HeapCourse) Profile(frames func(*goroutines.Site) []symbols.Place) *profile.Profile {
	p := &profile.Profile{
		SampleType: heapTypes(), DefaultSampleType: "inuse_space", Comments: []string{heapComment},
		PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: c.rate, TimeNanos: c.looks[0].at.UnixNano(),
	}
	w := stacks.NewWriter(p)
	locations := map[uint64][]*profile.Location{}
	for _, id := range c.largest() {
		site := c.sites[id]
		locations[id] = locationsOf(w, frames(&site))
	}
	for _, look := range c.looks {
		for _, s := range look.live {
			if at := locations[s.id]; len(at) > 0 {
				size := c.sites[s.id].Size
				p.Sample = append(p.Sample, &profile.Sample{
					Location: at, Value: heapValues(size, c.rate, s.allocs, s.frees),
					NumLabel: map[string][]int64{"bytes": {size}, momentLabel: {look.at.UnixNano()}},
					NumUnit:  map[string][]string{"bytes": {"bytes"}, momentLabel: {"nanoseconds"}},
				})
			}
		}
	}
	if len(p.Sample) == 0 {
		return nil
	}
	return p
}

// largest returns the sites that had most in use at any moment.
func (c *HeapCourse) largest() []uint64 {
	most := map[uint64]int64{}
	for _, look := range c.looks {
		for _, s := range look.live {
			most[s.id] = max(most[s.id], (s.allocs-s.frees)*max(c.sites[s.id].Size, c.rate))
		}
	}
	ids := slices.SortedFunc(maps.Keys(most), func(a, b uint64) int {
		return cmp.Or(cmp.Compare(most[b], most[a]), cmp.Compare(a, b))
	})
	return ids[:min(len(ids), courseSites)]
}

// IsHeapCourse reports whether a profile is one of several moments.
func IsHeapCourse(p *profile.Profile) bool {
	return len(p.Sample) > 0 && Moment(p.Sample[0]) != 0
}

// Moment returns when a sample of such a profile was taken, in nanoseconds since 1970; 0 where
// it does not say.
func Moment(s *profile.Sample) int64 {
	if at := s.NumLabel[momentLabel]; len(at) == 1 {
		return at[0]
	}
	return 0
}
