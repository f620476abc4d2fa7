package otlp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/profiles/wire"
	"github.com/gowhy/gowhy/fleet/store"
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

	who []attribute // of the sample that is read
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

// A point is what one Sample has.
type point struct {
	stack              int32
	sum                int64
	negative           bool // one of its values is
	values, timestamps int
}

// sample reads a Sample.
func (s *sums) sample(data []byte) error {
	s.samples++
	if err := s.limits.Entry("samples", s.samples); err != nil {
		return wrong(err)
	}
	s.who, s.key = s.who[:0], s.key[:0]
	var p point
	if err := wire.Each(data, func(f wire.Field) error { return s.field(&p, f) }); err != nil {
		return err
	}
	switch {
	case p.values == 0 && p.timestamps == 0:
		return errors.New("a sample has neither values nor timestamps")
	case p.values == 0:
		p.sum = int64(p.timestamps)
	case p.timestamps != 0 && p.timestamps != p.values:
		return fmt.Errorf("a sample has %d values of %d timestamps", p.values, p.timestamps)
	}
	value, ok := product(p.sum, s.times)
	if p.negative {
		return errors.New("a sample has a value below 0: what is measured is 0 or more")
	}
	if !ok {
		return fmt.Errorf("a value of %d times %d is out of range", p.sum, s.times)
	}
	stack, err := s.stackTable.at(p.stack)
	if err != nil {
		return err
	}
	of, err := s.process()
	if err == nil {
		of.values[stack] = store.Add(of.values[stack], value)
	}
	return err
}

func (s *sums) field(p *point, f wire.Field) error {
	switch f.Number {
	case 1:
		if f.Kind == protowire.VarintType {
			p.stack = index(f.Value)
		}
	case 2:
		return f.Varints(func(v uint64) error { return s.attribute(index(v)) })
	case 4:
		return f.Varints(func(v uint64) error {
			p.sum, p.negative = store.Add(p.sum, int64(v)), p.negative || int64(v) < 0
			p.values++
			return nil
		})
	case 5:
		return f.Fixed64s(func(v uint64) error {
			s.first, s.last = min(s.first, v), max(s.last, v)
			p.timestamps++
			return nil
		})
	}
	return nil
}

// attribute notes one of a sample's that says which process it is of. Others, like its
// thread, do not tell anything apart here.
func (s *sums) attribute(index int32) error {
	a, err := s.attributes.at(index)
	if err != nil || a.text == "" || !whose[a.name] {
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

// batches are one for each process, without type and time.
func (s *sums) batches() (all []*store.Batch) {
	for _, p := range s.order {
		samples := profiles.SamplesOf(p.values)
		if len(samples) == 0 {
			continue
		}
		all = append(all, &store.Batch{Source: p.source, Profiles: []store.Profile{{Samples: samples}}, Stacks: s.stacks.Of(samples)})
	}
	return all
}
