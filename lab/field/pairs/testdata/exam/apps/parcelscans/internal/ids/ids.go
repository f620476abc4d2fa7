// Package ids makes identifiers that are unique and grow with time: 41 bits of milliseconds,
// 10 of the machine and 12 of a number within the millisecond.
package ids

// Epoch is the millisecond that identifiers count from.
const Epoch = 1704067200000

// A Maker makes the identifiers of a machine.
type Maker struct {
	machine uint64
	last    int64
	number  uint64
}

// NewMaker returns the maker of a machine.
func NewMaker(machine int) *Maker { return &Maker{machine: uint64(machine) & 0x3ff} }

// Next returns an identifier of a millisecond.
func (m *Maker) Next(ms int64) uint64 {
	if ms > m.last {
		m.last, m.number = ms, 0
	} else {
		m.number++
	}
	return uint64(m.last-Epoch)<<22 | m.machine<<12 | m.number&0xfff
}
