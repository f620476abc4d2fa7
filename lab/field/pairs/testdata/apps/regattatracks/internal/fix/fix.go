// Package fix has the position reports of the boats.
package fix

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
)

// Size is the length of an encoded report.
const Size = 44

// ID names a report; trackers send each report several times.
type ID [16]byte

// Report is a position.
type Report struct {
	ID       ID
	Boat     uint32
	Lat, Lon float64
}

var errReport = errors.New("fix: bad report")

// Append encodes a report.
func (r Report) Append(b []byte) []byte {
	start := len(b)
	b = append(b, r.ID[:]...)
	b = binary.BigEndian.AppendUint32(b, r.Boat)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(r.Lat))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(r.Lon))
	b = binary.BigEndian.AppendUint32(b, uint32(len(b)-start))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}

// Parse decodes a report.
func Parse(b []byte) (Report, error) {
	var r Report
	if len(b) != Size || crc32.ChecksumIEEE(b[:Size-4]) != binary.BigEndian.Uint32(b[Size-4:]) {
		return r, errReport
	}
	copy(r.ID[:], b)
	r.Boat = binary.BigEndian.Uint32(b[16:])
	r.Lat = math.Float64frombits(binary.BigEndian.Uint64(b[20:]))
	r.Lon = math.Float64frombits(binary.BigEndian.Uint64(b[28:]))
	return r, nil
}

// Tracker makes the reports of a fleet.
type Tracker struct {
	rand *rand.Rand
	last Report
	sent int
}

// NewTracker makes a tracker.
func NewTracker(seed uint64) *Tracker {
	return &Tracker{rand: rand.New(rand.NewPCG(seed, 77))}
}

// Append adds the next report to b; every third repeats the one before.
func (t *Tracker) Append(b []byte) []byte {
	t.sent++
	if t.sent%3 != 0 {
		t.last = Report{Boat: t.rand.Uint32N(120), Lat: 54 + t.rand.Float64(), Lon: 10 + t.rand.Float64()}
		binary.BigEndian.PutUint64(t.last.ID[:], t.rand.Uint64())
		binary.BigEndian.PutUint64(t.last.ID[8:], uint64(t.sent))
	}
	return t.last.Append(b)
}
