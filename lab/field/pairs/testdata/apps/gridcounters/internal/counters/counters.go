// Package counters counts reports of stations.
package counters

import (
	"sync/atomic"

	"gridcounters/internal/sensor"
)

type row struct{ kinds [3]atomic.Int64 }

// A Table has counters for each station.
type Table struct {
	rows   []row
	stride int
}

// NewTable makes one.
func NewTable(stations int, apart bool) *Table {
	t := &Table{stride: 1}
	if apart {
		t.stride = 8
	}
	t.rows = make([]row, stations*t.stride)
	return t
}

// Count counts one report of a station.
func (t *Table) Count(station int, k sensor.Kind) {
	t.rows[station*t.stride].kinds[k].Add(1)
}

// Sum is how many reports of a kind there were.
func (t *Table) Sum(k sensor.Kind) (n int64) {
	for i := range t.rows {
		n += t.rows[i].kinds[k].Load()
	}
	return n
}

// All is how many there were.
func (t *Table) All() int64 {
	return t.Sum(sensor.Voltage) + t.Sum(sensor.Load) + t.Sum(sensor.Alarm)
}
