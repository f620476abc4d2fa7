package artifact

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/kernel"
)

// When the kernel took its samples: a header, and then lines of columns, each of
// timesInLine samples at most. The samples' stacks are those of the profile that
// is recorded beside it, by index; without that profile the times say nothing.
const (
	TimesKind   = "gowhy kernel sample times"
	timesSchema = 1

	timesInLine  = 4096
	maxTimesLine = 1 << 20
	maxTimes     = 1 << 20 // as many as are recorded
	// The largest numbers that Linux gives to threads and CPUs.
	maxThreadID = 1 << 22
	maxCPUID    = 1 << 13
)

// A TimesHeader is the first line.
type TimesHeader struct {
	Header
	// Clock ties the times, which are of CLOCK_MONOTONIC, to the wall.
	Clock  recording.Anchor `json:"clock"`
	Stacks int              `json:"stacks"`         // samples of the profile
	Lost   int64            `json:"lost,omitempty"` // samples without a time, for there were too many
}

// A timesLine has the columns of some samples.
type timesLine struct {
	Times   []int64 `json:"t"` // ns since the sample before; of the first one since 0
	Threads []int32 `json:"tid"`
	CPUs    []int32 `json:"cpu"`
	Samples []int32 `json:"s"` // index in the profile
}

// WriteTimes writes when samples were taken.
func WriteTimes(w io.Writer, res *kernel.Result, clock recording.Anchor) error {
	head := TimesHeader{Header: Header{TimesKind, timesSchema}, Clock: clock, Stacks: len(res.CPU), Lost: res.MomentsLost}
	list := make([]model.KernelMoment, len(res.Moments))
	for i, m := range res.Moments {
		list[i] = model.KernelMoment{At: m.Time, Thread: int32(m.Thread), CPU: int32(m.CPU), Sample: int32(m.Sample)}
	}
	return writeTimes(w, head, list)
}

func writeTimes(w io.Writer, head TimesHeader, list []model.KernelMoment) error {
	e := json.NewEncoder(w)
	err := e.Encode(head)
	before := time.Duration(0)
	for some := range slices.Chunk(list, timesInLine) {
		var l timesLine
		for _, m := range some {
			l.Times = append(l.Times, int64(m.At-before))
			l.Threads, l.CPUs, l.Samples = append(l.Threads, m.Thread), append(l.CPUs, m.CPU), append(l.Samples, m.Sample)
			before = m.At
		}
		err = errors.Join(err, e.Encode(l))
	}
	return err
}

// SampleTimes are what such a file says.
type SampleTimes struct {
	Head TimesHeader
	List []model.KernelMoment // At is of CLOCK_MONOTONIC
}

// ParseTimes returns the lines before the first that cannot be read.
func ParseTimes(r io.Reader) (*SampleTimes, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTimesLine)
	if !lines.Scan() {
		return nil, lines.Err()
	}
	t := &SampleTimes{}
	if err := json.Unmarshal(lines.Bytes(), &t.Head); err != nil {
		return nil, err
	}
	if h := t.Head; h.Kind != TimesKind || h.Schema > timesSchema {
		return nil, fmt.Errorf("written by a newer gowhy (schema %d)", h.Schema)
	}
	if at := t.Head.Clock.Monotonic; at < 0 || at > 1<<62 {
		return nil, errors.New("its clock makes no sense")
	}
	for lines.Scan() {
		var line timesLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return t, err
		}
		if err := t.add(line); err != nil {
			return t, err
		}
	}
	return t, lines.Err()
}

// add adds a line, all of it or nothing.
func (t *SampleTimes) add(l timesLine) error {
	n := len(l.Times)
	switch {
	case n == 0 || len(l.Threads) != n || len(l.CPUs) != n || len(l.Samples) != n:
		return errors.New("its columns are not of one length")
	case len(t.List)+n > maxTimes:
		return errors.New("there are too many")
	}
	var at time.Duration
	if len(t.List) > 0 {
		at = t.List[len(t.List)-1].At
	}
	some := make([]model.KernelMoment, 0, n)
	for i, by := range l.Times {
		m := model.KernelMoment{Thread: l.Threads[i], CPU: l.CPUs[i], Sample: l.Samples[i]}
		switch {
		case by < 0 || by > 1<<62-int64(at):
			return errors.New("its time goes backwards, or beyond all clocks")
		case m.Thread < model.EndedThread || m.Thread > maxThreadID || m.CPU < 0 || m.CPU >= maxCPUID || m.Sample < 0 || int(m.Sample) >= t.Head.Stacks:
			return fmt.Errorf("a sample of thread %d, CPU %d and stack %d cannot be", m.Thread, m.CPU, m.Sample)
		}
		at += time.Duration(by)
		m.At = at
		some = append(some, m)
	}
	t.List = append(t.List, some...)
	return nil
}

// Fits reports whether the times can be of a profile's samples.
func (t *SampleTimes) Fits(p *model.Profile) error {
	if t.Head.Stacks != len(p.Samples) {
		return fmt.Errorf("it is of a profile with %d stacks, and the one here has %d", t.Head.Stacks, len(p.Samples))
	}
	count, _ := p.Columns()
	left := make([]int64, len(p.Samples))
	for i := range left {
		if count >= 0 {
			left[i] = p.Samples[i].Values[count]
		}
	}
	for _, m := range t.List {
		if left[m.Sample]--; left[m.Sample] < 0 {
			return fmt.Errorf("it has more samples of a stack than the profile")
		}
	}
	return nil
}
