package artifact

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/stacks"
	"github.com/gowhy/gowhy/internal/know/model"
)

// JoinLogs writes logs of one program, the earlier ones first, as one: the header
// of the first, and the lines of all. The headers must be equal, for lines do not
// repeat what they say.
func JoinLogs(w io.Writer, logs ...io.Reader) error {
	var head []byte
	for _, log := range logs {
		r := bufio.NewReader(log)
		line, err := r.ReadBytes('\n')
		switch {
		case err != nil:
			return fmt.Errorf("a log without lines: %w", err)
		case head == nil:
			head = line
			if _, err := w.Write(line); err != nil {
				return err
			}
		case !bytes.Equal(head, line):
			return errors.New("the logs do not have the same header")
		}
		if _, err := io.Copy(w, r); err != nil {
			return err
		}
	}
	return nil
}

// JoinKernel joins profiles of the kernel's samples, or of switches, of one program.
// Samples stay apart and in their order, so that the times beside them can be
// joined too: those of the second profile begin where those of the first end.
func JoinKernel(list []*profile.Profile) *profile.Profile {
	first, last := list[0], list[len(list)-1]
	p := &profile.Profile{
		SampleType: first.SampleType, PeriodType: first.PeriodType, Period: first.Period, DefaultSampleType: first.DefaultSampleType,
		TimeNanos: first.TimeNanos, DurationNanos: last.TimeNanos + last.DurationNanos - first.TimeNanos,
		Comments: []string{firstComment(first)},
	}
	w := stacks.NewWriter(p)
	var lost int64
	var watched time.Duration
	for _, one := range list {
		addSamples(w, one)
		lost += LostSamples(one.Comments)
		share := WatchedShare(one.Comments)
		if share == 0 {
			share = 1
		}
		watched += time.Duration(share * float64(one.DurationNanos))
		if UserOnly(one) && !UserOnly(p) {
			p.Comments = append(p.Comments, userOnlyComment)
		}
	}
	if lost > 0 {
		p.Comments = append(p.Comments, fmt.Sprintf(lostComment, lost))
	}
	if share := watched.Seconds() / time.Duration(p.DurationNanos).Seconds(); first.Comments[0] == offCPUComment && share > 0 && share < 1 {
		p.Comments = append(p.Comments, fmt.Sprintf(watchedComment, share))
	}
	return p
}

// addSamples adds the samples of a profile of ours, whose locations have one line at most.
func addSamples(w *stacks.Writer, p *profile.Profile) {
	locations := make(map[*profile.Location]*profile.Location, len(p.Location))
	for _, l := range p.Location {
		f := stacks.Frame{PC: l.Address}
		if len(l.Line) > 0 {
			f.Func, f.File, f.Line = l.Line[0].Function.Name, l.Line[0].Function.Filename, int(l.Line[0].Line)
		}
		locations[l] = w.Location(f)
	}
	for _, s := range p.Sample {
		n := &profile.Sample{Value: s.Value, Label: s.Label, NumLabel: s.NumLabel, NumUnit: s.NumUnit}
		for _, l := range s.Location {
			n.Location = append(n.Location, locations[l])
		}
		w.Profile.Sample = append(w.Profile.Sample, n)
	}
}

// JoinTimes writes when the samples of profiles that [JoinKernel] joins were taken,
// by the clock of the first.
func JoinTimes(w io.Writer, list []*SampleTimes) error {
	head := list[0].Head
	var all []model.KernelMoment
	stacks, lost := 0, int64(0)
	for _, t := range list {
		for _, m := range t.List {
			m.Sample += int32(stacks)
			all = append(all, m)
		}
		stacks, lost = stacks+t.Head.Stacks, lost+t.Head.Lost
	}
	head.Stacks, head.Lost = stacks, lost
	slices.SortStableFunc(all, func(a, b model.KernelMoment) int { return int(a.At - b.At) })
	return writeTimes(w, head, all)
}

// JoinSyscalls joins logs of system calls. Calls between two logs were not
// counted; the sums are scaled for that, as those of slices are.
func JoinSyscalls(logs ...io.Reader) ([]byte, error) {
	all := SyscallFile{Header: Header{syscallsKind, syscallsSchema}}
	at := map[string]int{}
	var counted, between time.Duration
	for i, log := range logs {
		_, f, err := ParseSyscalls(log)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all.Begin = f.Begin
		}
		share := f.Share
		if share == 0 {
			share = 1
		}
		d := f.End.Sub(f.Begin)
		counted, between = counted+time.Duration(share*float64(d)), between+d
		all.End, all.Lost = f.End, all.Lost+f.Lost
		for _, c := range f.Calls {
			n, known := at[c.Name]
			if !known {
				n = len(all.Calls)
				at[c.Name] = n
				all.Calls = append(all.Calls, syscallLine{Name: c.Name})
			}
			all.Calls[n].add(c)
		}
	}
	window := all.End.Sub(all.Begin)
	if window <= 0 || between <= 0 {
		return nil, errors.New("the logs cover no time")
	}
	if share := counted.Seconds() / window.Seconds(); share < 1 {
		all.Share = share
	}
	for i := range all.Calls {
		all.Calls[i].scale(max(1, window.Seconds()/between.Seconds()))
	}
	slices.SortStableFunc(all.Calls, func(a, b syscallLine) int { return int(b.Count - a.Count) })
	return json.MarshalIndent(all, "", " ")
}

func (l *syscallLine) add(m syscallLine) {
	l.Count, l.Time, l.Bytes = l.Count+m.Count, l.Time+m.Time, l.Bytes+m.Bytes
	if len(m.Errors) > 0 {
		l.Errors = maps.Clone(l.Errors)
		if l.Errors == nil {
			l.Errors = map[string]int64{}
		}
		for e, n := range m.Errors {
			l.Errors[e] += n
		}
	}
}

func (l *syscallLine) scale(by float64) {
	scaled := func(n int64) int64 { return int64(float64(n)*by + 0.5) }
	l.Count, l.Time, l.Bytes = scaled(l.Count), scaled(l.Time), scaled(l.Bytes)
	for e, n := range l.Errors {
		l.Errors[e] = scaled(n)
	}
}
