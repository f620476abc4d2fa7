package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/pprof/profile"
	"github.com/gowhy/gowhy/fleet/store"
)

// measurePprof merges an hour of the CPU profiles of ten processes with google/pprof, each
// a file as net/http/pprof writes it, and asks the store for the same.
func measurePprof(ctx context.Context, dir string) ([]Figure, error) {
	plan := services(1, 10, time.Hour)
	f, err := fill(ctx, dir, plan, few)
	if err != nil {
		return nil, err
	}
	var paths []string
	size, rows := int64(0), 0
	for b := range plan.Batches() {
		var out bytes.Buffer
		p := toPprof(b)
		rows += len(p.Sample)
		if err := p.Write(&out); err != nil {
			return nil, err
		}
		size += int64(out.Len())
		paths = append(paths, filepath.Join(dir, fmt.Sprint(len(paths), ".pb.gz")))
		if err := os.WriteFile(paths[len(paths)-1], out.Bytes(), 0o600); err != nil {
			return nil, err
		}
	}
	theirs, merged, err := timed(func() (int64, error) { return mergeFiles(paths) })
	if err != nil {
		return nil, err
	}
	ours, total, err := timed(func() (int64, error) {
		stacks, err := f.Stacks(ctx, store.Selection{Service: "service-00", Type: store.CPU})
		return stacks.Total, err
	})
	if err != nil {
		return nil, err
	}
	if total != merged {
		return nil, fmt.Errorf("the store has %d nanoseconds, google/pprof %d", total, merged)
	}
	return []Figure{
		{Name: "CPU to merge an hour of 600 CPU profiles with google/pprof", Unit: "ms", Value: theirs},
		{Name: "CPU of the store's flame of that hour", Unit: "ms", Value: ours},
		{Name: "bytes of a row of these profiles as gzipped pprof", Unit: "bytes", Value: float64(size) / float64(rows)},
	}, f.Close()
}

// timed runs a function and returns its CPU time, in milliseconds, and its answer.
func timed(what func() (int64, error)) (millis float64, answer int64, err error) {
	begin, err := cpuTime()
	if err != nil {
		return 0, 0, err
	}
	answer, err = what()
	end, clock := cpuTime()
	return (end - begin).Seconds() * 1000, answer, errors.Join(err, clock)
}

// mergeFiles returns the total of files that are read and merged, twenty at once.
func mergeFiles(paths []string) (int64, error) {
	var sum *profile.Profile
	for len(paths) > 0 {
		some := paths[:min(20, len(paths))]
		paths = paths[len(some):]
		var parsed []*profile.Profile
		if sum != nil {
			parsed = append(parsed, sum)
		}
		for _, path := range some {
			data, err := os.ReadFile(path)
			if err != nil {
				return 0, err
			}
			p, err := profile.ParseData(data)
			if err != nil {
				return 0, err
			}
			parsed = append(parsed, p)
		}
		var err error
		if sum, err = profile.Merge(parsed); err != nil {
			return 0, err
		}
	}
	var total int64
	for _, s := range sum.Sample {
		total += s.Value[0]
	}
	return total, nil
}

// toPprof returns the CPU profile of a batch.
func toPprof(b *store.Batch) *profile.Profile {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10e6,
		TimeNanos: b.From.UnixNano(), DurationNanos: int64(b.Until.Sub(b.From)),
	}
	functions, locations := map[string]*profile.Function{}, map[store.Frame]*profile.Location{}
	for _, of := range b.Profiles {
		if of.Type != store.CPU {
			continue
		}
		for _, s := range of.Samples {
			sample := &profile.Sample{Value: []int64{s.Value}}
			for _, frame := range b.Stacks[s.Stack] {
				if locations[*frame] == nil {
					if functions[frame.Function] == nil {
						made := &profile.Function{ID: uint64(len(p.Function) + 1), Name: frame.Function, SystemName: frame.Function, Filename: frame.File}
						functions[frame.Function], p.Function = made, append(p.Function, made)
					}
					made := &profile.Location{ID: uint64(len(p.Location) + 1), Line: []profile.Line{{Function: functions[frame.Function], Line: int64(frame.Line)}}}
					locations[*frame], p.Location = made, append(p.Location, made)
				}
				sample.Location = append(sample.Location, locations[*frame])
			}
			p.Sample = append(p.Sample, sample)
		}
	}
	return p
}
