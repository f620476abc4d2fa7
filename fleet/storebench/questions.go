package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/versions"
)

// asked is how often a question is; the medians count.
const asked = 7

// A question is one with its bar in milliseconds, which is of CPU: what else a machine does
// makes an answer wait.
type question struct {
	name string
	bar  float64
	ask  func() error
}

func askAll(questions []question) ([]Figure, error) {
	var figures []Figure
	for _, q := range questions {
		var wall, used []float64
		for range asked {
			begin := time.Now()
			millis, _, err := timed(func() (int64, error) { return 0, q.ask() })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.name, err)
			}
			wall, used = append(wall, time.Since(begin).Seconds()*1000), append(used, millis)
		}
		slices.Sort(wall)
		slices.Sort(used)
		figures = append(figures,
			Figure{Name: q.name + ", CPU", Unit: "ms", Value: used[asked/2], Bar: q.bar},
			Figure{Name: q.name + ", until the answer", Unit: "ms", Value: wall[asked/2]},
		)
	}
	return figures, nil
}

// measureQuestions asks about a day of ten processes of one service: 12.7 million rows.
func measureQuestions(ctx context.Context, dir string) ([]Figure, error) {
	f, err := fill(ctx, dir, services(1, 10, 24*time.Hour), few)
	if err != nil {
		return nil, err
	}
	_, bytes, err := segments(f.dir)
	if err != nil {
		return nil, err
	}
	day := store.Selection{Service: "service-00", Type: store.CPU, From: start, Until: start.Add(25 * time.Hour)}
	uneven, zone := day, day
	uneven.From, uneven.Until = start.Add(17*time.Minute), start.Add(23*time.Hour+17*time.Minute)
	zone.Labels = []store.Label{{Name: "zone", Value: "zone-1"}}
	flame := func(s store.Selection) func() error {
		return func() error {
			_, err := f.Stacks(ctx, s)
			return err
		}
	}
	compare := func() error {
		changes, err := versions.Changes(ctx, f, day)
		if err != nil {
			return err
		}
		if len(changes) != 1 {
			return errors.New("there are not two versions")
		}
		_, err = versions.Functions(ctx, f, day, &changes[0], 20)
		return err
	}
	figures, err := askAll([]question{
		{"flame of a service and day", 100, flame(day)},
		{"flame of 23 hours from 0:17", 100, flame(uneven)},
		{"flame of the processes with a label", 100, flame(zone)},
		{"two versions compared", 300, compare},
	})
	if err != nil {
		return nil, err
	}
	return append(figures,
		Figure{Name: "rows of these questions", Unit: "rows", Value: float64(f.rows)},
		Figure{Name: "disk of a process and day", Unit: "MB", Value: float64(bytes) / 10 / 1e6, Bar: 8},
	), f.Close()
}

// measureFleet asks which services and instances there are in a day of 200 processes of
// 100 services that send each five minutes: 58,000 batches. Their profiles are small, for
// these questions do not read samples.
func measureFleet(ctx context.Context, dir string) ([]Figure, error) {
	plan := services(100, 2, 24*time.Hour)
	plan.Step = 5 * time.Minute
	for i := range plan.Services {
		for _, usual := range simulate.Usual {
			usual.Count = 5
			plan.Services[i].Stacks = append(plan.Services[i].Stacks, usual)
		}
	}
	f, err := fill(ctx, dir, plan, many)
	if err != nil {
		return nil, err
	}
	files, _, err := segments(f.dir)
	if err != nil {
		return nil, err
	}
	day := store.Selection{From: start, Until: start.Add(25 * time.Hour)}
	figures, err := askAll([]question{
		{"services of a fleet and day", 200, func() error { _, err := f.Services(ctx, day); return err }},
		{"instances of a fleet and day", 200, func() error { _, err := f.Instances(ctx, day); return err }},
	})
	if err != nil {
		return nil, err
	}
	return append(figures,
		Figure{Name: "batches of these questions", Unit: "batches", Value: float64(f.batches)},
		Figure{Name: "files of segments of 100 services and a day", Unit: "files", Value: float64(files)},
	), f.Close()
}
