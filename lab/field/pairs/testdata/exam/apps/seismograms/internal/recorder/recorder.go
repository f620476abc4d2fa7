// Package recorder fills blocks with samples, and judges those that are full.
package recorder

import (
	"fmt"

	"seismograms/internal/archive"
	"seismograms/internal/block"
	"seismograms/internal/station"
)

// A Release is after what a block is given back.
type Release int

// The releases.
const (
	Archived Release = iota
	Sealed
)

// ParseRelease reads one by its name.
func ParseRelease(name string) (Release, error) {
	switch name {
	case "archived":
		return Archived, nil
	case "sealed":
		return Sealed, nil
	}
	return 0, fmt.Errorf("nothing is released after %q", name)
}

// A Config is how to record.
type Config struct {
	Stations int
	Level    int32 // what is archived reaches it
	Release  Release
}

// A Recorder records.
type Recorder struct {
	config Config
	store  *archive.Store
	open   []*block.Block // of each station
}

// New makes a recorder.
func New(c Config, store *archive.Store) *Recorder {
	return &Recorder{config: c, store: store, open: make([]*block.Block, c.Stations)}
}

// Record takes a packet.
func (r *Recorder) Record(p station.Packet) error {
	for len(p.Samples) > 0 {
		b := r.open[p.Station]
		if b == nil {
			var err error
			if b, err = block.New(p.Station, p.First); err != nil {
				return err
			}
			r.open[p.Station] = b
		}
		n := b.Append(p.Samples)
		p.Samples, p.First = p.Samples[n:], p.First+int64(n)
		if b.Full() {
			r.open[p.Station] = nil
			if err := r.seal(b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Recorder) seal(b *block.Block) error {
	quiet := amplitude(b.Samples()) < r.config.Level
	if !quiet {
		r.store.Add(b.Station, b.Start, b.Samples())
	}
	if r.config.Release == Archived && quiet {
		return nil
	}
	return b.Release()
}

func amplitude(samples []int32) int32 {
	low, high := samples[0], samples[0]
	for _, v := range samples {
		low, high = min(low, v), max(high, v)
	}
	return (high - low) / 2
}
