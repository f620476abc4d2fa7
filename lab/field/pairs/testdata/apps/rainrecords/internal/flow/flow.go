// Package flow leads the logs through the steps from text to climate table.
package flow

import (
	"strings"
	"sync"

	"rainrecords/internal/climate"
	"rainrecords/internal/quality"
	"rainrecords/internal/station"
)

// Flow is a running import.
type Flow struct {
	Checker *quality.Checker
	Table   *climate.Table
	Lines   int
	Bad     int
}

// New returns a flow with empty tables.
func New() *Flow {
	return &Flow{Checker: quality.New(), Table: climate.New()}
}

// Run takes logs until the channel is closed.
func (f *Flow) Run(logs <-chan string) {
	lines := make(chan string, 16)
	readings := make(chan station.Reading, 16)
	checked := make(chan station.Reading, 16)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(lines)
		for log := range logs {
			for s := range strings.Lines(log) {
				lines <- strings.TrimSuffix(s, "\n")
			}
		}
	})
	wg.Go(func() {
		defer close(readings)
		for s := range lines {
			r, err := station.ParseLine(s)
			if err != nil {
				f.Bad++
				continue
			}
			readings <- r
		}
	})
	wg.Go(func() {
		defer close(checked)
		for r := range readings {
			checked <- f.Checker.Check(r)
		}
	})
	for r := range checked {
		f.Table.Add(r)
		f.Lines++
	}
	wg.Wait()
}

// RunDays takes logs until the channel is closed and moves a day at a time.
func (f *Flow) RunDays(logs <-chan string) {
	readings := make(chan []station.Reading, 4)
	checked := make(chan []station.Reading, 4)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(readings)
		for log := range logs {
			day := make([]station.Reading, 0, 1440)
			for s := range strings.Lines(log) {
				r, err := station.ParseLine(strings.TrimSuffix(s, "\n"))
				if err != nil {
					f.Bad++
					continue
				}
				day = append(day, r)
			}
			readings <- day
		}
	})
	wg.Go(func() {
		defer close(checked)
		for day := range readings {
			for i, r := range day {
				day[i] = f.Checker.Check(r)
			}
			checked <- day
		}
	})
	for day := range checked {
		for _, r := range day {
			f.Table.Add(r)
		}
		f.Lines += len(day)
	}
	wg.Wait()
}
