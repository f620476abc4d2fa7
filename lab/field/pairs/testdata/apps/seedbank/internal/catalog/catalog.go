// Package catalog finds accessions in the segments of a seed bank.
package catalog

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"seedbank/internal/accession"
	"seedbank/internal/segment"
)

// Catalog is a list of segments, newest first.
type Catalog struct {
	segs []*segment.Segment
}

// Build writes one segment for each station into dir.
func Build(dir string, stations, each int) error {
	rnd := rand.New(rand.NewPCG(7, 11))
	for st := range stations {
		recs := make([]segment.Record, 0, each)
		for n := range each {
			a := accession.Sample(st, n, rnd)
			b, err := json.Marshal(a)
			if err != nil {
				return err
			}
			recs = append(recs, segment.Record{Key: accession.Key(a.ID), Data: b})
		}
		if err := segment.Write(name(dir, st), recs); err != nil {
			return err
		}
	}
	return nil
}

func name(dir string, st int) string { return filepath.Join(dir, fmt.Sprintf("station-%02d.seg", st)) }

// Open opens the segments of dir.
func Open(dir string, stations int, resident bool) (*Catalog, error) {
	c := &Catalog{}
	for st := stations - 1; st >= 0; st-- {
		s, err := segment.Open(name(dir, st), resident)
		if err != nil {
			return nil, err
		}
		c.segs = append(c.segs, s)
	}
	return c, nil
}

// Find looks for an accession by its identifier.
func (c *Catalog) Find(id string) (accession.Accession, bool, error) {
	key := accession.Key(id)
	for _, s := range c.segs {
		data, ok, err := s.Get(key)
		if err != nil {
			return accession.Accession{}, false, err
		}
		if ok {
			var a accession.Accession
			err := json.Unmarshal(data, &a)
			return a, err == nil, err
		}
	}
	return accession.Accession{}, false, nil
}

// Close closes all segments.
func (c *Catalog) Close() {
	for _, s := range c.segs {
		s.Close()
	}
}
