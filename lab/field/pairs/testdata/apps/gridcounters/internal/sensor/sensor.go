// Package sensor has reports.
package sensor

// A Kind is what is reported.
type Kind uint8

// The kinds of reports.
const (
	Voltage Kind = iota
	Load
	Alarm
)

// A Feed gives reports.
type Feed struct{ state uint32 }

// NewFeed makes a feed that depends on a seed.
func NewFeed(seed uint32) *Feed { return &Feed{seed * 2654435761} }

// Next is the kind of the next report.
func (f *Feed) Next() Kind {
	f.state = f.state*1664525 + 1013904223
	switch top := f.state >> 28; {
	case top == 0:
		return Alarm
	case top < 8:
		return Load
	}
	return Voltage
}
