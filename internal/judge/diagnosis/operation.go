package diagnosis

import (
	"slices"

	"github.com/gowhy/gowhy/internal/know/model"
)

// An Operation is what one operation of the benchmark costs that was recorded: for a
// benchmark that is the account to read, for nothing else is done.
type Operation struct {
	Benchmark string          `json:"benchmark"`
	CPUNS     float64         `json:"cpu_ns"`
	Objects   float64         `json:"objects"` // allocated, as the benchmark counts or else the allocs profile
	Bytes     float64         `json:"bytes"`
	Lines     []OperationLine `json:"lines"`
}

// An OperationLine is the part of one line of the program or of its libraries.
type OperationLine struct {
	Where Place `json:"where"`
	// CPUNS is that of the line and of what it calls of the standard library, CumNS that of
	// all it calls: removing the line saves no more. Objects and Bytes are as CPUNS, of the
	// allocs profile, to which several objects of a few bytes can be one.
	CPUNS   float64 `json:"cpu_ns"`
	CumNS   float64 `json:"cum_ns"`
	Objects float64 `json:"objects"`
	Bytes   float64 `json:"bytes"`
}

// operationLines is how many lines a diagnosis keeps; the ledger has all of them.
const operationLines = 5

// operationOf returns nil unless the program was one benchmark and tells what it did.
func operationOf(m *model.Model) *Operation {
	cpu := float64(m.CPUPerOperation())
	if m.Load == nil || len(m.Load.Benchmarks) == 0 || cpu <= 0 {
		return nil
	}
	list, all := m.Lines()
	if all.CPU <= 0 {
		return nil
	}
	part := func(c *model.LineCost) OperationLine {
		return OperationLine{
			Place{c.Line.Func, c.Line.File, c.Line.Line},
			cpu * ratio(c.CPU.Seconds(), all.CPU.Seconds()), cpu * ratio(c.Cum.Seconds(), all.CPU.Seconds()),
			m.OperationShare(c.Objects), m.OperationShare(c.Bytes),
		}
	}
	o := &Operation{Benchmark: m.Load.Benchmarks[0].Name, CPUNS: cpu, Lines: []OperationLine{}}
	for _, b := range m.Load.Benchmarks { // rounds of the same
		o.Objects += b.Values["allocs/op"] / float64(len(m.Load.Benchmarks))
		o.Bytes += b.Values["B/op"] / float64(len(m.Load.Benchmarks))
	}
	if o.Objects == 0 {
		o.Objects, o.Bytes = m.OperationShare(all.Objects), m.OperationShare(all.Bytes)
	}
	list = slices.DeleteFunc(list, func(c model.LineCost) bool { return ratio(c.CPU.Seconds(), all.CPU.Seconds()) < minOperationLine })
	for i := range list[:min(len(list), operationLines)] {
		o.Lines = append(o.Lines, part(&list[i]))
	}
	return o
}

// minOperationLine is the part of an operation below which a line is not worth a line.
const minOperationLine = 0.02
