// Package daily packs what was observed.
package daily

import (
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"math"

	"buoyreports/internal/quality"
	"buoyreports/internal/report"
)

type key struct{ buoy, day int }

// Mean is the observations of a day.
type Mean struct {
	N           int
	Wind, Wave  float64
	Gust, Crest float64
}

// Archive packs observations and keeps the means of days.
type Archive struct {
	zip   *flate.Writer
	sum   hash.Hash
	row   []byte
	days  map[key]*Mean
	Bytes int64
}

// NewArchive returns an archive.
func NewArchive() (*Archive, error) {
	a := &Archive{sum: sha256.New(), days: map[key]*Mean{}}
	var err error
	a.zip, err = flate.NewWriter(io.MultiWriter(a.sum, counter{&a.Bytes}), 7)
	return a, err
}

type counter struct{ n *int64 }

func (c counter) Write(b []byte) (int, error) {
	*c.n += int64(len(b))
	return len(b), nil
}

// Add puts an observation in.
func (a *Archive) Add(o report.Report, f quality.Flags) error {
	b := binary.LittleEndian.AppendUint32(a.row[:0], uint32(o.Buoy))
	b = binary.AppendVarint(b, o.At.Unix())
	b = append(b, byte(f))
	for _, v := range [...]float64{o.Lat, o.Lon, o.Wind, o.Gust, o.Wave, o.Period, o.Pressure, o.Water} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	a.row = b
	if _, err := a.zip.Write(b); err != nil {
		return err
	}
	if f&(quality.Range|quality.Jump) != 0 {
		return nil
	}
	k := key{o.Buoy, o.At.YearDay()}
	m := a.days[k]
	if m == nil {
		m = new(Mean)
		a.days[k] = m
	}
	m.N++
	m.Wind += (o.Wind - m.Wind) / float64(m.N)
	m.Wave += (o.Wave - m.Wave) / float64(m.N)
	m.Gust, m.Crest = max(m.Gust, o.Gust), max(m.Crest, o.Wave)
	return nil
}

// Close ends the archive and returns its digest and the number of days.
func (a *Archive) Close() ([]byte, int, error) {
	err := a.zip.Close()
	return a.sum.Sum(nil), len(a.days), err
}
