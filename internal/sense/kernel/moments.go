package kernel

import (
	"cmp"
	"slices"
	"time"
)

// maxMoments bounds how many samples keep their time: 16 MB while they are
// collected. At 199 samples a second that is an hour and a half of one busy
// CPU, and 82 seconds of 64.
const maxMoments = 1 << 20

// moments are the samples of one sampler, one by one, in the order in which
// they were read: by CPU in portions.
type moments struct {
	list []moment
	lost int64 // that came when there were maxMoments
}

// A moment is a sample of 16 bytes: the thread and its stack are the cell's.
type moment struct {
	time uint64 // ns of CLOCK_MONOTONIC
	cell uint32 // index in the chainTable's list
	cpu  uint16
}

func (m *moments) add(at moment) {
	if len(m.list) >= maxMoments {
		m.lost++
		return
	}
	m.list = append(m.list, at)
}

// ordered are moments as a [Result] has them. sample tells where in Result.CPU
// a cell's samples are.
func (m *moments) ordered(cells []*cell, sample map[*cell]int) []Moment {
	all := make([]Moment, 0, len(m.list))
	for _, x := range m.list {
		c := cells[x.cell]
		all = append(all, Moment{Time: time.Duration(x.time), Thread: int(c.tid), CPU: int(x.cpu), Sample: sample[c]})
	}
	slices.SortFunc(all, func(a, b Moment) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.Thread, b.Thread))
	})
	return all
}
