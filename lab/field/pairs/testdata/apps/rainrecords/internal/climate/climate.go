// Package climate sums rain up by hour and finds the heaviest spells.
package climate

import (
	"hash/fnv"

	"rainrecords/internal/station"
)

type key struct{ st, hour int }

// Table holds the sums.
type Table struct {
	hours map[key]int
	spell [60]int
	max   int
	sum   uint64
}

// New returns an empty table.
func New() *Table { return &Table{hours: map[key]int{}} }

// Add counts a reading in.
func (t *Table) Add(r station.Reading) {
	if r.Flags&0x80 != 0 {
		return
	}
	t.hours[key{r.Station, r.Minute / 60}] += r.Micro
	t.spell[r.Minute%60] = r.Micro
	run := 0
	for _, v := range t.spell {
		run = max(0, run+v-450)
		t.max = max(t.max, run)
	}
	h := fnv.New64a()
	h.Write([]byte{byte(r.Station), byte(r.Minute), byte(r.Minute >> 8), byte(r.Micro), byte(r.Micro >> 8)})
	t.sum ^= h.Sum64()
}

// Heaviest returns the heaviest spell and the number of hours with rain.
func (t *Table) Heaviest() (micro, hours int) { return t.max, len(t.hours) }
