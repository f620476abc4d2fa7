package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/compare"
	"github.com/gowhy/gowhy/internal/show/intake"
)

// severalRecordings reports whether files are recordings, of a run each. A trace and a
// profile, or a recording and the result of a load test, are of one run.
func severalRecordings(files []string) bool {
	if len(files) < 2 {
		return false
	}
	return !slices.ContainsFunc(files, func(f string) bool { return !intake.IsRecording(f) })
}

// diagnosedTogether judges several recordings of one program as one.
func (c *command) diagnosedTogether(ctx context.Context, files []string, o readOptions, goal diagnosis.Goal) (*diagnosis.Diagnosis, *model.Model, error) {
	var runs []*diagnosis.Diagnosis
	var first *model.Model
	var odd []string
	for i, file := range files {
		if j := slices.IndexFunc(files[:i], func(f string) bool { return sameFile(f, file) }); j >= 0 {
			return nil, nil, usageError("give each recording once", "%q and %q are the same file", files[j], file)
		}
		m, err := c.read(ctx, []string{file}, o)
		if err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = m
		} else if why := compare.BuildDifference(first, m, files[0], file); why != "" {
			return nil, nil, problem.New(problem.Misuse, "gowhy compare "+shell.Words([]string{files[0], file})+"   # says what differs",
				"several recordings are judged as one only when they are of one program: %s", why)
		}
		if x, y := compare.CommandLine(first), compare.CommandLine(m); x != y && x != "" && y != "" && len(odd) == 0 {
			odd = append(odd, fmt.Sprintf("the recordings are not of one command line: %s is of %s, %s of %s", files[0], x, file, y))
		}
		runs = append(runs, diagnosis.Run(m, c.Rules, diagnosis.Options{Goal: goal}))
	}
	d := diagnosis.Join(runs)
	d.Warnings = append(odd, d.Warnings...)
	shown := slices.IndexFunc(d.Runs, func(r diagnosis.RunAnswer) bool { return r.Shown })
	if shown == 0 {
		return d, first, nil
	}
	m, err := c.read(ctx, []string{files[shown]}, o) // again: all of them might not fit into memory
	return d, m, err
}
