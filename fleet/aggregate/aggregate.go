// Package aggregate makes one process of many: the profiles of all processes of a version,
// merged, as a recording of gowhy.
//
// It hides how columns of a store become a profile. The process that comes out ran as long
// as all of them together, so that each rate is that of a mean process, which is what the
// thresholds of rules are for; [Process].Alive says how many there were.
//
// Snapshots (memory in use, goroutines) are left out: their sums over time are no
// quantity. What needs them is for a recording of one process.
package aggregate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/store"
)

// A Process is the mean process of a version in a span of time: what all of them sent.
type Process struct {
	Parts   []Part
	Alive   float64 // processes on average, over the span
	Seen    int     // processes
	Missing store.Missing

	from  time.Time
	lived time.Duration // all of them together
}

// A Part is one profile, as a member of a recording.
type Part struct {
	Member  string
	Profile *profile.Profile
}

// kinds are the parts that there can be, with their columns. A part is there when its
// needed column is.
var kinds = []struct {
	member  string
	period  profile.ValueType
	columns []store.Type
	needed  int
	shown   string // the column that a viewer opens with
}{
	{recording.CPUMember, profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, []store.Type{cpuSamples, store.CPU}, 1, ""},
	{recording.AllocsMember, profile.ValueType{Type: "space", Unit: "bytes"}, []store.Type{store.AllocObjects, store.AllocSpace}, 1, "alloc_space"},
	{recording.MutexMember, contentions, []store.Type{store.MutexCount, store.MutexDelay}, 1, ""},
	{recording.BlockMember, contentions, []store.Type{store.BlockCount, store.BlockDelay}, 1, ""},
}

var contentions = profile.ValueType{Type: "contentions", Unit: "count"}

const (
	cpuSamples store.Type = "process_cpu:samples:count:cpu:nanoseconds"
	// period is the runtime's, of CPU profiles that came without their counts.
	period = 10 * time.Millisecond
)

// Of merges what the processes of a selection sent; its type does not matter. There are no
// parts where they sent nothing.
func Of(ctx context.Context, r store.Reader, s store.Selection) (*Process, error) {
	all, err := r.Instances(ctx, s)
	if err != nil {
		return nil, err
	}
	mean := &Process{Seen: len(all.Instances), Missing: all.Missing, from: s.From}
	var covered time.Duration
	sent := map[store.Type]bool{}
	for _, p := range all.Instances {
		covered += p.Covered
		mean.lived += p.Last.Sub(p.First)
		for _, t := range p.Totals {
			sent[t.Type] = true
		}
	}
	if span := s.Until.Sub(s.From); span > 0 {
		mean.Alive = min(float64(mean.lived)/float64(span), float64(mean.Seen))
	}
	for _, k := range kinds {
		if !sent[k.columns[k.needed]] {
			continue
		}
		m := merger{rows: map[store.StackID][]int64{}, frames: map[store.StackID][]*store.Frame{}, columns: len(k.columns)}
		for i, t := range k.columns {
			if !sent[t] {
				continue
			}
			s.Type = t
			stacks, err := r.Stacks(ctx, s)
			if err != nil {
				return nil, err
			}
			m.add(i, &stacks)
			mean.Missing = append(mean.Missing, stacks.Missing...)
		}
		d := mean.lived // counters run all the time
		if k.member == recording.CPUMember {
			d = covered
			if !sent[cpuSamples] {
				m.count(0, 1, int64(period))
			}
		}
		p := m.profile()
		for _, t := range k.columns {
			p.SampleType = append(p.SampleType, ValueType(t))
		}
		p.PeriodType, p.DefaultSampleType = &k.period, k.shown
		p.TimeNanos, p.DurationNanos = s.From.UnixNano(), int64(d)
		mean.Parts = append(mean.Parts, Part{k.member, p})
	}
	return mean, nil
}

// Recording writes all parts as one recording of gowhy.
func (mean *Process) Recording(w io.Writer) error {
	m := recording.Manifest{Schema: recording.Schema, Start: mean.from, End: mean.from.Add(mean.lived)}
	for _, p := range mean.Parts {
		m.Asked = append(m.Asked, p.Member)
	}
	out := recording.NewStream(w)
	if err := out.Start(m); err != nil {
		return err
	}
	for _, p := range mean.Parts {
		var packed bytes.Buffer
		if err := p.Profile.Write(&packed); err != nil {
			return fmt.Errorf("pack %s: %w", p.Member, err)
		}
		if err := out.Add(p.Member, packed.Bytes()); err != nil {
			return err
		}
	}
	return out.Finish(m)
}

// Open returns the recording of all parts, in memory.
func (mean *Process) Open() (*recording.Recording, error) {
	var b bytes.Buffer
	if err := mean.Recording(&b); err != nil {
		return nil, err
	}
	return recording.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
}

// Profile returns the answer of a store for one type, as go tool pprof reads it.
func Profile(s store.Selection, stacks store.Stacks) *profile.Profile {
	m := merger{rows: map[store.StackID][]int64{}, frames: map[store.StackID][]*store.Frame{}, columns: 1}
	m.add(0, &stacks)
	p := m.profile()
	parts := strings.Split(string(s.Type), ":")
	p.SampleType = []*profile.ValueType{ValueType(s.Type)}
	p.PeriodType = &profile.ValueType{Type: parts[3], Unit: parts[4]}
	p.TimeNanos, p.DurationNanos = s.From.UnixNano(), int64(s.Until.Sub(s.From))
	return p
}

// ValueType returns the column of a type of five parts.
func ValueType(t store.Type) *profile.ValueType {
	parts := strings.Split(string(t), ":")
	return &profile.ValueType{Type: parts[1], Unit: parts[2]}
}
