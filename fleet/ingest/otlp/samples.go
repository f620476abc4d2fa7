package otlp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/read/opentelemetry"
)

// sums adds up the samples of a profile by process and stack.
type sums struct {
	*decoder
	of          attributes // of the resource
	times       int64      // what values are multiplied by
	first, last uint64     // of all timestamps; last is 0 without any
	// Processes are by the attributes that samples have of them, as they are written, and
	// by source: samples can write the same in several ways.
	written map[string]*process
	all     map[string]*process
	order   []*process

	who []opentelemetry.Attribute // of the sample that is read
	key []byte
}

// A process is what has samples in a profile.
type process struct {
	source store.Source
	values map[store.StackID]int64
}

func newSums(d *decoder, of attributes, times int64) *sums {
	return &sums{decoder: d, of: of, times: times, first: math.MaxUint64, written: map[string]*process{}, all: map[string]*process{}}
}

// sample reads a Sample.
func (s *sums) sample(data []byte) error {
	s.samples++
	if err := s.limits.Entry("samples", s.samples); err != nil {
		return wrong(err)
	}
	s.who, s.key = s.who[:0], s.key[:0]
	p, err := opentelemetry.ReadSample(data, s.attribute)
	if err != nil {
		return err
	}
	s.first, s.last = min(s.first, p.First), max(s.last, p.Last)
	switch {
	case p.Values == 0 && p.Timestamps == 0:
		return errors.New("a sample has neither values nor timestamps")
	case p.Values > 0 && p.Timestamps != 0 && p.Timestamps != p.Values:
		return fmt.Errorf("a sample has %d values of %d timestamps", p.Values, p.Timestamps)
	case p.Negative:
		return errors.New("a sample has a value below 0: what is measured is 0 or more")
	}
	value, ok := product(p.Sum, s.times)
	if !ok {
		return fmt.Errorf("a value of %d times %d is out of range", p.Sum, s.times)
	}
	stack, err := s.Stack(p.Stack)
	if err != nil {
		return err
	}
	of, err := s.process()
	if err == nil {
		of.values[stack] = store.Add(of.values[stack], value)
	}
	return err
}

// attribute notes one of a sample's that says which process it is of. Others, like its
// thread, do not tell anything apart here.
func (s *sums) attribute(index int32) error {
	a, err := s.Attribute(index)
	if err != nil || a.Text == "" || !whose[a.Name] {
		return err
	}
	if len(s.who) == len(whose) {
		return errors.New("a sample has an attribute twice")
	}
	s.who = append(s.who, a)
	s.key = binary.LittleEndian.AppendUint32(s.key, uint32(index))
	return nil
}

// process returns the process whose sample is read.
func (s *sums) process() (*process, error) {
	if p := s.written[string(s.key)]; p != nil {
		return p, nil
	}
	source, err := sourceOf(s.tenant, s.of, s.who)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%q", source)
	p := s.all[name]
	if p == nil {
		if len(s.all) == mostBatches {
			return nil, fmt.Errorf("%w: samples of more than %d processes", profiles.ErrLong, mostBatches)
		}
		p = &process{source: source, values: map[store.StackID]int64{}}
		s.all[name] = p
		s.order = append(s.order, p)
	}
	s.written[string(s.key)] = p
	return p, nil
}

// batches returns one for each process, without type and time.
func (s *sums) batches() (all []*store.Batch) {
	for _, p := range s.order {
		samples := profiles.SamplesOf(p.values)
		if len(samples) == 0 {
			continue
		}
		all = append(all, &store.Batch{Source: p.source, Profiles: []store.Profile{{Samples: samples}}, Stacks: s.stacks.Lookup(samples)})
	}
	return all
}
